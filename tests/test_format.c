/* SPDX-License-Identifier: MIT */
/* The three formats say the same, also of hostile names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>

#include "probe/escape.h"
#include "probe/format.h"
#include "probe/prometheus.pb-c.h"
#include "tests/aggregate_sample.h"
#include "tests/hostile.h"

#define FAMILIES_MAX 64

static const struct snapshot_self self = {
	.version = "1.2.3", .cpu_ns = 1500000000, .resident_bytes = 4096};

static struct text rendered(enum format format, struct aggregate *a)
{
	const struct snapshot_target target = {"4711", a->command, NULL, NULL, NULL};
	const struct snapshot_part part = {.aggregate = a,
		.targets = &target,
		.target_count = 1,
		.start_unix_ns = 1700000000123456789};
	struct snapshot s;
	struct text t = {0};

	assert_int_equal(snapshot_build(&s, &part, 1, &self), 0);
	format_render(format, &t, &s);
	snapshot_fini(&s);
	assert_false(t.failed);
	return t;
}

/* ---- protobuf ---- */

struct families {
	Prom__Family *list[FAMILIES_MAX];
	size_t count;
};

static void families_read(struct families *f, struct aggregate *a)
{
	struct text t = rendered(FORMAT_PROTOBUF, a);
	size_t at = 0;

	f->count = 0;
	while (at < t.used) {
		uint64_t bytes = 0;
		unsigned int shift = 0;

		do
			bytes |= (uint64_t)(t.bytes[at] & 0x7f) << shift, shift += 7;
		while (t.bytes[at++] & 0x80);
		assert_true(bytes <= t.used - at);
		assert_true(f->count < FAMILIES_MAX);
		f->list[f->count] =
			prom__family__unpack(NULL, bytes, (const uint8_t *)t.bytes + at);
		assert_non_null(f->list[f->count++]);
		at += bytes;
	}
	text_fini(&t);
}

static void families_free(struct families *f)
{
	for (size_t i = 0; i < f->count; i++)
		prom__family__free_unpacked(f->list[i], NULL);
}

static const Prom__Metric *metric_find(
	const struct families *f, const char *name, const char *label, const char *value)
{
	for (size_t i = 0; i < f->count; i++) {
		if (strcmp(f->list[i]->name, name))
			continue;
		for (size_t k = 0; k < f->list[i]->n_metric; k++) {
			const Prom__Metric *m = f->list[i]->metric[k];

			for (size_t l = 0; l < m->n_label; l++)
				if (strcmp(m->label[l]->name, label) == 0 &&
					strcmp(m->label[l]->value, value) == 0)
					return m;
			if (!label[0])
				return m;
		}
	}
	return NULL;
}

static void protobuf_has_each_family_with_its_type(void **state)
{
	static const Prom__Type types[] = {[METRIC_HISTOGRAM] = PROM__TYPE__HISTOGRAM,
		[METRIC_COUNTER] = PROM__TYPE__COUNTER,
		[METRIC_GAUGE] = PROM__TYPE__GAUGE};
	struct families f;
	struct aggregate a;

	sample_fill(&a, 1);
	families_read(&f, &a);
	assert_int_equal(f.count, metric_count);
	for (size_t i = 0; i < metric_count; i++) {
		assert_string_equal(f.list[i]->name, metrics[i].name);
		assert_string_equal(f.list[i]->help, metrics[i].help);
		assert_int_equal(f.list[i]->type, types[metrics[i].type]);
		for (size_t k = 0; k < f.list[i]->n_metric; k++) {
			const Prom__Metric *m = f.list[i]->metric[k];

			assert_int_equal(!!m->histogram, metrics[i].type == METRIC_HISTOGRAM);
			assert_int_equal(!!m->counter, metrics[i].type == METRIC_COUNTER);
			assert_int_equal(!!m->gauge, metrics[i].type == METRIC_GAUGE);
		}
	}
	assert_true(metric_find(&f, "actorprobe_records_total", "", "")->counter->value == 600);
	assert_true(metric_find(&f, "actorprobe_cpu_seconds_total", "", "")->counter->value == 1.5);
	assert_int_equal(
		metric_find(&f, "actorprobe_records_total", "", "")->counter->created->nanos,
		123456789);
	families_free(&f);
	aggregate_fini(&a);
}

