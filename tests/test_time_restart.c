/* SPDX-License-Identifier: MIT */
/* Timers, time-outs and throttles of supervised actors: what a restart ends and what it keeps. */
#include "tests/lab.h"

enum order { TIMERS, TIMEOUT, FAIL, THROTTLE };

static struct lab lab;
static actor_ref actor;
static uint32_t ticks, timeouts, handled, starts;
static bool hook_starts;
static struct actor_type order_type = ACTOR_TYPE("order");

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

static int timers_start(struct actor_ctx *ctx)
{
	struct counted *single = counted_new(1), *rate = counted_new(2);

	if (actor_timer_single(ctx, 1, 10, &tick_type, single, sizeof(*single)) ||
		actor_timer_fixed_rate(ctx, 2, 10, 10, &tick_type, rate, sizeof(*rate)))
		return -ENOMEM;
	return 0;
}

static int limited_start(struct actor_ctx *ctx)
{
	starts++;
	return hook_starts ? timers_start(ctx) : 0;
}

static int limited_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	static const struct actor_throttle_options slow = {
		.size = sizeof(slow), .messages = 1, .per_ms = 1000};
	enum order order;

	if (m->type == &actor_timeout) {
		timeouts++;
		return 0;
	}
	if (m->type == &tick_type) {
		ticks++;
		return 0;
	}
	handled++;
	memcpy(&order, m->payload, sizeof(order));
	switch (order) {
	case TIMERS:
		return timers_start(ctx);
	case TIMEOUT:
		return actor_receive_timeout(ctx, 30);
	case THROTTLE:
		return actor_throttle(ctx, &slow);
	default:
		return -EIO;
	}
}

static struct actor_class limited_class = {.size = sizeof(struct actor_class),
	.name = "limited",
	.on_start = limited_start,
	.on_message = limited_message};

static void with_manual_clock(struct actor_system_options *options)
{
	options->manual_ms = 1;
}

static void spawn(const struct actor_strategy *strategy)
{
	struct actor_spawn_options options = {.size = sizeof(options), .strategy = strategy};

	assert_int_equal(actor_system_spawn(lab.system, &limited_class, &options, &actor), 0);
	lab_run(&lab);
}

static int setup(void **state)
{
	ticks = timeouts = handled = starts = 0;
	hook_starts = false;
	counted_alive = 0;
	lab_open_with(&lab, with_manual_clock);
	return 0;
}

static int teardown(void **state)
{
	lab_close(&lab);
	assert_int_equal(counted_alive, 0);
	return 0;
}

static void queue(enum order order)
{
	assert_int_equal(
		actor_system_tell(lab.system, actor, &order_type, &order, sizeof(order)), 0);
}

static void order(enum order which)
{
	queue(which);
	lab_run(&lab);
}

static void pass_and_run(uint64_t ms)
{
	assert_int_equal(actor_system_advance(lab.system, ms), 0);
	lab_run(&lab);
}

/* The armed ones, and what they have told already. */
static void a_restart_ends_all_timers(void **state)
{
	spawn(NULL);
	order(TIMERS);
	order(FAIL);
	assert_int_equal(starts, 2);
	assert_int_equal(counted_alive, 0);
	pass_and_run(100);
	assert_int_equal(ticks, 0);
	order(TIMERS);
	queue(FAIL); /* and behind it the messages of both */
	pass_and_run(10);
	assert_int_equal(starts, 3);
	assert_int_equal(ticks, 0);
	pass_and_run(100);
	assert_int_equal(ticks, 0);
	assert_int_equal(lab_stats(&lab).dead_letters, 0);
	hook_starts = true; /* those of the new instance are its own */
	order(FAIL);
	pass_and_run(10);
	assert_int_equal(ticks, 2);
}

static void a_resumed_actor_keeps_its_timers(void **state)
{
	static const struct actor_strategy resume = {
		.size = sizeof(resume), .directive = ACTOR_DIRECTIVE_RESUME};

	spawn(&resume);
	order(TIMERS);
	queue(FAIL);
	pass_and_run(10);
	assert_int_equal(starts, 1);
	assert_int_equal(ticks, 2);
	pass_and_run(10);
	assert_int_equal(ticks, 3);
}

/* It goes on from the last message that was handled well, over failures and restarts. */
static void a_failing_handler_does_not_begin_the_time_out_anew(void **state)
{
	spawn(NULL);
	order(TIMEOUT);
	pass_and_run(20);
	order(FAIL);
	assert_int_equal(starts, 2);
	pass_and_run(9);
	assert_int_equal(timeouts, 0);
	pass_and_run(1);
	assert_int_equal(timeouts, 1);
	pass_and_run(30); /* and is still set */
	assert_int_equal(timeouts, 2);
}

/* While it waits for its restart it is told nothing; then the time-out comes. */
static void no_time_out_comes_to_a_suspended_actor(void **state)
{
	static const struct actor_strategy slowly = {.size = sizeof(slowly),
		.directive = ACTOR_DIRECTIVE_RESTART,
		.backoff_min_ms = 200,
		.jitter_percent = -1};

	spawn(&slowly);
	order(TIMEOUT);
	order(FAIL);
	for (int i = 0; i < 19; i++)
		pass_and_run(10);
	assert_int_equal(starts, 1);
	assert_int_equal(timeouts, 0);
	pass_and_run(10);
	assert_int_equal(starts, 2);
	pass_and_run(30);
	assert_int_equal(timeouts, 1);
}

static void a_throttle_stays_over_a_restart(void **state)
{
	spawn(NULL);
	order(THROTTLE);
	for (int i = 0; i < 5; i++)
		queue(FAIL);
	lab_run(&lab);
	assert_int_equal(handled, 2); /* the bucket was full once */
	for (uint32_t i = 1; i <= 4; i++) {
		pass_and_run(999);
		assert_int_equal(handled, 1 + i);
		pass_and_run(1);
		assert_int_equal(handled, 2 + i);
	}
	assert_int_equal(starts, 6);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_restart_ends_all_timers),
		TEST(a_resumed_actor_keeps_its_timers),
		TEST(a_failing_handler_does_not_begin_the_time_out_anew),
		TEST(no_time_out_comes_to_a_suspended_actor),
		TEST(a_throttle_stays_over_a_restart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
