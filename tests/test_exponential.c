/* SPDX-License-Identifier: MIT */
/* Every value lies in the exponential bucket whose bounds enclose it, and none is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "probe/exponential.h"
#include "tests/aggregate_sample.h"

static void a_value_lies_between_the_bounds_of_its_bucket(void **state)
{
	for (size_t i = 0; i < BOUNDS_COUNT; i++) {
		for (uint64_t near = 0; near < 3; near++) {
			uint64_t ns = bounds_ns[i] + near - (bounds_ns[i] > 0);
			struct aggregate_histogram h = {0};
			struct exponential e;

			sample_count(&h, AGGREGATE_WAIT, ns, 3);
			exponential_project(&e, &h);
			assert_int_equal(e.total, 3);
			if (ns == 0) {
				assert_int_equal(e.zero, 3);
				assert_int_equal(e.count, 0);
				continue;
			}
			assert_int_equal(e.zero, 0);
			assert_int_equal(e.count, 1);
			assert_int_equal(e.counts[0], 3);
			if (ns > bounds_ns[BOUNDS_COUNT - 1]) {
				assert_int_equal(e.first, BOUNDS_EXPONENT_LAST + 1);
				continue;
			}
			assert_true((double)ns * 1e-9 > exp2((e.first - 1) / 8.0) * (1 - 1e-12));
			assert_true((double)ns * 1e-9 <= exp2(e.first / 8.0) * (1 + 1e-12));
		}
	}
}

static void both_projections_count_the_same(void **state)
{
	struct aggregate_histogram h = {0};
	struct exponential e;
	uint64_t sum, expected = 0;

	for (size_t i = 0; i <= BOUNDS_COUNT; i++) {
		h.buckets[i] = i * 7 % 11;
		expected += h.buckets[i];
	}
	exponential_project(&e, &h);
	sum = e.zero;
	for (size_t i = 0; i < e.count; i++)
		sum += e.counts[i];
	assert_int_equal(sum, expected);
	assert_int_equal(e.total, expected);
	assert_true(e.counts[0] && e.counts[e.count - 1]);
}

static void nothing_counted_has_no_bucket(void **state)
{
	const struct aggregate_histogram h = {0};
	struct exponential e;

	exponential_project(&e, &h);
	assert_int_equal(e.count, 0);
	assert_int_equal(e.first, 0);
	assert_int_equal(e.total, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_lies_between_the_bounds_of_its_bucket),
		cmocka_unit_test(both_projections_count_the_same),
		cmocka_unit_test(nothing_counted_has_no_bucket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
