/* SPDX-License-Identifier: MIT */
/* The plan of ticks and ends, stepped by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "probe/observation.h"

#define S 1000000000ull

static void ticks_are_multiples_of_the_interval(void **state)
{
	struct observation_plan plan = {.start_ns = 5 * S, .interval_ns = 2 * S};

	assert_int_equal(observation_plan_next(&plan), 7 * S);
	assert_int_equal(observation_plan_due(&plan, 7 * S - 1), 0);
	assert_int_equal(observation_plan_due(&plan, 7 * S + 1), OBSERVATION_TICK);
	assert_int_equal(observation_plan_next(&plan), 9 * S);
	/* Three ticks were missed: one block, and the next one on time. */
	assert_int_equal(observation_plan_due(&plan, 14 * S), OBSERVATION_TICK);
	assert_int_equal(observation_plan_next(&plan), 15 * S);
}

static void count_ends_with_its_last_tick(void **state)
{
	struct observation_plan plan = {.start_ns = 0, .interval_ns = S, .count = 2};

	assert_int_equal(observation_plan_due(&plan, S), OBSERVATION_TICK);
	assert_int_equal(observation_plan_due(&plan, 2 * S), OBSERVATION_TICK | OBSERVATION_ENOUGH);
}

static void duration_ends_between_and_on_ticks(void **state)
{
	struct observation_plan plan = {.start_ns = 0, .interval_ns = S, .duration_ns = S * 3 / 2};

	assert_int_equal(observation_plan_due(&plan, S), OBSERVATION_TICK);
	assert_int_equal(observation_plan_next(&plan), S * 3 / 2);
	assert_int_equal(observation_plan_due(&plan, S * 3 / 2), OBSERVATION_ENOUGH);
	plan = (struct observation_plan){.start_ns = 0, .interval_ns = S, .duration_ns = S};
	/* One block, not a full and an empty one. */
	assert_int_equal(observation_plan_due(&plan, S), OBSERVATION_TICK | OBSERVATION_ENOUGH);
}

static void plan_without_times_never_ends(void **state)
{
	struct observation_plan plan = {.start_ns = S};

	assert_true(observation_plan_next(&plan) == UINT64_MAX);
	assert_int_equal(observation_plan_due(&plan, UINT64_MAX - 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ticks_are_multiples_of_the_interval),
		cmocka_unit_test(count_ends_with_its_last_tick),
		cmocka_unit_test(duration_ends_between_and_on_ticks),
		cmocka_unit_test(plan_without_times_never_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
