/* SPDX-License-Identifier: MIT */
/* Bucket arithmetic: quantiles stay within one exponential bucket, differences stay true. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>

#include "tests/aggregate_sample.h"

#define ONE_BUCKET 1.0905 /* 2^(1/8) */

static int order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static const double shares[] = {0.5, 0.9, 0.99, 0.999};

/* Against the sorted values themselves, over many magnitudes. */
static void quantiles_are_within_one_exponential_bucket(void **state)
{
	enum { COUNT = 4001 };
	static uint64_t values[COUNT];
	uint64_t random = 88172645463325252ull;

	for (unsigned int round = 0; round < 40; round++) {
		struct aggregate_histogram h = {0};

		for (size_t i = 0; i < COUNT; i++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			values[i] = (uint64_t)exp2(7 + (double)(random % 27000) / 1000);
			sample_count(&h, AGGREGATE_WAIT, values[i], 1);
		}
		qsort(values, COUNT, sizeof(values[0]), order);
		for (size_t i = 0; i < 4; i++) {
			double real = (double)values[(size_t)ceil(shares[i] * COUNT) - 1];
			double read = histogram_quantile(&h, AGGREGATE_WAIT, shares[i]);

			assert_true(read <= real * ONE_BUCKET && read * ONE_BUCKET >= real);
			assert_true(read <= (double)h.max);
		}
	}
}

static void quantile_of_one_value_is_that_value(void **state)
{
	static const uint64_t rows[] = {0, 1, 2, 119, 1000, 1001, 3300, 1000000, 10000000000ull,
		10000000001ull, 900000000000ull, 5000000000000ull};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct aggregate_histogram h = {0};

		sample_count(&h, AGGREGATE_HANDLER, rows[i], 1);
		assert_true(histogram_quantile(&h, AGGREGATE_HANDLER, 0.5) == (double)rows[i]);
		assert_true(histogram_quantile(&h, AGGREGATE_HANDLER, 1) == (double)rows[i]);
	}
}

static void quantile_never_exceeds_the_maximum(void **state)
{
	struct aggregate_histogram h = {0};

	sample_count(&h, AGGREGATE_WAIT, 1001, 99);
	assert_true(histogram_quantile(&h, AGGREGATE_WAIT, 0.999) <= 1001);
	assert_true(histogram_quantile(&h, AGGREGATE_WAIT, 0.01) > 1000);
}

static void quantile_of_nothing_is_zero(void **state)
{
	struct aggregate_histogram h = {0};

	for (enum aggregate_metric m = 0; m < AGGREGATE_METRICS; m++)
		assert_true(histogram_quantile(&h, m, 0.99) == 0);
}

static void quantiles_of_messages_are_whole_numbers(void **state)
{
	struct aggregate_histogram h = {0};

	sample_count(&h, AGGREGATE_DEPTH, 1, 10);
	sample_count(&h, AGGREGATE_DEPTH, 16, 10);
	assert_true(histogram_quantile(&h, AGGREGATE_DEPTH, 0.5) == 1);
	for (double q = 0; q <= 1; q += 0.05) {
		double read = histogram_quantile(&h, AGGREGATE_DEPTH, q);

		assert_true(read == floor(read) && read >= 1 && read <= 16);
	}
	assert_true(histogram_quantile(&h, AGGREGATE_DEPTH, 1) == 16);
}

static void difference_holds_only_the_later_values(void **state)
{
	struct aggregate_histogram before = {0};
	struct aggregate_histogram now;

	sample_count(&before, AGGREGATE_WAIT, 1000000, 7);
	now = before;
	sample_count(&now, AGGREGATE_WAIT, 3300, 11);
	histogram_subtract(&now, &before, AGGREGATE_WAIT);
	assert_int_equal(now.count, 11);
	assert_int_equal(now.sum, 11 * 3300);
	/* The maximum did not rise: the highest bucket's bound is all that is known. */
	assert_true(now.max >= 3300 && (double)now.max <= 3300 * ONE_BUCKET);
}

static void difference_keeps_a_risen_maximum(void **state)
{
	struct aggregate_histogram before = {0};
	struct aggregate_histogram now;

	sample_count(&before, AGGREGATE_WAIT, 3300, 7);
	now = before;
	sample_count(&now, AGGREGATE_WAIT, 1234567, 1);
	histogram_subtract(&now, &before, AGGREGATE_WAIT);
	assert_int_equal(now.max, 1234567);
	histogram_subtract(&now, &now, AGGREGATE_WAIT);
	assert_int_equal(now.count, 0);
	assert_int_equal(now.max, 0);
}

static void classic_bounds_are_the_ladder(void **state)
{
	uint64_t wanted = 1000;
	unsigned int found = 0;

	for (size_t i = 0; i < histogram_bounds(AGGREGATE_WAIT); i++) {
		if (!histogram_is_classic(AGGREGATE_WAIT, i))
			continue;
		assert_int_equal(histogram_bound(AGGREGATE_WAIT, i), wanted);
		wanted = found % 3 == 1 ? wanted / 2 * 5 : wanted * 2;
		found++;
	}
	assert_int_equal(found, 22);
	assert_int_equal(histogram_bounds(AGGREGATE_DEPTH), 13);
	assert_int_equal(histogram_bound(AGGREGATE_DEPTH, 12), 10000);
}

static void rows_end_at_octaves_only_outside_the_ladder(void **state)
{
	unsigned int below = 0;
	unsigned int above = 0;

	for (size_t i = 0; i < histogram_bounds(AGGREGATE_WAIT); i++) {
		if (!histogram_ends_row(AGGREGATE_WAIT, i))
			continue;
		below += histogram_bound(AGGREGATE_WAIT, i) < 1000;
		above += histogram_bound(AGGREGATE_WAIT, i) > 10000000000ull;
	}
	assert_in_range(below, 8, 10);
	assert_in_range(above, 4, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_are_within_one_exponential_bucket),
		cmocka_unit_test(quantile_of_one_value_is_that_value),
		cmocka_unit_test(quantile_never_exceeds_the_maximum),
		cmocka_unit_test(quantile_of_nothing_is_zero),
		cmocka_unit_test(quantiles_of_messages_are_whole_numbers),
		cmocka_unit_test(difference_holds_only_the_later_values),
		cmocka_unit_test(difference_keeps_a_risen_maximum),
		cmocka_unit_test(classic_bounds_are_the_ladder),
		cmocka_unit_test(rows_end_at_octaves_only_outside_the_ladder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
