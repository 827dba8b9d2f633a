/* SPDX-License-Identifier: MIT */
/* A program that has one of the troubles that a diagnosis knows, or only looks like it.
 *
 *   scenario --list
 *   scenario --scenario NAME [--strength 1..3] [--seed N] [--seconds T]
 *
 * SIGTERM ends it early.
 *
 * It says "ready PID" when it runs, and at the end one line of JSON: what is true of it, by its own
 * clocks and counts. It knows the public header only. Its loops run with a high priority, if that
 * is allowed, so that others on the host do not make a trouble of their own.
 */
#define _GNU_SOURCE
#include "tests/scenarios/scenario.h"

#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/scenarios/deeds.h"
#include "tests/scenarios/measure.h"

#define CREW_MOST 4096u
#define PULSE_MS  5

struct message {
	uint32_t number;
};

/* One role as it is played. */
struct crew {
	struct scenario_role role; /* grown */
	struct actor_class cls;
	struct actor_dispatcher_spec dispatcher;
	actor_ref actors[CREW_MOST];
	uv_timer_t timer;
	uint64_t periods;
};

static const struct scenario *scenario;
static struct crew crews[SCENARIO_ROLES];
static struct actor_system *system_;
static struct actor_type message_type = ACTOR_TYPE("work");
static uv_loop_t loop;
static uint64_t random_state = 1, began_ns;
static _Atomic uint64_t end_ns;
static uint32_t strength = 2, seconds = 5;
static _Atomic uint64_t told, handled;

/* ---- numbers ---- */

static uint64_t random_next(void)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return random_state >> 33;
}

static uint64_t grown(uint64_t value, bool grows)
{
	return grows ? value * (strength + 1) / 2 : value;
}

/* Work and periods differ from seed to seed, a little. */
static struct scenario_role role_grown(const struct scenario_role *from)
{
	struct scenario_role r = *from;

	r.work_ns = grown(r.work_ns, r.grows == GROWS_WORK) * (95 + random_next() % 11) / 100;
	r.burst = (uint32_t)grown(r.burst, r.grows == GROWS_BURST);
	r.count = (uint32_t)grown(r.count, r.grows == GROWS_COUNT);
	r.throughput = (int64_t)grown((uint64_t)r.throughput, r.grows == GROWS_THROUGHPUT);
	r.budget = (int64_t)grown((uint64_t)r.budget, r.grows == GROWS_BUDGET);
	return r;
}

/* ---- messages ---- */

static void tell_outside(actor_ref to)
{
	struct message m = {0};

	if (actor_system_tell(system_, to, &message_type, &m, sizeof(m)) == 0)
		told++;
}

static void tell_inside(struct actor_ctx *ctx, actor_ref to)
{
	struct message m = {0};

	if (actor_tell(ctx, to, &message_type, &m, sizeof(m)) == 0)
		told++;
}

static struct crew *crew_of(struct actor_ctx *ctx)
{
	return *(struct crew **)actor_state(ctx);
}

static actor_ref next_of(const struct crew *crew, actor_ref self)
{
	uint32_t i = 0;

	while (i < crew->role.count && crew->actors[i] != self)
		i++;
	return crew->actors[(i + 1) % crew->role.count];
}

static void pass_on(struct actor_ctx *ctx, const struct crew *crew)
{
	switch (crew->role.feed) {
	case FEED_TOKENS:
		tell_inside(ctx, actor_self(ctx));
		break;
	case FEED_RING:
	case FEED_PAIR:
		tell_inside(ctx, next_of(crew, actor_self(ctx)));
		break;
	default:
		break;
	}
	for (int to = 0; to < SCENARIO_ROLES && crew->role.gift; to++)
		for (uint32_t i = 0; crews[to].role.feed == FEED_ROLE && i < crew->role.gift; i++)
			tell_inside(ctx, crews[to].actors[0]);
}

