/* SPDX-License-Identifier: MIT */
/* Seeded stress of timers: three loops, actors that start, cancel, time out, throttle, fail and go.
 *
 * Oracles. A timer's message says which start of which key it is of: it must be the newest one, and
 * not cancelled. Every payload is destroyed once. Mail for a later time is handled or becomes a
 * dead letter. STRESS_SEED repeats a run, STRESS_SECONDS makes it longer. */
#include "tests/lab.h"

#include <unistd.h>

#define ACTORS 18
#define LOOPS  3
#define KEYS   8

/* Of a timer, larger than what travels inside the envelope. */
struct tick {
	uint64_t actor;
	uint32_t key;
	uint32_t start; /* how many starts of any timer there were before */
	char fill[24];
};

struct citizen {
	uint32_t place;
	uint64_t random;
	uint32_t newest[KEYS]; /* start of the active timer, 0 = none */
	bool single[KEYS];
};

static _Atomic uint64_t ticks, timeouts, later_told, later_handled, later_dead, wrong;
static _Atomic actor_ref places[ACTORS];
static _Atomic uint32_t starts, seeds;
static _Atomic bool over;
static uint64_t seed;

static int tick_copy(void *to, const void *from, size_t bytes)
{
	memcpy(to, from, bytes);
	atomic_fetch_add(&counted_alive, 1);
	return 0;
}

static void tick_destroy(void *payload, size_t bytes)
{
	atomic_fetch_sub(&counted_alive, 1);
	free(payload);
}

static struct actor_type tick_type = {
	sizeof(tick_type), "tick", tick_destroy, tick_copy, 0};
static struct actor_type later_type = ACTOR_TYPE("later");
static struct actor_type poke_type = ACTOR_TYPE("poke");

static int timer_start(struct actor_ctx *ctx, struct citizen *self, uint32_t key)
{
	struct tick *tick = calloc(1, sizeof(*tick));
	uint32_t kind = random_below(&self->random, 3);
	int64_t first = random_below(&self->random, 6);
	int64_t every = 1 + random_below(&self->random, 5);
	int rc;

	tick->actor = actor_self(ctx);
	tick->key = key;
	tick->start = atomic_fetch_add(&starts, 1) + 1;
	atomic_fetch_add(&counted_alive, 1);
	rc = kind == 0	 ? actor_timer_single(ctx, key, first, &tick_type, tick, sizeof(*tick))
	     : kind == 1 ? actor_timer_fixed_rate(
				   ctx, key, first, every, &tick_type, tick, sizeof(*tick))
			 : actor_timer_fixed_delay(
				   ctx, key, first, every, &tick_type, tick, sizeof(*tick));
	self->newest[key] = tick->start;
	self->single[key] = kind == 0;
	return rc;
}

static void tick_check(
	struct actor_ctx *ctx, struct citizen *self, const struct actor_message *m)
{
	const struct tick *tick = m->payload;

	atomic_fetch_add(&ticks, 1);
	if (tick->actor != actor_self(ctx) || tick->start != self->newest[tick->key] ||
		actor_timer_active(ctx, tick->key) != !self->single[tick->key])
		atomic_fetch_add(&wrong, 1);
	if (self->single[tick->key])
		self->newest[tick->key] = 0;
	if (random_below(&self->random, 8) == 0)
		tick_destroy(actor_take(ctx), sizeof(*tick));
}

static int throttle(struct actor_ctx *ctx, struct citizen *self)
{
	const struct actor_throttle_options options = {.size = sizeof(options),
		.messages = 1 + random_below(&self->random, 500),
		.per_ms = 1 + random_below(&self->random, 100),
		.burst = 1 + random_below(&self->random, 10)};

	return actor_throttle(ctx, random_below(&self->random, 2) ? &options : NULL);
}

static int settle(struct actor_system *system, uint32_t place);

static int do_something(struct actor_ctx *ctx, struct citizen *self)
{
	uint32_t key = random_below(&self->random, KEYS);
	actor_ref other = atomic_load(&places[random_below(&self->random, ACTORS)]);
	int rc;

	switch (random_below(&self->random, 64)) {
	case 0 ... 19:
		return timer_start(ctx, self, key);
	case 20 ... 29:
		if (actor_timer_cancel(ctx, key) != (self->newest[key] != 0))
			atomic_fetch_add(&wrong, 1);
		self->newest[key] = 0;
		return 0;
	case 30 ... 39:
		rc = actor_system_schedule(actor_ctx_system(ctx), other,
			random_below(&self->random, 30), &later_type, &key, sizeof(key));
		if (!rc)
			atomic_fetch_add(&later_told, 1);
		return rc == ACTOR_ECLOSED ? 0 : rc;
	case 40 ... 41:
		return actor_receive_timeout(ctx, random_below(&self->random, 10));
	case 42 ... 43:
		return throttle(ctx, self);
	case 44:
		if (random_below(&self->random, 8) || atomic_load(&over))
			return 0;
		rc = settle(actor_ctx_system(ctx), self->place);
		actor_stop(ctx, actor_self(ctx));
		return rc == ACTOR_ECLOSED ? 0 : rc;
	default:
		return actor_tell(ctx, other, &poke_type, NULL, 0);
	}
}

