/* SPDX-License-Identifier: MIT */
/* The table of bounds holds both histogram forms exactly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "bpf/bounds.h"

static void bounds_rise_strictly(void **state)
{
	(void)state;
	for (int i = 1; i < BOUNDS_COUNT; i++)
		assert_true(bounds_ns[i] > bounds_ns[i - 1]);
	for (int i = 1; i < DEPTH_BOUNDS_COUNT; i++)
		assert_true(depth_bounds[i] > depth_bounds[i - 1]);
	assert_int_equal(depth_bounds[DEPTH_BOUNDS_COUNT - 1], 10000);
}

static void the_ladder_is_complete(void **state)
{
	uint64_t expected[22];
	int n = 0, found = 0;

	(void)state;
	for (uint64_t decade = 1000; decade <= 1000000000; decade *= 10)
		for (int s = 0; s < 3; s++)
			expected[n++] = decade * (uint64_t[]){1, 2, 5}[s];
	expected[n++] = 10000000000;
	for (int i = 0; i < BOUNDS_COUNT; i++)
		if (bounds_ladder[i])
			assert_int_equal(bounds_ns[i], expected[found++]);
	assert_int_equal(found, 22);
}

/* Each value must be counted in the exponential bucket that it belongs to by real arithmetic. Where
 * bounds are less than 1 ns apart, the lowest of those above the value is the one. */
static void exponents_name_the_bucket_of_each_value(void **state)
{
	int last = BOUNDS_EXPONENT_FIRST - 1;

	(void)state;
	for (int i = 0; i < BOUNDS_COUNT; i++) {
		long double upper, lower;

		if (bounds_exponent[i] == BOUNDS_NO_EXPONENT)
			continue;
		assert_true(bounds_exponent[i] > last);
		last = bounds_exponent[i];
		upper = 1e9L * powl(2, last / 8.0L);
		lower = 1e9L * powl(2, (last - 1) / 8.0L);
		/* A whole bound is a power of two of seconds, where powl is exact. */
		assert_true((long double)bounds_ns[i] <= upper);
		assert_true((long double)(bounds_ns[i] + 1) > upper);
		if (bounds_ns[i] > 0)
			assert_true((long double)bounds_ns[i] > lower);
	}
	assert_int_equal(last, BOUNDS_EXPONENT_LAST);
}

static void no_exponent_above_a_microsecond_is_missing(void **state)
{
	int last = 0, seen = 0;

	(void)state;
	for (int i = 0; i < BOUNDS_COUNT; i++) {
		if (bounds_exponent[i] == BOUNDS_NO_EXPONENT || bounds_ns[i] < 1000)
			continue;
		if (seen)
			assert_int_equal(bounds_exponent[i], last + 1);
		last = bounds_exponent[i];
		seen++;
	}
	assert_true(seen > 200);
}

static void a_second_is_on_both(void **state)
{
	int found = 0;

	(void)state;
	for (int i = 0; i < BOUNDS_COUNT; i++)
		if (bounds_ns[i] == 1000000000) {
			assert_int_equal(bounds_exponent[i], 0);
			assert_int_equal(bounds_ladder[i], 1);
			found++;
		}
	assert_int_equal(found, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounds_rise_strictly),
		cmocka_unit_test(the_ladder_is_complete),
		cmocka_unit_test(exponents_name_the_bucket_of_each_value),
		cmocka_unit_test(no_exponent_above_a_microsecond_is_missing),
		cmocka_unit_test(a_second_is_on_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