static int on_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	const struct crew *crew = crew_of(ctx);
	struct measure_moment start = measure_begin();

	(void)message;
	if (start.wall_ns >= end_ns)
		return 0; /* only what is queued is left */
	handled++;
	deed_do(crew->role.deed, crew->role.work_ns, end_ns);
	measure_end(&start);
	pass_on(ctx, crew);
	return crew->role.deed == DEED_FAIL ? -EIO : 0;
}

static int on_start(struct actor_ctx *ctx)
{
	const struct crew *crew = crew_of(ctx);
	struct message m = {0};

	if (crew->role.feed != FEED_TIMERS)
		return 0;
	return actor_timer_fixed_rate(
		ctx, 1, crew->role.period_ms, crew->role.period_ms, &message_type, &m, sizeof(m));
}

/* ---- feeding ---- */

/* What was missed while the loop was busy is made up for: the world does not wait. */
static void on_period(uv_timer_t *timer)
{
	struct crew *crew = timer->data;
	uint64_t due = (measure_now() - began_ns) / (crew->role.period_ms * 1000000ull);

	if (measure_now() >= end_ns)
		return;
	for (; crew->periods < due; crew->periods++)
		for (uint32_t i = 0; i < crew->role.count; i++)
			for (uint32_t k = 0; k < crew->role.burst; k++)
				tell_outside(crew->actors[i]);
}

static void crew_feed(struct crew *crew)
{
	const struct scenario_role *r = &crew->role;

	if (r->feed == FEED_PERIOD) {
		uv_timer_init(&loop, &crew->timer);
		crew->timer.data = crew;
		uv_timer_start(&crew->timer, on_period, r->period_ms, r->period_ms);
	}
	for (uint32_t k = 0; k < r->burst; k++) {
		if (r->feed == FEED_RING || r->feed == FEED_PAIR)
			tell_outside(crew->actors[k % r->count]);
		for (uint32_t i = 0; r->feed == FEED_TOKENS && i < r->count; i++)
			tell_outside(crew->actors[i]);
	}
}

/* ---- making ---- */

static const struct actor_strategy unlimited = {.size = sizeof(unlimited),
	.directive = ACTOR_DIRECTIVE_RESTART,
	.max_retries = -1,
	.window_ms = -1};

static int dispatcher_make(struct crew *crew)
{
	const struct scenario_role *r = &crew->role;

	switch (r->dispatcher) {
	case ACTOR_HYBRID:
		return actor_dispatcher_hybrid(&crew->dispatcher, r->budget, "own");
	case ACTOR_MICROTASK:
		return actor_dispatcher_microtask(&crew->dispatcher, "own");
	case ACTOR_IMMEDIATE:
		return actor_dispatcher_immediate(&crew->dispatcher, "own");
	case ACTOR_THROUGHPUT_DISPATCHER:
		return actor_dispatcher_throughput(&crew->dispatcher, r->budget, "own");
	default:
		return 0;
	}
}

static int crew_make(struct crew *crew)
{
	const struct scenario_role *r = &crew->role;
	struct actor_spawn_options options = {
		.size = sizeof(options),
		.init = &crew,
		.throughput = r->throughput,
		.dispatcher = r->dispatcher ? &crew->dispatcher : NULL,
		.strategy = &unlimited,
	};
	int rc = dispatcher_make(crew);

	crew->cls = (struct actor_class){.size = sizeof(crew->cls),
		.name = r->class_name,
		.state_bytes = sizeof(crew),
		.on_message = on_message,
		.on_start = on_start};
	for (uint32_t i = 0; rc == 0 && i < r->count && i < CREW_MOST; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%s-%td-%u", r->class_name, crew - crews, i);
		options.name = name;
		options.loop = r->loop ? (int)r->loop : r->feed == FEED_PAIR ? (int)i % 2 + 1 : 1;
		rc = actor_system_spawn(system_, &crew->cls, &options, &crew->actors[i]);
	}
	return rc;
}

/* ---- the run ---- */

/* Ends the run early, unless a handler hangs. */
static void on_term(int signal)
{
	(void)signal;
	end_ns = measure_now();
}

static uv_timer_t pulse;

static void on_close(struct actor_system *s, void *data)
{
	(void)s;
	(void)data;
	uv_stop(&loop);
}

