/* SPDX-License-Identifier: MIT */
/* Regrouping loses no value, differences add up, and copies own their memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "probe/grouping.h"
#include "runtime/abi.h"
#include "tests/aggregate_sample.h"

static uint64_t total(const struct aggregate *a, enum aggregate_metric metric)
{
	uint64_t count = 0;

	for (size_t i = 0; i < a->series_count; i++)
		if (a->series[i].metric == metric)
			count += a->series[i].histogram.count;
	return count;
}

static size_t groups(const struct aggregate *a, enum aggregate_metric metric)
{
	size_t count = 0;

	for (size_t i = 0; i < a->series_count; i++)
		count += a->series[i].metric == metric;
	return count;
}

static void every_grouping_keeps_every_value(void **state)
{
	static const struct {
		enum grouping by;
		size_t wait_groups;
		size_t delay_groups;
	} rows[] = {
		{GROUPING_FULL, 6, 2},
		{GROUPING_ALL, 1, 1},
		{GROUPING_DISPATCHER, 2, 2},
		{GROUPING_CLASS, 3, 2}, /* the delay has no class */
		{GROUPING_ACTOR, 6, 2},
	};
	struct aggregate a;

	sample_fill(&a, 1);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct aggregate out = {0};

		assert_int_equal(grouping_apply(&out, &a, rows[i].by), 0);
		for (enum aggregate_metric m = 0; m < AGGREGATE_METRICS; m++)
			assert_int_equal(total(&out, m), total(&a, m));
		assert_int_equal(groups(&out, AGGREGATE_WAIT), rows[i].wait_groups);
		assert_int_equal(groups(&out, AGGREGATE_DELAY), rows[i].delay_groups);
		assert_int_equal(out.counter_count, a.counter_count);
		assert_int_equal(out.loop_count, a.loop_count);
		assert_int_equal(out.deep_count, a.deep_count);
		aggregate_fini(&out);
	}
	aggregate_fini(&a);
}

static void labels_that_do_not_group_are_gone(void **state)
{
	struct aggregate a = {0};
	struct aggregate out = {0};

	sample_count(&sample_series(&a, AGGREGATE_WAIT, "d", "c", "/a")->histogram, AGGREGATE_WAIT,
		5, 3);
	sample_count(&sample_series(&a, AGGREGATE_WAIT, "d", "c", "/b")->histogram, AGGREGATE_WAIT,
		9, 4);
	assert_int_equal(grouping_apply(&out, &a, GROUPING_CLASS), 0);
	assert_int_equal(out.series_count, 1);
	assert_null(out.series[0].dispatcher);
	assert_null(out.series[0].actor);
	assert_string_equal(out.series[0].class_name, "c");
	assert_int_equal(out.series[0].histogram.count, 7);
	assert_int_equal(out.series[0].histogram.sum, 51);
	assert_int_equal(out.series[0].histogram.max, 9);
	aggregate_fini(&out);
	assert_int_equal(grouping_apply(&out, &a, GROUPING_ACTOR), 0);
	assert_int_equal(out.series_count, 2);
	assert_string_equal(out.series[1].actor, "/b");
	aggregate_fini(&out);
	aggregate_fini(&a);
}

static void series_are_sorted_by_metric_then_labels(void **state)
{
	struct aggregate a = {0};
	struct aggregate out = {0};

	sample_values(&a, AGGREGATE_TURN, "b", "x", 1, 1);
	sample_values(&a, AGGREGATE_WAIT, "b", "y", 1, 1);
	sample_values(&a, AGGREGATE_WAIT, "a", "z", 1, 1);
	sample_values(&a, AGGREGATE_WAIT, "b", "x", 1, 1);
	assert_int_equal(grouping_apply(&out, &a, GROUPING_FULL), 0);
	assert_string_equal(out.series[0].class_name, "z");
	assert_string_equal(out.series[1].class_name, "x");
	assert_string_equal(out.series[2].class_name, "y");
	assert_int_equal(out.series[3].metric, AGGREGATE_TURN);
	aggregate_fini(&out);
	aggregate_fini(&a);
}

