/* SPDX-License-Identifier: MIT */
/* The quick way to a bucket leads where comparing with every bound does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "probe/bucket.h"
#include "probe/table.h"

#define SEED 20261130u

static uint32_t linear(const uint64_t *bounds, uint32_t count, uint64_t value)
{
	uint32_t at = 0;

	while (at < count && bounds[at] < value)
		at++;
	return at;
}

static void check(uint64_t ns)
{
	assert_int_equal(bucket_of_time(ns), linear(bounds_ns, BOUNDS_COUNT, ns));
}

static void every_bound_and_its_neighbours_are_found(void **state)
{
	bucket_init();
	for (int i = 0; i < BOUNDS_COUNT; i++) {
		check(bounds_ns[i]);
		check(bounds_ns[i] + 1);
		check(bounds_ns[i] ? bounds_ns[i] - 1 : 0);
	}
	for (unsigned int bit = 0; bit < 64; bit++) {
		check(UINT64_C(1) << bit);
		check((UINT64_C(1) << bit) - 1);
	}
	check(UINT64_MAX);
}

static void values_of_every_size_are_found(void **state)
{
	print_message("seed %u\n", SEED);
	srandom(SEED);
	bucket_init();
	for (int i = 0; i < 200003; i++) {
		uint64_t value =
			(uint64_t)random() << 33 ^ (uint64_t)random() << 11 ^ (uint64_t)random();

		check(value >> random() % 64);
	}
	for (uint64_t ns = 0; ns < 100003; ns++)
		check(ns);
}

static void depths_are_found(void **state)
{
	bucket_init();
	for (uint64_t depth = 0; depth < 70000; depth++)
		assert_int_equal(
			bucket_of_depth(depth), linear(depth_bounds, DEPTH_BOUNDS_COUNT, depth));
}

static void count_up(void *context, const struct series_key *key, const void *value)
{
	uint64_t *sums = context;

	sums[0]++;
	sums[1] += *(const uint64_t *)value;
	if (key->class_id == MAPS_OVERFLOW)
		sums[2] = *(const uint64_t *)value;
}

static void a_table_keeps_every_key_up_to_its_bound(void **state)
{
	struct table t;
	uint64_t sums[3] = {0};

	table_init(&t, 1009, sizeof(uint64_t));
	for (uint32_t round = 0; round < 3; round++)
		for (uint32_t i = 0; i < 2003; i++) {
			bool overflowed;
			uint64_t *value = table_find(
				&t, (uint64_t)i << 32, table_ids(i % 7, i % 11), &overflowed);

			assert_non_null(value);
			assert_int_equal(overflowed, i >= 1009);
			++*value;
		}
	table_walk(&t, count_up, sums);
	assert_int_equal(sums[0], 1010);
	assert_int_equal(sums[1], 3 * 2003);
	assert_int_equal(sums[2], 3 * (2003 - 1009));
	table_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_bound_and_its_neighbours_are_found),
		cmocka_unit_test(values_of_every_size_are_found),
		cmocka_unit_test(depths_are_found),
		cmocka_unit_test(a_table_keeps_every_key_up_to_its_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
