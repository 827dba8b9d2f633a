/* SPDX-License-Identifier: MIT */
/* Reads what `actorprobe hist -j` prints and says in one sentence who waits, why, and what follows.
 *
 * The class whose mailbox wait has the highest p99 is looked at; the first row that fits speaks:
 *
 *   its wait below 1 ms                            nobody waits
 *   a class busy for 3/4 of a loop, or its own     the code is the cost; no dispatcher setting
 *     handler p99 from 1 ms on                       makes it faster
 *   queue delay p99 from half of the wait on       turns compete: who holds the loop?
 *   messages ahead x mean handler time is most     it waits for its own work
 *     of the wait
 *   else                                           its own backlog: raise its throughput
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SERIES_MOST  1000
#define COUNT_LEAST  10 /* messages; fewer say nothing */
#define WAIT_HIGH    1e-3
#define HANDLER_HIGH 1e-3
#define SHARE_HIGH   0.75 /* of the time, or of the wait */
#define LINE_BYTES   64

struct series {
	char metric[LINE_BYTES];
	char dispatcher[LINE_BYTES];
	char class_name[LINE_BYTES];
	double count;
	double sum;
	double p99;
};

static struct series series[SERIES_MOST];
static size_t series_count;
static double elapsed_seconds;

/* ---- reading ---- */

static void text_copy(char *to, json_t *from)
{
	snprintf(to, LINE_BYTES, "%s", json_is_string(from) ? json_string_value(from) : "");
}

static void object_read(json_t *object)
{
	struct series *s = &series[series_count];
	json_t *labels = json_object_get(object, "labels");
	json_t *elapsed = json_object_get(object, "elapsed_seconds");

	if (json_is_number(elapsed))
		elapsed_seconds = json_number_value(elapsed);
	if (!labels || series_count == SERIES_MOST)
		return;
	text_copy(s->metric, json_object_get(object, "metric"));
	text_copy(s->dispatcher, json_object_get(labels, "dispatcher"));
	text_copy(s->class_name, json_object_get(labels, "class"));
	s->count = json_number_value(json_object_get(object, "count"));
	s->sum = json_number_value(json_object_get(object, "sum_seconds"));
	s->p99 = json_number_value(json_object_get(object, "p99"));
	series_count++;
}

/* True at the end; else the next object is next. */
static bool end_reached(FILE *file)
{
	int byte = getc(file);

	while (byte == ' ' || byte == '\n')
		byte = getc(file);
	ungetc(byte, file);
	return byte == EOF;
}

static int all_read(FILE *file)
{
	while (!end_reached(file)) {
		json_error_t error;
		json_t *object = json_loadf(file, JSON_DISABLE_EOF_CHECK, &error);

		if (!object)
			return -1;
		object_read(object);
		json_decref(object);
	}
	return 0;
}

/* ---- finding ---- */

static const struct series none;

/* The p99 and sum of a metric for the dispatcher and class (NULL: any) of `like`. */
static const struct series *of(const char *metric, const struct series *like)
{
	for (size_t i = 0; i < series_count; i++)
		if (strcmp(series[i].metric, metric) == 0 &&
			strcmp(series[i].dispatcher, like->dispatcher) == 0 &&
			(!series[i].class_name[0] ||
				strcmp(series[i].class_name, like->class_name) == 0))
			return &series[i];
	return &none;
}

static const struct series *longest_wait(void)
{
	const struct series *found = &none;

	for (size_t i = 0; i < series_count; i++)
		if (strcmp(series[i].metric, "actor_mailbox_wait_seconds") == 0 &&
			series[i].count >= COUNT_LEAST && series[i].p99 > found->p99)
			found = &series[i];
	return found;
}

/* The class whose turns took most time; on one dispatcher, or on all (""). */
static const struct series *busiest(const char *dispatcher)
{
	const struct series *found = &none;

	for (size_t i = 0; i < series_count; i++)
		if (strcmp(series[i].metric, "actor_turn_seconds") == 0 &&
			(!*dispatcher || strcmp(series[i].dispatcher, dispatcher) == 0) &&
			series[i].sum > found->sum)
			found = &series[i];
	return found;
}

/* ---- saying ---- */

static const char *spell(double seconds)
{
	static char texts[8][32];
	static size_t next;
	char *text = texts[next++ % 8];

	if (seconds < 1e-3)
		snprintf(text, sizeof(texts[0]), "%.3g us", seconds * 1e6);
	else if (seconds < 1)
		snprintf(text, sizeof(texts[0]), "%.3g ms", seconds * 1e3);
	else
		snprintf(text, sizeof(texts[0]), "%.3g s", seconds);
	return text;
}

