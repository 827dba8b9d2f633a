/* SPDX-License-Identifier: MIT */
/* Timers by the real clock: never early, in the next pass at once, counted when the loop is busy. */
#include "tests/lab.h"

static struct actor_type tick_type = ACTOR_TYPE("tick");

static _Atomic uint64_t told_at, due_at;

static int punctual_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	if (!m->bytes) {
		spin_ns(20000000); /* the loop's own time stands still meanwhile */
		told_at = now_ns();
		return actor_timer_single(ctx, 0, 30, &tick_type, "", 1);
	}
	due_at = now_ns();
	actor_stop_self(ctx);
	return 0;
}

static struct actor_class punctual_class = {
	.size = sizeof(struct actor_class), .name = "punctual", .on_message = punctual_message};

static void a_timer_is_not_early_after_a_slow_handler(void **state)
{
	struct lab other;
	actor_ref ref;

	lab_open_owned(&other, 1);
	assert_int_equal(actor_system_spawn(other.system, &punctual_class, NULL, &ref), 0);
	assert_int_equal(actor_system_tell(other.system, ref, &tick_type, NULL, 0), 0);
	assert_true(lab_wait_terminated(&other, 1));
	lab_close(&other);
	/* The clock of timers has whole milliseconds. */
	assert_in_range(due_at - told_at, 29000000, UINT64_MAX);
}

#define LATE_TICKS 5

struct late {
	uint64_t began;
	uint64_t handled;
	uint64_t missed;
};
static struct late late;

/* Each handler takes longer than four intervals. */
static int late_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	if (!m->bytes) {
		late.began = now_ns();
		return actor_timer_fixed_rate(ctx, 0, 4, 4, &tick_type, "", 1);
	}
	late.missed += actor_timer_missed(ctx);
	/* Never more times than there were, and each of them is either handled or counted. */
	if ((late.handled + late.missed) * 4000000 > now_ns() - late.began + 1000000)
		return -ERANGE;
	if (++late.handled == LATE_TICKS)
		actor_stop_self(ctx);
	spin_ns(17000000);
	return 0;
}

static struct actor_class late_class = {
	.size = sizeof(struct actor_class), .name = "late", .on_message = late_message};

static void ticks_that_pass_while_the_loop_is_busy_are_counted(void **state)
{
	struct lab other;
	actor_ref ref;

	memset(&late, 0, sizeof(late));
	lab_open_owned(&other, 1);
	assert_int_equal(actor_system_spawn(other.system, &late_class, NULL, &ref), 0);
	assert_int_equal(actor_system_tell(other.system, ref, &tick_type, NULL, 0), 0);
	assert_true(lab_wait_terminated(&other, 1));
	assert_int_equal(lab_stats(&other).failed, 0);
	lab_close(&other);
	assert_int_equal(late.handled, LATE_TICKS);
	assert_in_range(late.missed, (LATE_TICKS - 1) * 3, UINT64_MAX);
}

static uint32_t passes, pass_started, pass_handled;

static int next_pass_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	if (!m->bytes) {
		pass_started = passes;
		return actor_timer_single(ctx, 0, 0, &tick_type, "", 1);
	}
	pass_handled = passes;
	return 0;
}

static struct actor_class next_pass_class = {
	.size = sizeof(struct actor_class), .name = "next_pass", .on_message = next_pass_message};

static void on_pass(uv_prepare_t *prepare)
{
	passes++;
}

static void no_delay_is_the_next_pass(void **state)
{
	uv_prepare_t prepare;
	struct lab other;
	actor_ref ref;

	passes = pass_handled = 0;
	lab_open(&other, NULL);
	uv_prepare_init(&other.loop, &prepare);
	uv_prepare_start(&prepare, on_pass);
	assert_int_equal(actor_system_spawn(other.system, &next_pass_class, NULL, &ref), 0);
	assert_int_equal(actor_system_tell(other.system, ref, &tick_type, NULL, 0), 0);
	while (!pass_handled)
		uv_run(&other.loop, UV_RUN_NOWAIT);
	uv_close((uv_handle_t *)&prepare, NULL);
	assert_int_equal(pass_handled, pass_started + 1);
	lab_close(&other);
}

static int sleepy_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	for (uint64_t key = 0; key < 1000; key++)
		if (actor_timer_fixed_rate(
			    ctx, key, 3600000, 3600000, &tick_type, &key, sizeof(key)))
			return -ENOMEM;
	return actor_receive_timeout(ctx, 3600000);
}

static struct actor_class sleepy_class = {
	.size = sizeof(struct actor_class), .name = "sleepy", .on_message = sleepy_message};

static void on_end(uv_timer_t *timer)
{
	uv_close((uv_handle_t *)timer, NULL);
}

/* A thousand timers and a time-out wait: the loop polls once, until the test's own handle is due. */
static void a_loop_that_waits_for_a_time_sleeps(void **state)
{
	uv_prepare_t prepare;
	uv_timer_t timer;
	struct lab other;
	actor_ref ref;

	lab_open(&other, NULL);
	assert_int_equal(actor_system_spawn(other.system, &sleepy_class, NULL, &ref), 0);
	assert_int_equal(actor_system_tell(other.system, ref, &tick_type, NULL, 0), 0);
	lab_run(&other);
	uv_prepare_init(&other.loop, &prepare);
	uv_prepare_start(&prepare, on_pass);
	uv_unref((uv_handle_t *)&prepare);
	uv_timer_init(&other.loop, &timer);
	uv_timer_start(&timer, on_end, 200, 0);
	passes = 0;
	lab_run(&other);
	assert_in_range(passes, 1, 5);
	uv_close((uv_handle_t *)&prepare, NULL);
	assert_int_equal(lab_stats(&other).failed, 0);
	lab_close(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_timer_is_not_early_after_a_slow_handler),
		cmocka_unit_test(ticks_that_pass_while_the_loop_is_busy_are_counted),
		cmocka_unit_test(no_delay_is_the_next_pass),
		cmocka_unit_test(a_loop_that_waits_for_a_time_sleeps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
