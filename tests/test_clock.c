/* SPDX-License-Identifier: MIT */
/* Ticks go forward, become nanoseconds, and the environment can choose the clock. */
#include "tests/lab.h"

#include "runtime/clock.h"
#include "runtime/root.h"

#include <stdlib.h>

static void ticks_never_go_back_on_one_thread(void **state)
{
	uint64_t before = actor__ticks();

	for (int i = 0; i < 100000; i++) {
		uint64_t now = actor__ticks();

		assert_true(now >= before);
		before = now;
	}
}

static void ticks_become_nanoseconds(void **state)
{
	uint64_t ticks, ns;

	actor__root_init();
	spin_ns(20000000); /* the rate is good only after a while */
	ns = actor__monotonic_ns();
	ticks = actor__ticks();
	spin_ns(5000000);
	ticks = actor__ticks() - ticks;
	ns = actor__monotonic_ns() - ns;
	/* Whoever interrupts does so between two reads; so the bound is wide on one side only. */
	assert_true(actor__ticks_to_ns(ticks) <= ns + ns / 20);
	assert_true(actor__ticks_to_ns(ticks) >= 5000000 - 250000);
	assert_int_equal(actor__ticks_to_ns(0), 0);
}

static void both_clocks_are_read_close_together(void **state)
{
	uint64_t ticks[2], ns[2];

	actor__root_init();
	spin_ns(1000000);
	actor__clock_pair(&ticks[0], &ns[0]);
	spin_ns(20000000);
	actor__clock_pair(&ticks[1], &ns[1]);
	assert_true(ticks[1] > ticks[0]);
	assert_true(ns[1] - ns[0] >= 20000000);
	assert_in_range(actor__ticks_to_ns(ticks[1] - ticks[0]), (ns[1] - ns[0]) / 10 * 9,
		(ns[1] - ns[0]) / 10 * 11);
}

static void the_environment_may_force_the_monotonic_clock(void **state)
{
	int was = actor__clock_tsc;

	setenv("ACTOR_CLOCK", "monotonic", 1);
	actor__clock_init();
	assert_int_equal(actor__clock_tsc, 0);
	assert_int_equal(actor__ticks_to_ns(12345), 12345);
	unsetenv("ACTOR_CLOCK");
	actor__clock_init();
	assert_int_equal(actor__clock_tsc, was);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ticks_never_go_back_on_one_thread),
		cmocka_unit_test(ticks_become_nanoseconds),
		cmocka_unit_test(both_clocks_are_read_close_together),
		cmocka_unit_test(the_environment_may_force_the_monotonic_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