static void dispatcher_kind_stays_with_its_dispatcher(void **state)
{
	struct aggregate a = {0};
	struct aggregate out = {0};

	sample_values(&a, AGGREGATE_DELAY, "m", NULL, 1, 1)->dispatcher_kind = ACTOR_ABI_MICROTASK;
	assert_int_equal(grouping_apply(&out, &a, GROUPING_DISPATCHER), 0);
	assert_int_equal(out.series[0].dispatcher_kind, ACTOR_ABI_MICROTASK);
	aggregate_fini(&out);
	assert_int_equal(grouping_apply(&out, &a, GROUPING_ALL), 0);
	assert_int_equal(out.series[0].dispatcher_kind, 0);
	aggregate_fini(&out);
	aggregate_fini(&a);
}

static void difference_of_two_states_is_what_happened_between(void **state)
{
	struct aggregate before;
	struct aggregate now;
	struct aggregate recent = {0};

	sample_fill(&before, 2);
	sample_fill(&now, 5);
	assert_int_equal(grouping_subtract(&recent, &now, &before), 0);
	assert_int_equal(recent.elapsed_ns, 3000000000ull);
	assert_int_equal(recent.delivered_before, 1009 + 2 * 608);
	assert_int_equal(recent.delivered, 3 * 608);
	assert_int_equal(recent.recorded, 3 * 600);
	assert_int_equal(recent.unstamped, 3 * 5);
	assert_int_equal(aggregate_lost_total(&recent), 3 * 3);
	assert_int_equal(total(&recent, AGGREGATE_WAIT), 3 * 600);
	assert_int_equal(
		grouping_counted(&recent, AGGREGATE_YIELDS, "default", NULL, "idle"), 3 * 13);
	assert_int_equal(grouping_counted(&recent, AGGREGATE_YIELDS, NULL, NULL, NULL), 3 * 48);
	assert_int_equal(recent.loops[1].open_ns, 12000000);
	aggregate_fini(&recent);
	aggregate_fini(&before);
	aggregate_fini(&now);
}

static void series_that_are_new_count_whole(void **state)
{
	struct aggregate before = {0};
	struct aggregate now = {0};
	struct aggregate recent = {0};

	sample_values(&before, AGGREGATE_WAIT, "b", "x", 9, 2);
	sample_values(&now, AGGREGATE_WAIT, "a", "x", 9, 3);
	sample_values(&now, AGGREGATE_WAIT, "b", "x", 9, 7);
	assert_int_equal(grouping_subtract(&recent, &now, &before), 0);
	assert_int_equal(grouping_find(&recent, AGGREGATE_WAIT, "a", "x")->histogram.count, 3);
	assert_int_equal(grouping_find(&recent, AGGREGATE_WAIT, "b", "x")->histogram.count, 5);
	assert_null(grouping_find(&recent, AGGREGATE_WAIT, "c", NULL));
	aggregate_fini(&recent);
	assert_int_equal(grouping_subtract(&recent, &now, &(struct aggregate){0}), 0);
	assert_int_equal(total(&recent, AGGREGATE_WAIT), 10);
	aggregate_fini(&recent);
	aggregate_fini(&before);
	aggregate_fini(&now);
}

static void empty_aggregate_stays_empty(void **state)
{
	struct aggregate a = {0};
	struct aggregate out = {0};

	assert_int_equal(grouping_apply(&out, &a, GROUPING_CLASS), 0);
	assert_int_equal(out.series_count, 0);
	aggregate_fini(&out);
	aggregate_fini(&a);
	aggregate_fini(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_grouping_keeps_every_value),
		cmocka_unit_test(labels_that_do_not_group_are_gone),
		cmocka_unit_test(series_are_sorted_by_metric_then_labels),
		cmocka_unit_test(dispatcher_kind_stays_with_its_dispatcher),
		cmocka_unit_test(difference_of_two_states_is_what_happened_between),
		cmocka_unit_test(series_that_are_new_count_whole),
		cmocka_unit_test(empty_aggregate_stays_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
