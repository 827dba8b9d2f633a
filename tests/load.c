/* SPDX-License-Identifier: MIT */
/* A program on libactor that tests attach to: its arguments choose its work, lines its moments.
 *
 * It knows the public header only and nothing of being observed. What it counts and measures itself
 * goes to memory shared with the test, see load.h.
 *
 *   dispatcher=hybrid|microtask|immediate|throughput|custom   custom wraps a hybrid and measures
 *   dispatcher=tracing|metering|fastlane   those of the examples, on a hybrid
 *   loops=N       1 (default): the caller's own loop; more: loops with threads
 *   messages=N    0: until told to stop
 *   spin=NS       in each handler
 *   turn=N        messages per turn at most; 0: as the runtime has it (default)
 *   rest=US       a loop sleeps so long after each 16 messages of a ring
 *   work=ring     tokens go round between actors, over all loops (default)
 *   work=backlog  all messages are told to one actor before its loop runs
 *   work=blocked  rounds of one message that holds the loop for `spin` in front of ten others
 *   work=inside   the first message says "inside", waits for another "go" and tells the others
 *
 * It says "ready", waits for "go", says "done" and its totals once nothing runs any more, and ends
 * with "end" or when its input ends. Meanwhile it obeys "stop" (a ring ends early), "exec" (once it
 * is done, it executes itself anew, and is "ready" again) and "fork" (a child that tries to tell,
 * and stays).
 */
#define _GNU_SOURCE
#include "tests/load.h"

#include "runtime/actor.h"
#include "runtime/examples/fastlane.h"
#include "runtime/examples/metering.h"
#include "runtime/examples/tracing.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define ACTORS LOAD_ACTORS
#define TOKENS 7

struct token {
	uint64_t hops; /* left */
	uint64_t told_ns;
};

static struct {
	const char *dispatcher, *work;
	int loops;
	uint64_t messages, spin_ns;
	int64_t turn;
	useconds_t rest_us;
	char **arguments;
} wish = {"hybrid", "ring", 1, 1009, 0, 0, 0, NULL};

static struct load_counts *counts;
static struct actor_system *system_;
static struct actor_type token_type = ACTOR_TYPE("token");
static actor_ref actors[ACTORS];
static uv_loop_t loop;
static sem_t go, end, finished;
static _Atomic bool stopping, again;
static _Atomic uint64_t tokens_left;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void sample(struct load_samples *s, uint64_t ns)
{
	if (wish.loops > 1)
		return;
	if (s->count < LOAD_SAMPLES)
		s->ns[s->count++] = ns;
	s->sum_ns += ns;
}

/* ---- a dispatcher of the program's own: delegates to a hybrid one and measures the delay ---- */

struct meter {
	struct actor_dispatcher *to;
};

static int metered(struct actor_unit *unit)
{
	uint64_t now = now_ns();

	sample(&counts->delay, now - (uint64_t)(uintptr_t)actor_unit_unwrap(unit));
	return actor_unit_inner(unit);
}

static void meter_execute(void *self, struct actor_unit *unit)
{
	if (actor_unit_wrap(unit, metered, (void *)(uintptr_t)now_ns()) < 0)
		abort();
	actor_dispatcher_execute(((struct meter *)self)->to, unit);
}

static int meter_open(void **self, struct actor_dispatcher *dispatcher, void *data)
{
	struct meter *meter = calloc(1, sizeof(*meter));
	struct actor_dispatcher_spec inner;
	int rc = ACTOR_ETHREAD;

	(void)dispatcher;
	(void)data;
	actor_dispatcher_hybrid(&inner, ACTOR_HYBRID_BUDGET, "inner");
	for (int i = 1; rc == ACTOR_ETHREAD && i <= actor_system_loops(system_); i++)
		rc = actor_system_dispatcher(system_, i, &inner, &meter->to);
	*self = meter;
	return rc;
}

