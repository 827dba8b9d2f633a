/* SPDX-License-Identifier: MIT */
/* The table of metric families obeys the naming rules that scrapers and dashboards rely on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
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

/* Name, type and labels as the manual page has them, from the directory of the sources. */
static void manual_page_lists_the_table(void **state)
{
	static char manual[65536];
	FILE *file = fopen("probe/actorprobe.1", "r");
	size_t used;

	assert_non_null(file);
	used = fread(manual, 1, sizeof(manual) - 1, file);
	fclose(file);
	manual[used] = '\0';
	for (size_t i = 0; i < metric_count; i++) {
		const char *row = strstr(manual, metrics[i].name);
		char type[16], labels[64] = "", wanted[64] = "";

		while (row && row[-1] != '\n')
			row = strstr(row + 1, metrics[i].name);
		assert_non_null(row);
		sscanf(row, "%*s %15s%63[^\n]", type, labels);
		assert_string_equal(type, metric_type_name(metrics[i].type));
		for (size_t at = 0, used = 0; labels[at]; at++)
			if (labels[at] != ' ')
				wanted[used++] = labels[at];
		assert_string_equal(wanted, metrics[i].labels);
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
		cmocka_unit_test(manual_page_lists_the_table),
		cmocka_unit_test(every_aggregate_metric_has_its_row),
		cmocka_unit_test(every_reason_has_a_name_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
