/* SPDX-License-Identifier: MIT */
/* Every line parses back as one JSON object whose numbers are those of the aggregate. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>
#include <math.h>

#include "probe/hist_json.h"
#include "probe/metric.h"
#include "tests/aggregate_sample.h"

#define LINES_MAX 64

struct lines {
	json_t *object[LINES_MAX];
	size_t count;
};

static void lines_read(struct lines *l, const struct aggregate *a, enum grouping by, double time)
{
	struct text text = {0};
	char *rest;

	memset(l, 0, sizeof(*l));
	hist_json_render(&text, a, by, time);
	assert_false(text.failed);
	assert_int_equal(text.bytes[text.used - 1], '\n');
	for (char *line = strtok_r(text.bytes, "\n", &rest); line;
		line = strtok_r(NULL, "\n", &rest)) {
		assert_true(l->count < LINES_MAX);
		l->object[l->count] = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
		assert_true(json_is_object(l->object[l->count]));
		l->count++;
	}
	text_fini(&text);
}

static void lines_fini(struct lines *l)
{
	for (size_t i = 0; i < l->count; i++)
		json_decref(l->object[i]);
}

static json_t *find(const struct lines *l, const char *metric, const char *class_name)
{
	for (size_t i = 0; i < l->count; i++) {
		const char *name = json_string_value(json_object_get(l->object[i], "metric"));
		json_t *labels = json_object_get(l->object[i], "labels");
		const char *label = json_string_value(json_object_get(labels, "class"));

		if (name && strcmp(name, metric) == 0 &&
			(!class_name || (label && strcmp(label, class_name) == 0)))
			return l->object[i];
	}
	return NULL;
}

static int64_t integer(const json_t *object, const char *key)
{
	assert_true(json_is_integer(json_object_get(object, key)));
	return json_integer_value(json_object_get(object, key));
}

/* Pairs ascend in both members and end with [null, count]. */
static void check_buckets(const json_t *object)
{
	const json_t *buckets = json_object_get(object, "buckets");
	size_t size = json_array_size(buckets);
	double last_bound = -1;
	int64_t last = 0;

	assert_true(size > 0);
	for (size_t i = 0; i < size; i++) {
		const json_t *pair = json_array_get(buckets, i);
		const json_t *bound = json_array_get(pair, 0);

		assert_int_equal(json_array_size(pair), 2);
		assert_true(json_integer_value(json_array_get(pair, 1)) >= last);
		last = json_integer_value(json_array_get(pair, 1));
		if (i + 1 == size) {
			assert_true(json_is_null(bound));
			continue;
		}
		assert_true(json_number_value(bound) > last_bound);
		last_bound = json_number_value(bound);
	}
	assert_int_equal(last, integer(object, "count"));
}

/* Incomplete, as the sample was folded in part. */
static void assert_flow(const json_t *object)
{
	const json_t *row = json_array_get(json_object_get(object, "flow"), 0);

	assert_string_equal(json_string_value(json_object_get(row, "from")), "price");
	assert_string_equal(json_string_value(json_object_get(row, "to")), "import\\eu");
	assert_int_equal(integer(row, "messages"), 17);
	assert_true(json_is_false(json_object_get(object, "complete")));
}

static void each_line_is_one_series_then_the_accounting(void **state)
{
	struct aggregate a;
	struct lines lines;

	sample_fill(&a, 1);
	lines_read(&lines, &a, GROUPING_FULL, -1);
	assert_int_equal(lines.count, a.series_count + 2);
	for (size_t i = 0; i + 2 < lines.count; i++) {
		assert_int_equal(integer(lines.object[i], "count"),
			json_object_get(json_object_get(lines.object[i], "labels"), "loop") ? 50
										      : 100);
		assert_null(json_object_get(lines.object[i], "time"));
		check_buckets(lines.object[i]);
	}
	assert_flow(lines.object[lines.count - 2]);
	assert_int_equal(integer(lines.object[lines.count - 1], "folded"), 9);
	assert_int_equal(integer(lines.object[lines.count - 1], "gaps"), 1);
	assert_int_equal(integer(lines.object[lines.count - 1], "delivered"), 608);
	assert_int_equal(integer(lines.object[lines.count - 1], "delivered_before"), 1009);
	assert_int_equal(integer(lines.object[lines.count - 1], "recorded"), 600);
	assert_int_equal(integer(lines.object[lines.count - 1], "unstamped"), 5);
	assert_int_equal(integer(lines.object[lines.count - 1], "lost"), 3);
	lines_fini(&lines);
	aggregate_fini(&a);
}

