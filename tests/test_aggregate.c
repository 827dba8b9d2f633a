/* SPDX-License-Identifier: MIT */
/* The aggregate owns each of its strings and arrays; sums of lost records. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/aggregate_sample.h"

/* A leak or a double release is the sanitizer's to find. */
static void everything_is_released_once(void **state)
{
	static const struct aggregate zero;
	struct aggregate a;

	sample_fill(&a, 3);
	sample_count(&sample_series(&a, AGGREGATE_WAIT, "d", "c", "/user/a")->histogram,
		AGGREGATE_WAIT, 1, 1);
	aggregate_fini(&a);
	assert_memory_equal(&a, &zero, sizeof(a));
	aggregate_fini(&a);
	aggregate_fini(NULL);
}

static void lost_total_sums_every_reason(void **state)
{
	struct aggregate a = {0};

	for (size_t i = 0; i < AGGREGATE_LOST_REASONS; i++)
		a.lost[i] = 1ull << (8 * i);
	assert_int_equal(aggregate_lost_total(&a), 0x01010101);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_is_released_once),
		cmocka_unit_test(lost_total_sums_every_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
