/* SPDX-License-Identifier: MIT */
/* The table of metric families obeys the naming rules that scrapers and dashboards rely on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "probe/metric.h"

static bool ends_with(const char *name, const char *end)
{
	size_t bytes = strlen(name);

	return bytes >= strlen(end) && strcmp(name + bytes - strlen(end), end) == 0;
}

static void names_are_unique_and_carry_their_unit(void **state)
{
	for (size_t i = 0; i < metric_count; i++) {
		const struct metric *m = &metrics[i];

		assert_int_equal(strspn(m->name, "abcdefghijklmnopqrstuvwxyz_"), strlen(m->name));
		assert_int_equal(ends_with(m->name, "_total"), m->type == METRIC_COUNTER);
		if (strcmp(m->unit, "seconds") == 0)
			assert_non_null(strstr(m->name, "_seconds"));
		if (strcmp(m->unit, "info") == 0)
			assert_true(ends_with(m->name, "_info"));
		assert_true(ends_with(m->help, "."));
		assert_null(strpbrk(m->help, "\\\n"));
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(m->name, metrics[j].name);
	}
}

static void every_aggregate_metric_has_its_row(void **state)
{
	for (enum aggregate_metric i = 0; i < AGGREGATE_METRICS; i++) {
		const struct metric *m = metric_of(i);

		assert_int_equal(m->type, METRIC_HISTOGRAM);
		assert_int_equal(m->index, i);
		assert_non_null(m->title);
		assert_string_equal(metric_type_name(m->type), "histogram");
	}
	assert_string_equal(metric_of(AGGREGATE_DELAY)->labels, "dispatcher");
}

static void every_reason_has_a_name_of_its_own(void **state)
{
	for (enum aggregate_lost i = 0; i < AGGREGATE_LOST_REASONS; i++) {
		assert_string_not_equal(metric_lost_reason(i), "other");
		for (enum aggregate_lost j = 0; j < i; j++)
			assert_string_not_equal(metric_lost_reason(i), metric_lost_reason(j));
	}
	assert_string_equal(metric_lost_reason(AGGREGATE_LOST_REASONS), "other");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_unique_and_carry_their_unit),
		cmocka_unit_test(every_aggregate_metric_has_its_row),
		cmocka_unit_test(every_reason_has_a_name_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