static double percent(const struct series *turns)
{
	return elapsed_seconds > 0 ? 100 * turns->sum / elapsed_seconds : 0;
}

static void say_compete(const struct series *wait, double delay)
{
	const struct series *holder = busiest(wait->dispatcher);
	double messages;

	if (holder->p99 < delay / 10)
		holder = busiest("");
	messages = of("actor_turn_messages", holder)->p99;
	printf("Turns compete: '%s' waits %s (p99) although its handler takes %s, for dispatcher "
	       "'%s' starts its turns up to %s late, and '%s' holds the loop for %.0f %% of the "
	       "time in turns of %s and %.0f messages (all p99): ",
		wait->class_name, spell(wait->p99),
		spell(of("actor_message_handler_seconds", wait)->p99), wait->dispatcher,
		spell(delay), holder->class_name, percent(holder), spell(holder->p99), messages);
	if (messages >= 2)
		printf("lower the throughput of '%s' or move it to another loop.\n",
			holder->class_name);
	else
		printf("shorten the handler of '%s' or move it to another loop.\n",
			holder->class_name);
}

/* The turns start in time, and still the mail waits: what would be left if it never had to? */
static void say_backlog(const struct series *wait, double delay)
{
	const struct series *handler = of("actor_message_handler_seconds", wait);
	double depth = of("actor_mailbox_depth", wait)->p99;
	double mean = handler->count ? handler->sum / handler->count : 0;

	if (depth * mean >= SHARE_HIGH * wait->p99)
		printf("'%s' waits for its own work: %.0f messages ahead (p99) with a handler of "
		       "%s (mean) make up most of the %s that its mail waits (p99); no "
		       "dispatcher setting makes it faster: tell it less at a time, or spread it "
		       "over more actors and loops.\n",
			wait->class_name, depth, spell(mean), spell(wait->p99));
	else
		printf("'%s' is behind with its own mail: it waits %s behind %.0f messages, "
		       "although its handler takes %s and dispatcher '%s' starts its turns "
		       "within %s (all p99): raise the throughput of '%s', so that each turn "
		       "handles more than %.0f; its handlers alone would need %s.\n",
			wait->class_name, spell(wait->p99), depth, spell(handler->p99),
			wait->dispatcher, spell(delay), wait->class_name,
			of("actor_turn_messages", wait)->p99, spell(depth * mean));
}

/* Somebody waits. */
static void say_why(const struct series *wait)
{
	const struct series *holder = busiest("");
	double handler = of("actor_message_handler_seconds", wait)->p99;
	double delay = of("actor_dispatcher_queue_delay_seconds", wait)->p99;

	if (percent(holder) >= 100 * SHARE_HIGH)
		printf("The code is the cost: '%s' keeps a loop busy for %.0f %% of the time with "
		       "%s per message (p99), so '%s' waits %s; no dispatcher setting makes it "
		       "faster: make its handler cheaper or spread it over loops.\n",
			holder->class_name, percent(holder),
			spell(of("actor_message_handler_seconds", holder)->p99), wait->class_name,
			spell(wait->p99));
	else if (handler >= HANDLER_HIGH)
		printf("The code is the cost: the handler of '%s' takes %s (p99), and so its "
		       "mail waits %s; no dispatcher setting makes it faster.\n",
			wait->class_name, spell(handler), spell(wait->p99));
	else if (delay >= wait->p99 / 2)
		say_compete(wait, delay);
	else
		say_backlog(wait, delay);
}

static void say(void)
{
	const struct series *wait = longest_wait();

	if (!wait->count)
		printf("Fewer than %d messages of each class were handled: there is nothing to "
		       "say yet.\n",
			COUNT_LEAST);
	else if (wait->p99 < WAIT_HIGH)
		printf("Nobody waits: the longest mailbox wait, that of '%s', is %s (p99).\n",
			wait->class_name, spell(wait->p99));
	else
		say_why(wait);
}

int main(void)
{
	if (all_read(stdin) || elapsed_seconds <= 0) {
		fprintf(stderr, "sentence: this is not what `actorprobe hist -j` prints\n");
		return 1;
	}
	say();
	return ferror(stdout) || fflush(stdout) ? EXIT_FAILURE : 0;
}
