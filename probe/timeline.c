/* SPDX-License-Identifier: MIT */
/* Places turns and messages on a line of time and writes them as trace events. */
#define _GNU_SOURCE
#include "probe/timeline.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define RECORDS LEDGER_RECORDS_MAX

struct place {
	uint64_t start; /* ns of CLOCK_MONOTONIC */
	uint64_t length;
};

struct timeline {
	FILE *out;
	const struct recording_head *head;
	uint64_t events;
	uint64_t flows;
	bool loops[ACTOR_ABI_LOOPS]; /* those that have a name in the file */
	struct place places[RECORDS];
};

struct timeline *timeline_begin(FILE *out, const struct recording_head *head)
{
	struct timeline *t = calloc(1, sizeof(*t));

	if (t) {
		t->out = out;
		t->head = head;
		fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", out);
	}
	return t;
}

static void event_begin(struct timeline *t)
{
	fputs(t->events++ ? ",\n" : "\n", t->out);
}

static void string_put(struct timeline *t, const char *text)
{
	json_t *string = json_string(text);

	if (!string || json_dumpf(string, t->out, JSON_ENCODE_ANY) < 0)
		fputs("\"?\"", t->out);
	json_decref(string);
}

static void label_put(struct timeline *t, const struct directory_table *table, uint32_t id)
{
	char *label = directory_label(table, id);

	string_put(t, label ? label : "?");
	free(label);
}

/* Microseconds with three decimals. */
static void time_put(struct timeline *t, const char *key, uint64_t ns)
{
	fprintf(t->out, ",\"%s\":%" PRIu64 ".%03u", key, ns / 1000, (unsigned int)(ns % 1000));
}

/* The line of time begins with the attach. */
static uint64_t since(const struct timeline *t, uint64_t ns)
{
	return ns > t->head->attached_ns ? ns - t->head->attached_ns : 0;
}

static void loop_name(struct timeline *t, const struct replay_names *names, uint32_t loop)
{
	char text[ACTOR_ABI_NAME_BYTES + 32];

	if (t->loops[loop])
		return;
	t->loops[loop] = true;
	snprintf(text, sizeof(text), "loop %u %s", loop, names->systems[loop]);
	event_begin(t);
	fprintf(t->out,
		"{\"ph\":\"M\",\"pid\":1,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":",
		loop);
	string_put(t, text);
	fputs("}}", t->out);
}

static void slice_begin(struct timeline *t, uint32_t loop, const struct place *p,
	const char *category, const struct directory_table *table, uint32_t id)
{
	event_begin(t);
	fprintf(t->out, "{\"ph\":\"X\",\"pid\":1,\"tid\":%u,\"cat\":\"%s\",\"name\":", loop,
		category);
	label_put(t, table, id);
	time_put(t, "ts", since(t, p->start));
	time_put(t, "dur", p->length);
	fputs(",\"args\":{", t->out);
}

static void actor_put(struct timeline *t, const struct replay_names *names, uint64_t actor)
{
	char *label = pathbook_label(&names->paths, actor);

	fputs("\"actor\":", t->out);
	string_put(t, label ? label : "?");
	free(label);
}

/* From the sender's loop, when it was told, to the handler. */
static void flow_put(struct timeline *t, uint32_t from, uint32_t to, uint64_t told, uint64_t start)
{
	const uint64_t id = t->flows++;

	event_begin(t);
	fprintf(t->out,
		"{\"ph\":\"s\",\"pid\":1,\"tid\":%u,\"cat\":\"message\",\"name\":\"message\","
		"\"id\":%" PRIu64,
		from, id);
	time_put(t, "ts", since(t, told));
	fputs("},\n", t->out);
	fprintf(t->out,
		"{\"ph\":\"f\",\"bp\":\"e\",\"pid\":1,\"tid\":%u,\"cat\":\"message\",\"name\":"
		"\"message\",\"id\":%" PRIu64,
		to, id);
	time_put(t, "ts", since(t, start));
	fputs("}", t->out);
	t->events++;
}

static void message_put(struct timeline *t, const struct replay_names *names,
	const struct calibration *c, const struct ring_batch *b, uint32_t i)
{
	const struct actor_abi_record *r = &b->record[i];
	const struct place *p = &t->places[i];
	uint32_t sender = (uint32_t)r->who;
	uint64_t wait = calibration_ns(c, actor_abi_low48(r->first));

	slice_begin(
		t, b->loop, p, "message", &names->directory.types, actor_abi_meta_type(r->meta));
	actor_put(t, names, r->who >> 32 << 32 | actor_abi_high16(r->second));
	fprintf(t->out, ",\"wait_us\":%.3f,\"depth\":%u}}", (double)wait / 1e3,
		actor_abi_high16(r->first));
	if (sender && wait < p->start)
		flow_put(t, sender >> 24, b->loop, p->start - wait, p->start);
}

