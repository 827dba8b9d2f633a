/* SPDX-License-Identifier: MIT */
/* Mail for a later time: in time, to other loops, for nobody. */
#include "tests/lab.h"

static struct lab lab;
static actor_ref clerk;
static _Atomic uint32_t handled; /* digits of the messages, one after the other */

static struct actor_type number_type = ACTOR_TYPE("number");

static int clerk_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	uint64_t number;

	assert_int_equal(m->sender, ACTOR_NONE);
	memcpy(&number, m->payload, sizeof(number)); /* of counted: its value */
	if (!number)
		actor_stop_self(ctx);
	atomic_store(&handled, atomic_load(&handled) * 10 + (uint32_t)number);
	return 0;
}

static struct actor_class clerk_class = {
	.size = sizeof(struct actor_class), .name = "clerk", .on_message = clerk_message};

static void with_manual_clock(struct actor_system_options *options)
{
	options->manual_ms = 1;
}

static int setup(void **state)
{
	counted_alive = 0;
	handled = 0;
	lab_open_with(&lab, with_manual_clock);
	assert_int_equal(actor_system_spawn(lab.system, &clerk_class, NULL, &clerk), 0);
	return 0;
}

static int teardown(void **state)
{
	assert_int_equal(counted_alive, 0);
	return 0;
}

static void pass(uint64_t ms)
{
	assert_int_equal(actor_system_advance(lab.system, ms), 0);
	lab_run(&lab);
}

static int later(struct actor_system *system, actor_ref to, int64_t delay_ms, uint64_t number)
{
	return actor_system_schedule(
		system, to, delay_ms, &number_type, &number, sizeof(number));
}

static void schedule(actor_ref to, int64_t delay_ms, uint64_t number)
{
	assert_int_equal(later(lab.system, to, delay_ms, number), 0);
}

static void schedule_counted(actor_ref to, int64_t delay_ms, uint64_t number)
{
	struct counted *c = counted_new(number);

	assert_int_equal(
		actor_system_schedule(lab.system, to, delay_ms, &counted_type, c, sizeof(*c)), 0);
}

static void scheduled_mail_comes_in_time(void **state)
{
	schedule(clerk, 20, 2);
	schedule(clerk, 10, 1);
	schedule_counted(clerk, 20, 3);
	pass(9);
	assert_int_equal(handled, 0);
	pass(1);
	assert_int_equal(handled, 1);
	pass(1000);
	assert_int_equal(handled, 123);
	lab_close(&lab);
}

static void scheduled_mail_that_finds_nobody_is_a_dead_letter(void **state)
{
	schedule_counted(clerk, 20, 1);
	schedule_counted(clerk, 1000000, 1); /* the system closes before */
	schedule(clerk, 10, 0);              /* stops the actor */
	schedule(1, 5, 1);                   /* nobody ever */
	pass(20);
	assert_int_equal(lab.dead_letters, 2);
	assert_int_equal(counted_alive, 1);
	lab_close(&lab);
	assert_int_equal(lab.dead_letters, 3);
}

static void what_cannot_be_meant_is_not_scheduled(void **state)
{
	assert_int_equal(later(lab.system, clerk, -1, 1), -EINVAL);
	assert_int_equal(later(lab.system, ACTOR_NONE, 1, 1), -EINVAL);
	assert_int_equal(
		actor_system_schedule(lab.system, clerk, 1, NULL, NULL, 0), ACTOR_ETYPE);
	assert_int_equal(
		actor_system_schedule(lab.system, clerk, 1, &number_type, NULL, 8), ACTOR_ETYPE);
	assert_int_equal(later(lab.system, clerk, INT64_MAX, 1), 0); /* as good as never */
	pass(1ull << 40);
	assert_int_equal(handled, 0);
	lab_close(&lab);
}

static void scheduled_mail_reaches_other_loops_from_any_thread(void **state)
{
	struct lab other;
	actor_ref refs[3];

	lab_close(&lab);
	lab_open_owned(&other, 3);
	for (int i = 0; i < 3; i++) {
		struct actor_spawn_options options = {.size = sizeof(options), .loop = i + 1};

		assert_int_equal(
			actor_system_spawn(other.system, &clerk_class, &options, &refs[i]), 0);
		assert_int_equal(later(other.system, refs[i], i, 0), 0);
	}
	assert_true(lab_wait_terminated(&other, 3));
	/* Kept by an idle loop until the system closes. */
	assert_int_equal(later(other.system, refs[0], 3600000, 1), 0);
	lab_close(&other);
	assert_int_equal(other.dead_letters, 1);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(scheduled_mail_comes_in_time),
		TEST(scheduled_mail_that_finds_nobody_is_a_dead_letter),
		TEST(what_cannot_be_meant_is_not_scheduled),
		TEST(scheduled_mail_reaches_other_loops_from_any_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