static void times_are_seconds_and_messages_are_numbers(void **state)
{
	struct aggregate a;
	struct lines lines;
	json_t *wait;
	json_t *depth;

	sample_fill(&a, 1);
	lines_read(&lines, &a, GROUPING_CLASS, 12.5);
	wait = find(&lines, "actor_mailbox_wait_seconds", "caf\xc3\xa9");
	depth = find(&lines, "actor_mailbox_depth", "import\\eu");
	assert_non_null(wait);
	assert_non_null(depth);
	assert_int_equal(integer(wait, "count"), 200);
	assert_true(fabs(json_real_value(json_object_get(wait, "sum_seconds")) - 0.00198) < 1e-12);
	assert_true(json_real_value(json_object_get(wait, "max")) == 9.9e-06);
	assert_null(json_object_get(wait, "sum"));
	assert_int_equal(integer(depth, "sum"), 14 * 200);
	assert_int_equal(integer(depth, "max"), 14);
	assert_int_equal(integer(depth, "p50"), 12);
	assert_null(json_object_get(depth, "sum_seconds"));
	for (size_t i = 0; i < lines.count; i++)
		assert_true(json_real_value(json_object_get(lines.object[i], "time")) == 12.5);
	lines_fini(&lines);
	aggregate_fini(&a);
}

/* A reader finds each bound of the table again, to the nanosecond. */
static void bounds_are_exact(void **state)
{
	struct aggregate a = {0};
	struct lines lines;
	size_t bounds = histogram_bounds(AGGREGATE_WAIT);
	json_t *buckets;

	sample_values(&a, AGGREGATE_WAIT, "d", "c", histogram_bound(AGGREGATE_WAIT, bounds - 1), 3);
	/* Only the bound below the value's bucket, the bucket, and the sum. */
	lines_read(&lines, &a, GROUPING_FULL, -1);
	assert_int_equal(json_array_size(json_object_get(lines.object[0], "buckets")), 3);
	lines_fini(&lines);

	a.series[0].histogram.buckets[0] = 1;
	a.series[0].histogram.count++;
	lines_read(&lines, &a, GROUPING_FULL, -1);
	buckets = json_object_get(lines.object[0], "buckets");
	assert_int_equal(json_array_size(buckets), bounds + 1);
	for (size_t i = 0; i < bounds; i++) {
		double seconds = json_number_value(json_array_get(json_array_get(buckets, i), 0));

		assert_int_equal(llround(seconds * 1e9), histogram_bound(AGGREGATE_WAIT, i));
	}
	lines_fini(&lines);
	aggregate_fini(&a);
}

static void labels_of_any_text_survive(void **state)
{
	static const char *const names[] = {
		"\"", "\\", "a\nb\tc\x01", "</x>", "\xf0\x9f\x90\x91", ""};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct aggregate a = {0};
		struct lines lines;

		sample_values(&a, AGGREGATE_HANDLER, "d", names[i], 5, 1);
		lines_read(&lines, &a, GROUPING_FULL, -1);
		assert_int_equal(lines.count, 2);
		assert_non_null(find(&lines, "actor_message_handler_seconds", names[i]));
		lines_fini(&lines);
		aggregate_fini(&a);
	}
}

static void nothing_seen_is_one_line(void **state)
{
	struct aggregate a = {0};
	struct lines lines;

	sample_values(&a, AGGREGATE_HANDLER, "d", "c", 5, 0);
	lines_read(&lines, &a, GROUPING_FULL, -1);
	assert_int_equal(lines.count, 1);
	assert_int_equal(integer(lines.object[0], "delivered"), 0);
	lines_fini(&lines);
	aggregate_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_line_is_one_series_then_the_accounting),
		cmocka_unit_test(times_are_seconds_and_messages_are_numbers),
		cmocka_unit_test(bounds_are_exact),
		cmocka_unit_test(labels_of_any_text_survive),
		cmocka_unit_test(nothing_seen_is_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