static void native_buckets_hold_what_the_classic_ones_do(void **state)
{
	struct aggregate a = {0};
	struct aggregate_series *s;
	const Prom__Histogram *h;
	struct families f;
	/* A gap of two is written out, a longer one begins another span. */
	const int64_t deltas[] = {3, 1, -4, 0, 5};

	s = sample_values(&a, AGGREGATE_WAIT, "d", "c", 0, 2);
	sample_count(&s->histogram, AGGREGATE_WAIT, 1, 3);
	sample_count(&s->histogram, AGGREGATE_WAIT, 1000000000, 4);
	sample_count(&s->histogram, AGGREGATE_WAIT, 1200000000, 5);
	families_read(&f, &a);
	h = metric_find(&f, "actor_mailbox_wait_seconds", "class", "c")->histogram;
	assert_int_equal(h->sample_count, 14);
	assert_int_equal(h->schema, 3);
	assert_int_equal(h->zero_count, 2);
	assert_true(h->zero_threshold == ldexp(1, -30));
	assert_int_equal(h->n_positive_span, 2);
	assert_int_equal(h->positive_span[0]->offset, -239);
	assert_int_equal(h->positive_span[0]->length, 1);
	assert_int_equal(h->positive_span[1]->offset, 238);
	/* 1.2 s lies in bucket 3, 2^(2/8) = 1.189 to 2^(3/8) = 1.297 s, two empty ones before it.
	 */
	assert_int_equal(h->positive_span[1]->length, 4);
	assert_int_equal(h->n_positive_delta, 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(h->positive_delta[i], deltas[i]);
	assert_int_equal(h->n_bucket, 23);
	assert_int_equal(h->bucket[0]->cumulative_count, 5);
	assert_true(h->bucket[0]->upper_bound == 1e-6);
	assert_int_equal(h->bucket[18]->cumulative_count, 9);
	assert_true(h->bucket[18]->upper_bound == 1);
	assert_true(isinf(h->bucket[22]->upper_bound));
	assert_int_equal(h->bucket[22]->cumulative_count, 14);
	families_free(&f);
	aggregate_fini(&a);
}

static void an_empty_histogram_of_times_is_native(void **state)
{
	struct aggregate a = {0};
	const Prom__Histogram *h;
	struct families f;

	sample_values(&a, AGGREGATE_WAIT, "d", "c", 0, 0);
	sample_values(&a, AGGREGATE_DEPTH, "d", "c", 7, 3);
	families_read(&f, &a);
	h = metric_find(&f, "actor_mailbox_wait_seconds", "class", "c")->histogram;
	assert_int_equal(h->n_positive_span, 1);
	assert_int_equal(h->positive_span[0]->length, 0);
	assert_true(h->has_schema && h->zero_threshold > 0);
	/* The bounds for messages are none of 2^(i/8). */
	h = metric_find(&f, "actor_mailbox_depth", "class", "c")->histogram;
	assert_false(h->has_schema);
	assert_int_equal(h->n_positive_span, 0);
	assert_int_equal(h->n_bucket, 14);
	families_free(&f);
	aggregate_fini(&a);
}

/* ---- OpenMetrics ---- */

static size_t count_of(const char *text, const char *what)
{
	size_t count = 0;

	while ((text = strstr(text, what)))
		count++, text++;
	return count;
}

static void openmetrics_has_units_names_without_suffix_and_an_end(void **state)
{
	struct aggregate a;
	struct text om, plain;

	sample_fill(&a, 1);
	om = rendered(FORMAT_OPENMETRICS, &a);
	plain = rendered(FORMAT_TEXT, &a);
	assert_string_equal(om.bytes + om.used - 7, "\n# EOF\n");
	assert_int_equal(count_of(om.bytes, "# EOF"), 1);
	assert_int_equal(count_of(om.bytes, "# TYPE "), metric_count);
	assert_int_equal(count_of(om.bytes, "# HELP "), metric_count);
	assert_non_null(strstr(om.bytes, "# TYPE actor_mailbox_wait_seconds histogram\n"
					 "# UNIT actor_mailbox_wait_seconds seconds\n"
					 "# HELP actor_mailbox_wait_seconds "));
	assert_non_null(strstr(om.bytes, "# TYPE actor_created counter\n# HELP"));
	assert_non_null(strstr(om.bytes, "\nactor_created_total{"));
	assert_non_null(strstr(om.bytes, "# UNIT actor_loop_busy_seconds seconds\n"));
	assert_non_null(strstr(om.bytes, "# TYPE actorprobe_build info\n# HELP"));
	assert_non_null(strstr(om.bytes, "\nactorprobe_build_info{version=\"1.2.3\"} 1\n"));
	for (const char *at = om.bytes; (at = strstr(at, "# UNIT ")); at++) {
		char name[128], unit[32];

		assert_int_equal(sscanf(at, "# UNIT %127s %31s", name, unit), 2);
		assert_string_equal(name + strlen(name) - strlen(unit), unit);
	}
	/* All lines that are no comments are those of the text format. */
	for (char *line = strtok(om.bytes, "\n"); line; line = strtok(NULL, "\n"))
		if (*line != '#')
			assert_non_null(strstr(plain.bytes, line));
	text_fini(&om);
	text_fini(&plain);
	aggregate_fini(&a);
}

static void every_counter_ends_in_total_and_nothing_else_does(void **state)
{
	for (size_t i = 0; i < metric_count; i++) {
		size_t bytes = strlen(metrics[i].name);
		bool total = bytes > 6 && strcmp(metrics[i].name + bytes - 6, "_total") == 0;
		bool info = bytes > 5 && strcmp(metrics[i].name + bytes - 5, "_info") == 0;

		assert_int_equal(total, metrics[i].type == METRIC_COUNTER);
		assert_int_equal(info, metric_is_info(&metrics[i]));
	}
}

static void whole_bounds_are_spelled_as_floats(void **state)
{
	struct aggregate a;

	sample_fill(&a, 1);
	for (enum format f = FORMAT_TEXT; f <= FORMAT_OPENMETRICS; f++) {
		struct text t = rendered(f, &a);

		for (const char *at = t.bytes; (at = strstr(at, "le=\"")); at++)
			assert_true(strncmp(at + 4, "+Inf", 4) == 0 ||
				    strcspn(at + 4, ".e") < strcspn(at + 4, "\""));
		assert_non_null(strstr(t.bytes, "le=\"1.0\""));
		assert_non_null(strstr(t.bytes, "le=\"10000.0\""));
		assert_non_null(strstr(t.bytes, "le=\"0.005\""));
		assert_non_null(strstr(t.bytes, "le=\"1e-06\""));
		text_fini(&t);
	}
	aggregate_fini(&a);
}

/* ---- hostile names ---- */

/* What a label value means in the text formats. */
static char *unescape(const char *at)
{
	char *value = malloc(strlen(at) + 1), *to = value;

	for (; *at != '"'; at++) {
		char c = *at;

		assert_true((unsigned char)c >= ' ');
		if (c == '\\') {
			c = *++at;
			assert_true(c == '\\' || c == '"' || c == 'n');
			c = c == 'n' ? '\n' : c;
		}
		*to++ = c;
	}
	*to = '\0';
	return value;
}

static void check_hostile(size_t i)
{
	char *name = hostile_name(i), *shown = escape_copy(name, strlen(name)), again[20000];
	struct aggregate a = {0};
	struct families f;

	/* Shown text is valid: escaping it once more changes nothing. */
	escape_text(again, sizeof(again), shown, strlen(shown));
	assert_string_equal(again, shown);
	sample_values(&a, AGGREGATE_WAIT, shown, shown, 1000, 3);
	for (enum format format = FORMAT_TEXT; format <= FORMAT_OPENMETRICS; format++) {
		struct text t = rendered(format, &a);
		const char *at = strstr(t.bytes, "\nactor_mailbox_wait_seconds_count{");
		char *value;

		assert_non_null(at);
		value = unescape(strstr(at, ",class=\"") + 8);
		assert_string_equal(value, shown);
		/* A bucket a bound, one without, sum, count: no name makes a line more. */
		assert_int_equal(count_of(t.bytes, "\nactor_mailbox_wait_seconds_"), 25);
		assert_null(strstr(t.bytes, "\nfake"));
		free(value);
		text_fini(&t);
	}
	families_read(&f, &a);
	assert_int_equal(metric_find(&f, "actor_mailbox_wait_seconds", "class", shown)
				 ->histogram->sample_count,
		3);
	families_free(&f);
	aggregate_fini(&a);
	free(shown);
	free(name);
}

static void hostile_names_arrive_escaped_in_each_format(void **state)
{
	for (size_t i = 0; i < HOSTILE_COUNT; i++)
		check_hostile(i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(protobuf_has_each_family_with_its_type),
		cmocka_unit_test(native_buckets_hold_what_the_classic_ones_do),
		cmocka_unit_test(an_empty_histogram_of_times_is_native),
		cmocka_unit_test(openmetrics_has_units_names_without_suffix_and_an_end),
		cmocka_unit_test(every_counter_ends_in_total_and_nothing_else_does),
		cmocka_unit_test(whole_bounds_are_spelled_as_floats),
		cmocka_unit_test(hostile_names_arrive_escaped_in_each_format),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