static const struct actor_dispatcher_ops meter_ops = {
	.size = sizeof(meter_ops),
	.open = meter_open,
	.execute = meter_execute,
	.close = free,
};

/* ---- actors ---- */

static void say(const char *text)
{
	puts(text);
	fflush(stdout);
}

static void go_wait(void)
{
	while (sem_wait(&go) != 0)
		;
}

static void finish_now(void)
{
	if (wish.loops > 1)
		sem_post(&finished); /* a loop of our own just has nothing to do any more */
}

static void spin_until(uint64_t ns)
{
	while (now_ns() < ns)
		;
}

static int loop_of(actor_ref ref)
{
	return (int)(ref >> 56) % LOAD_LOOPS;
}

static int place_of(actor_ref ref)
{
	int i = 0;

	while (actors[i] != ref)
		i++;
	return i;
}

static void count(actor_ref self)
{
	_Atomic uint64_t *handled = &counts->handled[loop_of(self)];
	uint64_t now = atomic_load_explicit(handled, memory_order_relaxed) + 1;

	atomic_store_explicit(handled, now, memory_order_relaxed);
	if (wish.rest_us && now % 16 == 0)
		usleep(wish.rest_us);
}

static void tell(struct actor_ctx *ctx, actor_ref to, uint64_t hops)
{
	struct token token = {hops, now_ns()};

	atomic_fetch_add_explicit(&counts->told, 1, memory_order_relaxed);
	if (ctx ? actor_tell(ctx, to, &token_type, &token, sizeof(token))
		: actor_system_tell(system_, to, &token_type, &token, sizeof(token)))
		abort();
}

static void token_gone(void)
{
	if (atomic_fetch_sub(&tokens_left, 1) == 1)
		finish_now();
}

/* Goes on to one of the next three actors, most of which live on another loop. */
static int on_ring(struct actor_ctx *ctx, const struct actor_message *message)
{
	uint64_t began = now_ns();
	const struct token *token = message->payload;
	actor_ref self = actor_self(ctx);

	sample(&counts->wait, began - token->told_ns);
	count(self);
	spin_until(began + wish.spin_ns);
	if (token->hops == 1 || atomic_load_explicit(&stopping, memory_order_relaxed))
		token_gone();
	else
		tell(ctx, actors[(place_of(self) + 1 + (int)(token->hops % 3)) % ACTORS],
			token->hops - 1);
	sample(&counts->handler, now_ns() - began);
	return 0;
}

static int on_backlog(struct actor_ctx *ctx, const struct actor_message *message)
{
	static uint64_t ended;
	uint64_t began = now_ns();
	const struct token *token = message->payload;

	sample(&counts->wait, began - token->told_ns);
	sample(&counts->between, ended ? began - ended : 0);
	count(actor_self(ctx));
	spin_until(began + wish.spin_ns);
	if (token->hops == 1)
		finish_now();
	ended = now_ns();
	sample(&counts->handler, ended - began);
	return 0;
}

/* Actor 0 drives, 1 holds the loop, the others are the victims. */
static int on_blocked(struct actor_ctx *ctx, const struct actor_message *message)
{
	uint64_t began = now_ns();
	const struct token *token = message->payload;
	int place = place_of(actor_self(ctx));

	sample(&counts->wait, began - token->told_ns);
	/* A victim is told one message at a time, so that its turn waits as long as its message. */
	if (strcmp(wish.dispatcher, "custom") != 0)
		sample(&counts->delay, began - token->told_ns);
	count(actor_self(ctx));
	if (place == 1)
		spin_until(began + wish.spin_ns);
	if (place == 0 && token->hops == 0)
		finish_now();
	else if (place == 0)
		for (int i = 1; i < ACTORS; i++)
			tell(ctx, actors[i], token->hops);
	else if (place == ACTORS - 1)
		tell(ctx, actors[0], token->hops - 1);
	sample(&counts->handler, now_ns() - began);
	return 0;
}