static void on_pulse(uv_timer_t *timer)
{
	(void)timer;
	if (measure_now() < end_ns) {
		measure_pulse(PULSE_MS * 1000000ull);
		return;
	}
	measure_stop();
	uv_timer_stop(&pulse);
	for (int i = 0; i < SCENARIO_ROLES; i++)
		if (crews[i].role.feed == FEED_PERIOD && crews[i].role.class_name)
			uv_timer_stop(&crews[i].timer);
	actor_system_close(system_, on_close, NULL);
}

static void on_log(void *data, enum actor_log_level level, const char *text)
{
	(void)data;
	if (level >= ACTOR_LOG_ERROR && !strstr(text, "failer"))
		fprintf(stderr, "%s\n", text);
}

static void quiet(void *data, enum actor_log_level level, const char *text)
{
	(void)data;
	(void)level;
	(void)text;
}

static int run(void)
{
	struct actor_system_options options = {.size = sizeof(options),
		.name = "scenario",
		.loop = &loop,
		.loops = (int)scenario->loops,
		.drain_ms = -1,
		.log = strcmp(scenario->name, "restarts") == 0 ? quiet : on_log};
	const struct sched_param first = {.sched_priority = 1};
	int rc;

	uv_loop_init(&loop);
	if (!scenario->rivals && sched_setscheduler(0, SCHED_RR, &first) != 0)
		fprintf(stderr, "scenario: no high priority, others on the host may disturb\n");
	rc = actor_system_open(&system_, &options);
	for (int i = 0; rc == 0 && i < SCENARIO_ROLES && scenario->roles[i].class_name; i++) {
		crews[i].role = role_grown(&scenario->roles[i]);
		rc = crew_make(&crews[i]);
	}
	if (rc != 0) {
		fprintf(stderr, "scenario: %s\n", actor_strerror(rc));
		return 1;
	}
	began_ns = measure_start();
	end_ns = began_ns + seconds * 1000000000ull;
	signal(SIGTERM, on_term);
	deeds_start(end_ns, grown(scenario->rivals, true));
	for (int i = 0; i < SCENARIO_ROLES && scenario->roles[i].class_name; i++)
		crew_feed(&crews[i]);
	uv_timer_init(&loop, &pulse);
	uv_timer_start(&pulse, on_pulse, PULSE_MS, PULSE_MS);
	printf("ready %d\n", getpid());
	fflush(stdout);
	uv_run(&loop, UV_RUN_DEFAULT);
	measure_print(scenario, strength, told - handled);
	return 0;
}

static int list(void)
{
	for (uint32_t i = 0; i < scenario_count; i++)
		printf("%-16s %-26s %s\n", scenario_table[i].name, scenario_table[i].expected,
			scenario_table[i].about);
	return 0;
}

static int usage(void)
{
	fprintf(stderr, "usage: scenario --list | --scenario NAME [--strength 1..3] [--seed N] "
			"[--seconds T]\n");
	return 2;
}

static const struct scenario *scenario_named(const char *name)
{
	for (uint32_t i = 0; i < scenario_count; i++)
		if (strcmp(scenario_table[i].name, name) == 0)
			return &scenario_table[i];
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"list", no_argument, NULL, 'l'},
		{"scenario", required_argument, NULL, 'n'},
		{"strength", required_argument, NULL, 's'}, {"seed", required_argument, NULL, 'r'},
		{"seconds", required_argument, NULL, 't'}, {NULL, 0, NULL, 0}};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'l':
			return list();
		case 'n':
			scenario = scenario_named(optarg);
			break;
		case 's':
			strength = (uint32_t)strtoul(optarg, NULL, 10);
			break;
		case 'r':
			random_state = strtoull(optarg, NULL, 10) * 7919 + 1;
			break;
		case 't':
			seconds = (uint32_t)strtoul(optarg, NULL, 10);
			break;
		default:
			return usage();
		}
	}
	if (!scenario || strength < 1 || strength > 3 || seconds < 1 || seconds > 3600)
		return usage();
	for (int i = 0; i < 3; i++)
		random_next();
	return run();
}