static int citizen_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct citizen *self = actor_state(ctx);
	int rc;

	if (m->type == &tick_type)
		tick_check(ctx, self, m);
	else if (m->type == &later_type)
		atomic_fetch_add(&later_handled, 1);
	else if (m->type == &actor_timeout)
		atomic_fetch_add(&timeouts, 1);
	rc = do_something(ctx, self);
	if (rc < 0)
		atomic_fetch_add(&wrong, 1);
	/* The next instance knows of no timer, and none of the old ones may tell it anything. */
	return random_below(&self->random, 200) ? 0 : -EIO;
}

static int citizen_start(struct actor_ctx *ctx)
{
	struct citizen *self = actor_state(ctx);

	self->random = (seed + atomic_fetch_add(&seeds, 1) * 0x9e3779b97f4a7c15ull) | 1;
	return 0;
}

static struct actor_class citizen_class = {.size = sizeof(struct actor_class),
	.name = "citizen",
	.state_bytes = sizeof(struct citizen),
	.on_start = citizen_start,
	.on_message = citizen_message};

static int settle(struct actor_system *system, uint32_t place)
{
	static const struct actor_strategy again = {.size = sizeof(again),
		.directive = ACTOR_DIRECTIVE_RESTART,
		.max_retries = -1};
	struct citizen init = {.place = place};
	struct actor_spawn_options options = {.size = sizeof(options),
		.init = &init,
		.loop = 1 + (int)(place % LOOPS),
		.strategy = &again};
	actor_ref ref;
	int rc = actor_system_spawn(system, &citizen_class, &options, &ref);

	if (!rc)
		atomic_store(&places[place], ref);
	return rc;
}

static void on_dead_letter(void *data, actor_ref recipient, const struct actor_message *message)
{
	if (message->type == &later_type)
		atomic_fetch_add(&later_dead, 1);
}

/* Pokes and schedules until the time is over; what actors do to each other keeps them busy. */
static void *outside(void *argument)
{
	struct lab *lab = argument;
	uint64_t random = seed | 1;

	while (!atomic_load(&over)) {
		actor_ref ref = atomic_load(&places[random_below(&random, ACTORS)]);

		if (!actor_system_schedule(
			    lab->system, ref, random_below(&random, 20), &later_type, "", 0))
			atomic_fetch_add(&later_told, 1);
		actor_system_tell(lab->system, ref, &poke_type, NULL, 0);
		usleep(random_below(&random, 300));
	}
	return NULL;
}

static void timers_and_their_actors_come_and_go(void **state)
{
	const char *seconds = getenv("STRESS_SECONDS");
	const char *repeat = getenv("STRESS_SEED");
	uint64_t failures;
	pthread_t thread;
	struct lab lab;

	seed = repeat ? strtoull(repeat, NULL, 0) : now_ns();
	print_message("STRESS_SEED=%#llx\n", (unsigned long long)seed);
	counted_alive = 0;
	lab_open_owned(&lab, LOOPS);
	actor_system_on_dead_letter(lab.system, on_dead_letter, NULL);
	for (uint32_t i = 0; i < ACTORS; i++)
		assert_int_equal(settle(lab.system, i), 0);
	assert_int_equal(pthread_create(&thread, NULL, outside, &lab), 0);
	sleep_ms(seconds ? (unsigned int)atoi(seconds) * 1000 : 1500);
	atomic_store(&over, true);
	pthread_join(thread, NULL);
	failures = lab_stats(&lab).failed;
	lab_close(&lab);
	print_message("%llu ticks, %llu time-outs, %llu later\n", (unsigned long long)ticks,
		(unsigned long long)timeouts, (unsigned long long)later_told);
	assert_int_equal(wrong, 0);
	assert_int_equal(counted_alive, 0);
	assert_int_equal(later_told, later_handled + later_dead);
	assert_true(failures > 0 && ticks > 100 && timeouts > 0 && later_handled > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(timers_and_their_actors_come_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