static int on_inside(struct actor_ctx *ctx, const struct actor_message *message)
{
	const struct token *token = message->payload;

	count(actor_self(ctx));
	if (token->hops != wish.messages) {
		spin_until(now_ns() + wish.spin_ns);
		return 0;
	}
	say("inside");
	go_wait();
	for (uint64_t i = 1; i < wish.messages; i++)
		tell(ctx, actor_self(ctx), i);
	return 0;
}

static struct actor_class ring_class = {sizeof(ring_class), "ring", .on_message = on_ring};
static struct actor_class relay_class = {sizeof(ring_class), "relay", .on_message = on_ring};
static struct actor_class backlog_class = {sizeof(ring_class), "backlog", .on_message = on_backlog};
static struct actor_class blocked_class = {sizeof(ring_class), "blocked", .on_message = on_blocked};

static struct actor_class inside_class = {sizeof(ring_class), "inside", .on_message = on_inside};

static struct actor_class *class_at(int place)
{
	if (strcmp(wish.work, "backlog") == 0)
		return &backlog_class;
	if (strcmp(wish.work, "blocked") == 0)
		return &blocked_class;
	if (strcmp(wish.work, "inside") == 0)
		return &inside_class;
	return place % 2 ? &relay_class : &ring_class;
}

/* ---- the program ---- */

static void fork_child(void)
{
	struct token token = {1, 0};

	if (fork() != 0)
		return;
	printf("forked %d %d\n", getpid(),
		actor_system_tell(system_, actors[0], &token_type, &token, sizeof(token)));
	fflush(stdout);
	pause();
}

static void *obey(void *unused)
{
	char line[64] = "";

	(void)unused;
	while (fgets(line, sizeof(line), stdin)) {
		if (strcmp(line, "go\n") == 0)
			sem_post(&go);
		else if (strcmp(line, "stop\n") == 0)
			atomic_store(&stopping, true);
		else if (strcmp(line, "fork\n") == 0)
			fork_child();
		else
			break;
	}
	if (strcmp(line, "exec\n") == 0)
		atomic_store(&again, true);
	sem_post(&end);
	return NULL;
}

static void read_arguments(char **arguments)
{
	wish.arguments = arguments;
	while (*++arguments) {
		char *value = strchr(*arguments, '=');

		if (!value)
			abort();
		*value++ = '\0';
		if (strcmp(*arguments, "dispatcher") == 0)
			wish.dispatcher = value;
		else if (strcmp(*arguments, "work") == 0)
			wish.work = value;
		else if (strcmp(*arguments, "loops") == 0)
			wish.loops = atoi(value);
		else if (strcmp(*arguments, "messages") == 0)
			wish.messages = strtoull(value, NULL, 10);
		else if (strcmp(*arguments, "spin") == 0)
			wish.spin_ns = strtoull(value, NULL, 10);
		else if (strcmp(*arguments, "turn") == 0)
			wish.turn = atoi(value);
		else if (strcmp(*arguments, "rest") == 0)
			wish.rest_us = (useconds_t)atoi(value);
		else
			abort();
		value[-1] = '='; /* for exec */
	}
}

static bool choose_example(struct actor_dispatcher_spec *spec)
{
	static struct actor_dispatcher_spec inner, slow;
	static struct tracing tracing = {.inner = &inner};
	static struct metering metering = {.inner = &inner};
	static struct fastlane lane = {.inner = &inner};

	actor_dispatcher_hybrid(&inner, ACTOR_HYBRID_BUDGET, "inner");
	if (strcmp(wish.dispatcher, "tracing") == 0)
		tracing_dispatcher(spec, &tracing, "tracing");
	else if (strcmp(wish.dispatcher, "metering") == 0)
		metering_dispatcher(spec, &metering, "metering");
	else if (strcmp(wish.dispatcher, "fastlane") == 0)
		fastlane_dispatchers(&lane, spec, "fastlane", &slow, "slow");
	else
		return false;
	return true;
}

