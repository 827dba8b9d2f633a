/* SPDX-License-Identifier: MIT */
/* The benchmark's program on libactor.
 *
 *   bench WORKLOAD [key=value ...]   prints "workload unit value value ..." and ends
 *   bench gate                       reads such lines from standard input and runs one after
 * another
 *
 * In between a program behind a gate rests, so that tracers can come and go. It also knows "switch"
 * (see switch.c) and "delivered", which prints how many messages its system has delivered. Keys are
 * those of struct wish; dispatcher=NAME[-BUDGET].
 */
#include "bench.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const struct workload *const workloads[] = {&workload_tell_flood, &workload_cross_flood,
	&workload_volley, &workload_cross_volley, &workload_ask, &workload_ring, &workload_fanout,
	&workload_spawn, &workload_idle, &workload_idle_used, &workload_wake, &workload_paced,
	&workload_classes, &workload_queued, &workload_queued_block};

static const struct {
	const char *key;
	size_t offset;
} keys[] = {
	{"throughput", offsetof(struct wish, throughput)},
	{"total", offsetof(struct wish, total)},
	{"warm_up", offsetof(struct wish, warm_up)},
	{"repetitions", offsetof(struct wish, repetitions)},
	{"repetition_ms", offsetof(struct wish, repetition_ms)},
	{"handler_ns", offsetof(struct wish, handler_ns)},
	{"rate", offsetof(struct wish, rate)},
	{"timer", offsetof(struct wish, timer)},
};

static struct actor_system *bed;
static uv_loop_t loop;
static uv_async_t gate;	  /* keeps the loop alive while the gate is open */
static bool gated, owned; /* the loops have threads of their own */

static _Noreturn void refuse(const char *what)
{
	fprintf(stderr, "bench: cannot use '%s'\n", what);
	_exit(2);
}

static const struct workload *workload_find(const char *name)
{
	for (size_t i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++)
		if (strcmp(workloads[i]->name, name) == 0)
			return workloads[i];
	refuse(name);
}

static void wish_set(struct wish *wish, char *word)
{
	char *value = strchr(word, '=');

	if (!value)
		refuse(word);
	*value++ = '\0';
	if (strcmp(word, "dispatcher") == 0) {
		wish->dispatcher = value;
		return;
	}
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(keys[i].key, word) == 0) {
			*(uint64_t *)((char *)wish + keys[i].offset) = strtoull(value, NULL, 10);
			return;
		}
	refuse(word);
}

/* From words, the first of which names the workload. */
static struct wish wish_read(char **words)
{
	struct wish wish = {.workload = workload_find(*words), .repetitions = 5};
	uint64_t batch = wish.workload->batch;

	wish.total = wish.workload->total;
	while (*++words)
		wish_set(&wish, *words);
	if (wish.repetitions > REPETITIONS_MAX || wish.total == 0)
		refuse("repetitions or total");
	if (wish.total > batch)
		wish.total -= wish.total % batch;
	return wish;
}

static void spec_choose(struct actor_dispatcher_spec *spec, const char *text)
{
	const char *dash = strchr(text, '-');
	int64_t budget = dash ? atoll(dash + 1) : 0;

	if (strncmp(text, "hybrid", 6) == 0)
		actor_dispatcher_hybrid(spec, budget ? budget : ACTOR_HYBRID_BUDGET, text);
	else if (strncmp(text, "throughput", 10) == 0)
		actor_dispatcher_throughput(spec, budget ? budget : ACTOR_THROUGHPUT, text);
	else if (strcmp(text, "microtask") == 0)
		actor_dispatcher_microtask(spec, NULL);
	else if (strcmp(text, "immediate") == 0)
		actor_dispatcher_immediate(spec, NULL);
	else
		refuse(text);
}

static void driver_spawn(const struct wish *wish)
{
	static struct driver init;
	struct actor_spawn_options options = {.size = sizeof(options), .loop = 1};
	actor_ref ref;

	memset(&init, 0, sizeof(init));
	init.wish = *wish;
	init.spawn.size = sizeof(init.spawn);
	init.spawn.throughput = options.throughput = (int64_t)wish->throughput;
	options.init = &init;
	if (wish->dispatcher) {
		spec_choose(&init.spec, wish->dispatcher);
		options.dispatcher = &init.spec;
	}
	if (actor_system_spawn(bed, &driver_class, &options, &ref) ||
		actor_system_tell(bed, ref, &bench_go, NULL, 0))
		refuse(wish->workload->name);
}

void bench_finished(void)
{
	if (gated)
		return;
	if (owned)
		_exit(0);
	actor_system_close(bed, NULL, NULL);
}

static uint64_t delivered(void)
{
	struct actor_stats stats = {.size = sizeof(stats)};

	actor_system_stats(bed, &stats);
	return stats.delivered;
}

static void obey(char *line)
{
	char *words[16] = {NULL}, *rest = NULL;
	int n = 0;

	for (char *w = strtok_r(line, " \n", &rest); w && n < 15; w = strtok_r(NULL, " \n", &rest))
		words[n++] = w;
	if (n == 2 && strcmp(words[0], "switch") == 0) {
		printf("switch ns %.3f\n", switch_measure(strtoull(words[1], NULL, 10)));
	} else if (n == 1 && strcmp(words[0], "delivered") == 0) {
		printf("delivered messages %llu\n", (unsigned long long)delivered());
	} else if (n) {
		struct wish wish = wish_read(words);

		driver_spawn(&wish);
		return; /* the driver answers */
	}
	fflush(stdout);
}

static void *gate_keep(void *unused)
{
	static char line[256]; /* one wish at a time; `dispatcher` points into it */

	(void)unused;
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		obey(line);
	_exit(0);
}

static void on_gate(uv_async_t *handle)
{
	(void)handle;
}

int main(int argc, char **argv)
{
	struct actor_system_options options = {.size = sizeof(options), .name = "bench"};
	struct wish wish = {0};
	pthread_t thread;

	if (argc < 2)
		refuse("no workload");
	gated = strcmp(argv[1], "gate") == 0;
	uv_loop_init(&loop);
	options.loop = &loop;
	if (!gated) {
		wish = wish_read(argv + 1);
		if (wish.workload->loops > 1) {
			owned = true;
			options.loop = NULL;
			options.loops = wish.workload->loops;
		}
	}
	if (actor_system_open(&bed, &options))
		refuse("system");
	if (!gated) {
		driver_spawn(&wish);
	} else if (uv_async_init(&loop, &gate, on_gate) ||
		   pthread_create(&thread, NULL, gate_keep, NULL)) {
		refuse("gate");
	}
	while (owned)
		pause(); /* see bench_finished() */
	uv_run(&loop, UV_RUN_DEFAULT);
	return 0;
}
