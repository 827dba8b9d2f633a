/* SPDX-License-Identifier: MIT */
/* The printed histograms: rows, stars, groups, notes and the accounting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "probe/hist_text.h"
#include "runtime/abi.h"
#include "tests/aggregate_sample.h"

static struct text text;

static const char *render(const struct aggregate *a, enum grouping by, bool every)
{
	text_clear(&text);
	hist_text_render(&text, a, by, every);
	assert_false(text.failed);
	return text.bytes;
}

static unsigned int occurrences(const char *where, const char *what)
{
	unsigned int count = 0;

	while ((where = strstr(where, what))) {
		count++;
		where += strlen(what);
	}
	return count;
}

static void one_histogram_reads_like_this(void **state)
{
	struct aggregate a = {.delivered = 31, .recorded = 30, .unstamped = 1};
	static const char wanted[] =
		"mailbox wait\n"
		"  count 30  p50 1.73 us  p90 4.66 us  p99 5 us  p99.9 5 us  max 5 us\n"
		"      1 us -> 2 us     : 20         |****************************************|\n"
		"      2 us -> 5 us     : 10         |********************                    |\n"
		"\n"
		"handler time\n  count 0\n\n"
		"dispatcher queue delay\n  count 0\n\n"
		"delivered 31 = recorded 30 + unstamped 1 + lost 0\n";
	const char *read;

	sample_values(&a, AGGREGATE_WAIT, "d", "c", 1700, 20);
	sample_count(&a.series[0].histogram, AGGREGATE_WAIT, 5000, 10);
	read = render(&a, GROUPING_FULL, false);
	/* The quantiles are tested elsewhere; here only their place. */
	assert_int_equal(strncmp(read, wanted, strlen("mailbox wait\n  count 30  p50 ")), 0);
	assert_string_equal(strstr(read, "      1 us"), strstr(wanted, "      1 us"));
	aggregate_fini(&a);
}

static void groups_are_named_and_three_metrics_are_the_rule(void **state)
{
	struct aggregate a;
	const char *read;

	sample_fill(&a, 1);
	read = render(&a, GROUPING_FULL, false);
	assert_int_equal(occurrences(read, "  count "), 3);
	assert_null(strstr(read, "mailbox depth"));
	read = render(&a, GROUPING_FULL, true);
	assert_int_equal(occurrences(read, "  count "), AGGREGATE_METRICS);
	assert_non_null(strstr(read, "loop gap\n"));
	assert_non_null(strstr(read, "messages per turn\n"));
	read = render(&a, GROUPING_CLASS, false);
	assert_int_equal(occurrences(read, "mailbox wait: class "), 3);
	assert_int_equal(occurrences(read, "dispatcher queue delay: dispatcher "), 2);
	read = render(&a, GROUPING_ACTOR, false);
	assert_non_null(strstr(read, "handler time: dispatcher default, class price\n"));
	assert_non_null(strstr(read, "+ lost 3 (copy 3)\n"));
	aggregate_fini(&a);
}

static void every_value_is_in_one_row(void **state)
{
	struct aggregate a = {0};
	struct aggregate_series *s = sample_series(&a, AGGREGATE_HANDLER, "d", "c", NULL);
	uint64_t total = 0;
	const char *read;

	for (uint64_t ns = 1; ns < 1ull << 45; ns *= 3)
		sample_count(&s->histogram, AGGREGATE_HANDLER, ns, 7);
	read = render(&a, GROUPING_FULL, false);
	for (const char *row = read; (row = strstr(row, ": ")); row++)
		total += strtoull(row + 2, NULL, 10);
	assert_int_equal(total, s->histogram.count);
	assert_non_null(strstr(read, "-> more"));
	aggregate_fini(&a);
}

static void microtask_dispatcher_gets_a_note(void **state)
{
	struct aggregate a = {0};

	sample_values(&a, AGGREGATE_DELAY, "fast", NULL, 5, 3)->dispatcher_kind =
		ACTOR_ABI_MICROTASK;
	sample_values(&a, AGGREGATE_DELAY, "slow", NULL, 5, 3)->dispatcher_kind = ACTOR_ABI_HYBRID;
	assert_int_equal(occurrences(render(&a, GROUPING_FULL, false), "proves no headroom"), 1);
	assert_non_null(strstr(text.bytes, "note: dispatcher fast "));
	a.series[0].histogram.count = 0;
	assert_null(strstr(render(&a, GROUPING_DISPATCHER, false), "note:"));
	a.series_overflow = 9;
	assert_non_null(strstr(render(&a, GROUPING_DISPATCHER, false), "raise --max-series"));
	aggregate_fini(&a);
}

static int release(void **state)
{
	text_fini(&text);
	return 0;
}

static void a_turn_that_does_not_end_gets_a_note(void **state)
{
	struct aggregate a = {0};

	sample_loop(&a, 1, NULL, NULL, NULL, 0);
	sample_loop(&a, 2, "/user/quick", "hybrid", "quick", 99999999);
	assert_null(strstr(render(&a, GROUPING_FULL, false), "note:"));
	sample_loop(&a, 3, "/user/stuck", "hybrid", "greedy", 2000000000);
	assert_non_null(strstr(render(&a, GROUPING_FULL, false),
		"/3 has been in one turn of /user/stuck (class greedy) for at least 2 s; it is "
		"counted when it ends\n"));
	assert_int_equal(occurrences(text.bytes, "note:"), 1);
	aggregate_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_histogram_reads_like_this),
		cmocka_unit_test(groups_are_named_and_three_metrics_are_the_rule),
		cmocka_unit_test(every_value_is_in_one_row),
		cmocka_unit_test(microtask_dispatcher_gets_a_note),
		cmocka_unit_test(a_turn_that_does_not_end_gets_a_note),
	};

	return cmocka_run_group_tests(tests, NULL, release);
}