static void turn_put(struct timeline *t, const struct replay_names *names,
	const struct calibration *c, const struct ring_batch *b, uint32_t i)
{
	static const char *const outcomes[] = {[ACTOR_ABI_EMPTY] = "empty",
		[ACTOR_ABI_BUDGET] = "budget",
		[ACTOR_ABI_STOP] = "stop",
		[ACTOR_ABI_SUSPEND] = "suspend",
		[ACTOR_ABI_THROTTLE] = "throttle",
		[ACTOR_ABI_FAILURE] = "failure",
		[ACTOR_ABI_PENDING] = "pending",
		[ACTOR_ABI_MORE] = "more"};
	const struct actor_abi_record *r = &b->record[i];
	uint32_t outcome = actor_abi_high16(r->second);

	slice_begin(t, b->loop, &t->places[i], "turn", &names->directory.classes,
		actor_abi_meta_class(r->meta));
	actor_put(t, names, r->who >> 32 << 32 | (r->who & 0xffff));
	fputs(",\"dispatcher\":", t->out);
	label_put(t, &names->directory.dispatchers, actor_abi_meta_dispatcher(r->meta));
	fprintf(t->out, ",\"messages\":%u,\"outcome\":\"%s\"", actor_abi_high16(r->first),
		outcome < sizeof(outcomes) / sizeof(outcomes[0]) ? outcomes[outcome] : "?");
	if (!(actor_abi_meta_flags(r->meta) & ACTOR_ABI_NO_DELAY))
		fprintf(t->out, ",\"delay_us\":%.3f",
			(double)calibration_ns(c, actor_abi_low48(r->first)) / 1e3);
	fputs("}}", t->out);
}

static uint64_t back(uint64_t from, uint64_t by)
{
	return from > by ? from - by : 0;
}

static uint32_t kind_of(const struct ring_batch *b, uint32_t i)
{
	return actor_abi_meta_kind(b->record[i].meta);
}

/* A turn's messages stand before it, perhaps with what else happened among them. */
static void messages_place(
	struct timeline *t, const struct calibration *c, const struct ring_batch *b, uint32_t turn)
{
	uint32_t left = actor_abi_high16(b->record[turn].first), m = turn;
	uint64_t next = t->places[turn].start;

	while (m > 0 && left && kind_of(b, m - 1) != ACTOR_ABI_TURN &&
		kind_of(b, m - 1) != ACTOR_ABI_LOOP)
		left -= kind_of(b, --m) == ACTOR_ABI_MESSAGE;
	for (; m < turn; m++) {
		if (kind_of(b, m) != ACTOR_ABI_MESSAGE)
			continue;
		t->places[m].start = next;
		t->places[m].length = calibration_ns(c, actor_abi_low48(b->record[m].second));
		next += t->places[m].length;
	}
}

/* From the hand-over back to its first record. */
static void places_find(struct timeline *t, const struct calibration *c, const struct ring_batch *b)
{
	uint64_t at = b->head.monotonic_ns, pass = 0;

	for (uint32_t i = b->records; i-- > 0;) {
		uint64_t first = calibration_ns(c, actor_abi_low48(b->record[i].first));
		uint64_t second = calibration_ns(c, actor_abi_low48(b->record[i].second));

		if (kind_of(b, i) == ACTOR_ABI_LOOP) {
			/* The pass before this one ended when the poll before it began. */
			if (pass && pass < at)
				at = pass;
			pass = back(back(at, first), second);
		} else if (kind_of(b, i) == ACTOR_ABI_TURN) {
			at = back(at, second);
			t->places[i] = (struct place){at, second};
			messages_place(t, c, b, i);
		}
	}
}

void timeline_batch(void *data, const struct replay_names *names, const struct calibration *c,
	const struct ring_batch *b)
{
	struct timeline *t = data;

	if (b->records > RECORDS)
		return;
	memset(t->places, 0, b->records * sizeof(t->places[0]));
	places_find(t, c, b);
	loop_name(t, names, b->loop);
	for (uint32_t i = 0; i < b->records; i++) {
		uint32_t kind = kind_of(b, i);

		if (!t->places[i].start)
			continue;
		if (kind == ACTOR_ABI_TURN)
			turn_put(t, names, c, b, i);
		else if (kind == ACTOR_ABI_MESSAGE)
			message_put(t, names, c, b, i);
	}
}

int timeline_end(struct timeline *t)
{
	int rc;

	event_begin(t);
	fputs("{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":", t->out);
	string_put(t, t->head->command);
	fprintf(t->out, "}}\n],\"otherData\":{\"pid\":%d,\"began\":%" PRIu64 "}}\n", t->head->pid,
		t->head->realtime_ns / 1000000000u);
	rc = fflush(t->out) || ferror(t->out) ? -EIO : 0;
	free(t);
	return rc;
}
