/* SPDX-License-Identifier: MIT */
/* Ticks become nanoseconds exactly as the multiplication says, for all 48 bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "probe/calibration.h"
#include "runtime/abi.h"

static void nanoseconds_stay_as_they_are(void **state)
{
	const struct calibration_pair pair = {0, 0};
	struct calibration c;

	(void)state;
	calibration_settle(&c, ACTOR_ABI_CLOCK_MONOTONIC, &pair, &pair);
	for (int bit = 0; bit < 48; bit++)
		for (int d = -1; d <= 1; d++) {
			uint64_t ticks = (UINT64_C(1) << bit) + (uint64_t)d;

			assert_int_equal(calibration_ns(&c, ticks), ticks);
		}
	assert_int_equal(calibration_ns(&c, ACTOR_ABI_48), ACTOR_ABI_48);
}

static void conversion_is_the_exact_floor(void **state)
{
	unsigned int seed = 1979;

	(void)state;
	print_message("seed %u\n", seed);
	for (int i = 0; i < 100000; i++) {
		struct calibration c = {.mult = 1u << 31 | (uint64_t)rand_r(&seed),
			.shift = 24 + (uint32_t)rand_r(&seed) % 32};
		uint64_t ticks = ((uint64_t)rand_r(&seed) << 31 ^ (uint64_t)rand_r(&seed)) >>
				 (rand_r(&seed) % 48);

		ticks &= ACTOR_ABI_48;
		assert_true(calibration_ns(&c, ticks) ==
			    (uint64_t)((unsigned __int128)ticks * c.mult >> c.shift));
	}
}

static void a_rate_is_found_within_a_part_in_a_billion(void **state)
{
	static const uint64_t rates_hz[] = {10000000, 24000000, 1000000000, 2445000000, 5800000000};

	(void)state;
	for (size_t i = 0; i < sizeof(rates_hz) / sizeof(rates_hz[0]); i++) {
		const struct calibration_pair from = {12345, 777};
		const struct calibration_pair to = {12345 + rates_hz[i], 777 + 1000000000};
		struct calibration c;
		uint64_t hour;

		assert_int_equal(calibration_between(&c, &from, &to), 0);
		hour = calibration_ns(&c, 360 * (rates_hz[i] / 100)); /* 3.6 s */
		assert_in_range(hour, 3600000000u - 4, 3600000000u + 4);
	}
}

static void nonsense_has_no_rate(void **state)
{
	static const struct {
		struct calibration_pair from, to;
	} rows[] = {
		{{5, 5}, {5, 6}},
		{{5, 5}, {6, 5}},
		{{5, 5}, {4, 9}},
		{{0, 0}, {1, 1000000}}, /* slower than any clock */
		{{0, 0}, {UINT64_MAX, UINT64_MAX}},
	};
	struct calibration c;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(calibration_between(&c, &rows[i].from, &rows[i].to), -1);
}

static void a_pair_of_another_time_namespace_is_not_believed(void **state)
{
#if defined(__x86_64__)
	struct calibration_pair mine = calibration_now(ACTOR_ABI_CLOCK_TSC), theirs = mine, to;
	struct calibration right, c;

	(void)state;
	theirs.ns -= theirs.ns / 2; /* its CLOCK_MONOTONIC began at another time */
	theirs.ticks -= theirs.ticks / 64;
	calibration_settle(&c, ACTOR_ABI_CLOCK_TSC, &theirs, &mine);
	to = calibration_now(ACTOR_ABI_CLOCK_TSC);
	assert_int_equal(calibration_between(&right, &mine, &to), 0);
	assert_in_range(calibration_ns(&c, 1000000000), calibration_ns(&right, 999000000),
		calibration_ns(&right, 1001000000));
#else
	(void)state;
	skip();
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nanoseconds_stay_as_they_are),
		cmocka_unit_test(conversion_is_the_exact_floor),
		cmocka_unit_test(a_rate_is_found_within_a_part_in_a_billion),
		cmocka_unit_test(nonsense_has_no_rate),
		cmocka_unit_test(a_pair_of_another_time_namespace_is_not_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
