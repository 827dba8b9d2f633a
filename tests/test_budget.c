/* SPDX-License-Identifier: MIT */
/* Restarts within a window: as many as are granted, forgotten in time, never more. */
#include "tests/lab.h"

#include "runtime/budget.h"

static const struct {
	uint32_t most;
	uint64_t window_ms;
	uint64_t at_ms[12]; /* times of restarts that are asked for, up to the first 0 */
	const char *granted;
} rows[] = {
	{1, 100, {1000, 1001, 1099, 1100, 1101}, "ynnyn"},
	{2, 100, {1000, 1050, 1099, 1100, 1101, 1149, 1150}, "yynynny"},
	{3, 100, {1000, 1000, 1000, 1000, 1099, 1100, 1100, 1100, 1100}, "yyynnyyyn"},
	{5, 1000, {1, 2, 3, 4, 5, 6, 1001, 1001, 1002}, "yyyyynyny"},
	{2, ACTOR__FOR_EVER, {1, 1000, 1000000, 1ull << 60}, "yynn"},
	{ACTOR__ANY, 10, {1, 1, 1, 1, 2}, "yyyyy"},
};

static void so_many_restarts_are_granted_within_the_window(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct actor__budget budget = {0};

		for (size_t n = 0; rows[i].at_ms[n]; n++)
			assert_int_equal(actor__budget_take(&budget, rows[i].most,
						 rows[i].window_ms, rows[i].at_ms[n]),
				rows[i].granted[n] == 'y');
		actor__budget_fini(&budget);
	}
}

/* Against a plain array of all times. */
static void a_window_slides_like_a_list_of_all_times(void **state)
{
	static uint64_t times[20000];
	uint64_t random = 42;

	(void)state;
	for (uint32_t most = 1; most < 40; most += 7) {
		struct actor__budget budget = {0};
		uint64_t now = 1;
		size_t count = 0;

		for (int n = 0; n < 20000; n++) {
			uint32_t recent = 0;

			now += random_below(&random, 20);
			for (size_t k = count; k && now - times[k - 1] < 100; k--)
				recent++;
			assert_int_equal(actor__budget_count(&budget, 100, now), recent);
			assert_int_equal(
				actor__budget_take(&budget, most, 100, now), recent < most);
			if (recent < most)
				times[count++] = now;
		}
		actor__budget_fini(&budget);
	}
}

static void restarts_in_a_row_end_with_a_long_gap(void **state)
{
	struct actor__budget budget = {0};

	(void)state;
	for (uint64_t n = 0; n < 5; n++) {
		assert_int_equal(actor__budget_streak(&budget, 100, 1000 + n * 99), n);
		budget.last_ms = 1000 + n * 99;
	}
	assert_int_equal(actor__budget_streak(&budget, 100, budget.last_ms + 99), 5);
	assert_int_equal(actor__budget_streak(&budget, 100, budget.last_ms + 100), 0);
	/* A back-off that is longer than the gap is not part of it. */
	budget.last_ms += 10000;
	assert_int_equal(actor__budget_streak(&budget, 100, budget.last_ms - 1), 1);
}

static void without_memory_restarts_are_granted_uncounted(void **state)
{
	struct actor__budget budget = {0};

	(void)state;
	lab_heap_begin();
	lab_heap_fail(1, LAB_FAIL_FROM_THEN_ON, 0);
	for (int n = 0; n < 10; n++)
		assert_true(actor__budget_take(&budget, 2, 100, 1000));
	lab_heap_fail(0, LAB_FAIL_ONCE, 0);
	assert_true(actor__budget_take(&budget, 2, 100, 1000));
	assert_true(actor__budget_take(&budget, 2, 100, 1000));
	assert_false(actor__budget_take(&budget, 2, 100, 1000));
	actor__budget_fini(&budget);
	assert_int_equal(lab_heap_blocks, 0);
	lab_heap_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(so_many_restarts_are_granted_within_the_window),
		cmocka_unit_test(a_window_slides_like_a_list_of_all_times),
		cmocka_unit_test(restarts_in_a_row_end_with_a_long_gap),
		cmocka_unit_test(without_memory_restarts_are_granted_uncounted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