static void choose(struct actor_dispatcher_spec *spec)
{
	if (choose_example(spec))
		return;
	if (strcmp(wish.dispatcher, "custom") == 0)
		actor_dispatcher_custom(spec, &meter_ops, NULL, "metered");
	else if (strcmp(wish.dispatcher, "microtask") == 0)
		actor_dispatcher_microtask(spec, NULL);
	else if (strcmp(wish.dispatcher, "immediate") == 0)
		actor_dispatcher_immediate(spec, NULL);
	else if (strcmp(wish.dispatcher, "throughput") == 0)
		actor_dispatcher_throughput(spec, ACTOR_THROUGHPUT, NULL);
	else
		actor_dispatcher_hybrid(spec, ACTOR_HYBRID_BUDGET, NULL);
}

static void share_counts(void)
{
	/* Its pages now: a fault while a sample is kept would lie behind the program's last read of
	 * the clock and before the runtime's. */
	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
		LOAD_COUNTS_FD, 0);
	if (counts == MAP_FAILED)
		counts = calloc(1, sizeof(*counts));
}

static void set_up(void)
{
	struct actor_system_options options = {.size = sizeof(options), .name = "load"};
	struct actor_dispatcher_spec spec;

	if (wish.loops > 1) {
		options.loops = wish.loops;
	} else {
		uv_loop_init(&loop);
		options.loop = &loop;
	}
	if (actor_system_open(&system_, &options) < 0)
		abort();
	choose(&spec);
	for (int i = 0; i < ACTORS; i++) {
		struct actor_spawn_options spawn = {
			.size = sizeof(spawn),
			.dispatcher = &spec,
			.loop = i % wish.loops + 1,
			.throughput = wish.turn,
		};

		if (actor_system_spawn(system_, class_at(i), &spawn, &actors[i]) < 0)
			abort();
	}
}

static void begin(void)
{
	uint64_t each = wish.messages ? wish.messages / TOKENS : UINT64_MAX;

	if (strcmp(wish.work, "backlog") == 0) {
		for (uint64_t i = wish.messages; i > 0; i--)
			tell(NULL, actors[0], i);
	} else if (strcmp(wish.work, "blocked") == 0 || strcmp(wish.work, "inside") == 0) {
		tell(NULL, actors[0], wish.messages);
	} else {
		atomic_store(&tokens_left, TOKENS);
		for (uint64_t i = 0; i < TOKENS; i++)
			tell(NULL, actors[i],
				i || !wish.messages ? each : each + wish.messages % TOKENS);
	}
}

/* When it returns no handler runs any more, and no turn is open. */
static void run(void)
{
	struct actor_stats stats = {.size = sizeof(stats)};

	if (wish.loops > 1) {
		while (sem_wait(&finished) != 0)
			;
		actor_system_stats(system_, &stats);
		actor_system_close_wait(system_);
	} else {
		uv_run(&loop, UV_RUN_DEFAULT);
		actor_system_stats(system_, &stats);
	}
	atomic_store(&counts->turns, stats.turns);
}

int main(int argc, char **argv)
{
	uint64_t handled = 0;
	pthread_t thread;

	(void)argc;
	read_arguments(argv);
	share_counts();
	sem_init(&go, 0, 0);
	sem_init(&end, 0, 0);
	sem_init(&finished, 0, 0);
	set_up();
	say("ready");
	pthread_create(&thread, NULL, obey, NULL);
	go_wait();
	begin();
	run();
	for (int i = 0; i < LOAD_LOOPS; i++)
		handled += atomic_load(&counts->handled[i]);
	printf("done %lu %lu\n", (unsigned long)handled, (unsigned long)counts->turns);
	fflush(stdout);
	while (sem_wait(&end) != 0)
		;
	pthread_join(thread, NULL);
	if (atomic_load(&again))
		execv("/proc/self/exe", wish.arguments);
	return 0;
}
