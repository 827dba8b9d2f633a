/* SPDX-License-Identifier: MIT */
/* The page obeys the text format: a small checker reads it the way a scraper would. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "probe/exposition.h"
#include "probe/metric.h"
#include "tests/aggregate_sample.h"

#define SAMPLES_MAX 4096

/* One sample line: its name, its labels as text without `le`, `le`, its value. */
struct sample {
	char name[96];
	char labels[256];
	char le[32];
	double value;
};

struct page {
	struct sample samples[SAMPLES_MAX];
	size_t count;
	char families[64][96]; /* in order of their TYPE lines */
	char types[64][16];
	size_t family_count;
};

static struct page page;

static const struct snapshot_self self = {
	.version = "1.2.3", .cpu_ns = 1500000000, .resident_bytes = 4096};

/* Reads name="value" pairs with escapes up to the closing brace; returns what follows it. */
static const char *read_labels(const char *at, struct sample *s)
{
	size_t used = 0;

	if (*at != '{')
		return at;
	do {
		const char *name = ++at;
		const char *value;

		while (isalnum((unsigned char)*at) || *at == '_')
			at++;
		assert_true(at > name && at[0] == '=' && at[1] == '"');
		value = at += 2;
		for (; *at != '"'; at++) {
			assert_true(*at && *at != '\n');
			if (*at == '\\') {
				at++;
				assert_true(*at == '\\' || *at == '"' || *at == 'n');
			}
		}
		if (strncmp(name, "le=", 3) == 0)
			snprintf(s->le, sizeof(s->le), "%.*s", (int)(at - value), value);
		else
			used += (size_t)snprintf(s->labels + used, sizeof(s->labels) - used,
				"%.*s,", (int)(at + 1 - name), name);
		at++;
	} while (*at == ',');
	assert_int_equal(*at, '}');
	return at + 1;
}

static void read_sample(const char *line)
{
	struct sample *s = &page.samples[page.count++];
	const char *at = line;
	const char *family = page.families[page.family_count - 1];
	char *end;

	assert_true(page.count < SAMPLES_MAX && page.family_count > 0);
	memset(s, 0, sizeof(*s));
	while (isalnum((unsigned char)*at) || *at == '_')
		at++;
	snprintf(s->name, sizeof(s->name), "%.*s", (int)(at - line), line);
	assert_int_equal(strncmp(s->name, family, strlen(family)), 0);
	at = read_labels(at, s);
	assert_int_equal(*at, ' ');
	s->value = strtod(at + 1, &end);
	assert_true(end > at + 1 && *end == '\0');
}

static void read_comment(const char *line)
{
	char name[96], type[16];

	if (sscanf(line, "# TYPE %95s %15s", name, type) != 2) {
		assert_int_equal(strncmp(line, "# HELP ", 7), 0);
		return;
	}
	for (size_t i = 0; i < page.family_count; i++)
		assert_string_not_equal(page.families[i], name);
	assert_true(page.family_count < 64);
	strcpy(page.families[page.family_count], name);
	strcpy(page.types[page.family_count++], type);
}

static void page_read(struct aggregate *a)
{
	struct snapshot_target target = {"4711", a->command, NULL, NULL, NULL};
	struct snapshot_part part = {.aggregate = a, .targets = &target, .target_count = 1};
	struct snapshot snapshot;
	struct text text = {0};
	char *rest;

	memset(&page, 0, sizeof(page));
	assert_int_equal(snapshot_build(&snapshot, &part, 1, &self), 0);
	exposition_render(&text, &snapshot);
	snapshot_fini(&snapshot);
	assert_false(text.failed);
	assert_int_equal(strlen(text.bytes), text.used);
	assert_int_equal(text.bytes[text.used - 1], '\n');
	assert_null(strstr(text.bytes, "\n\n"));
	for (char *line = strtok_r(text.bytes, "\n", &rest); line;
		line = strtok_r(NULL, "\n", &rest)) {
		if (*line == '#')
			read_comment(line);
		else
			read_sample(line);
	}
	text_fini(&text);
}

static const struct sample *find(const char *name, const char *labels)
{
	for (size_t i = 0; i < page.count; i++)
		if (strcmp(page.samples[i].name, name) == 0 &&
			strcmp(page.samples[i].labels, labels) == 0)
			return &page.samples[i];
	return NULL;
}

static double value_of(const char *name, const char *labels)
{
	const struct sample *s = find(name, labels);

	assert_non_null(s);
	return s->value;
}

/* Buckets of one series follow one another, ascend in both, and end with +Inf = _count. */
static void buckets_ascend_and_end_with_the_count(void **state)
{
	struct aggregate a;
	size_t infinite = 0;

	sample_fill(&a, 3);
	/* A value beyond the last bound is in +Inf only. */
	sample_count(&a.series[0].histogram, a.series[0].metric, 20000000000ull, 5);
	page_read(&a);
	for (size_t i = 0; i < page.count; i++) {
		const struct sample *s = &page.samples[i];
		const struct sample *before = i ? s - 1 : s;
		char count[100];

		if (!s->le[0])
			continue;
		if (before != s && before->le[0] && strcmp(before->labels, s->labels) == 0 &&
			strcmp(before->name, s->name) == 0) {
			assert_true(strtod(s->le, NULL) > strtod(before->le, NULL));
			assert_true(s->value >= before->value);
		}
		if (strcmp(s->le, "+Inf"))
			continue;
		infinite++;
		snprintf(count, sizeof(count), "%.*s_count",
			(int)(strlen(s->name) - strlen("_bucket")), s->name);
		assert_true(value_of(count, s->labels) == s->value);
	}
	assert_int_equal(infinite, a.series_count);
	aggregate_fini(&a);
}

static void no_sample_appears_twice(void **state)
{
	struct aggregate a;

	sample_fill(&a, 1);
	/* The same labels again, as two actors of one class would give. */
	sample_values(&a, AGGREGATE_WAIT, "default", "price", 77, 1);
	sample_counter(&a, AGGREGATE_DELIVERED, "other", "price", NULL, 1);
	page_read(&a);
	for (size_t i = 0; i < page.count; i++)
		for (size_t j = i + 1; j < page.count; j++)
			assert_false(strcmp(page.samples[i].name, page.samples[j].name) == 0 &&
				     strcmp(page.samples[i].labels, page.samples[j].labels) == 0 &&
				     strcmp(page.samples[i].le, page.samples[j].le) == 0);
	assert_true(value_of("actor_mailbox_wait_seconds_count",
			    "dispatcher=\"default\",class=\"price\",") == 101);
	assert_true(value_of("actor_messages_delivered_total", "class=\"price\",") == 201);
	aggregate_fini(&a);
}

static void families_are_those_of_the_table(void **state)
{
	struct aggregate a;

	sample_fill(&a, 1);
	page_read(&a);
	assert_int_equal(page.family_count, metric_count);
	for (size_t i = 0; i < metric_count; i++) {
		assert_string_equal(page.families[i], metrics[i].name);
		assert_string_equal(page.types[i], metric_type_name(metrics[i].type));
	}
	aggregate_fini(&a);
}

static void values_are_those_of_the_aggregate(void **state)
{
	struct aggregate a;
	const char *escaped = "dispatcher=\"fast \\\"lane\\\"\",class=\"import\\\\eu\",";

	sample_fill(&a, 1);
	page_read(&a);
	assert_true(value_of("actor_mailbox_wait_seconds_sum", escaped) == 0.00066);
	assert_true(value_of("actor_turn_messages_sum", escaped) == 1400);
	assert_true(value_of("actor_dispatcher_yields_total",
			    "dispatcher=\"default\",reason=\"idle\",") == 13);
	assert_true(value_of("actorprobe_records_total", "") == 600);
	assert_true(value_of("actorprobe_unstamped_total", "") == 5);
	assert_true(value_of("actorprobe_lost_total", "reason=\"copy\",") == 3);
	assert_true(value_of("actorprobe_attached", "") == 1);
	assert_true(value_of("actorprobe_attach_seconds", "") == 0.012345678);
	assert_true(value_of("actorprobe_cpu_seconds_total", "") == 1.5);
	assert_true(value_of("actorprobe_resident_memory_bytes", "") == 4096);
	assert_true(value_of("actorprobe_build_info", "version=\"1.2.3\",") == 1);
	assert_true(value_of("actorprobe_target_info", "pid=\"4711\",command=\"shop\",") == 1);
	/* Two loops run the same class: the longer one counts. */
	assert_true(value_of("actor_turn_open_seconds",
			    "dispatcher=\"default\",class=\"price\",") == 0.024);
	/* Of two systems with the same path the longer mailbox, of a class the oldest message. */
	assert_true(value_of("actor_mailbox_size", "class=\"price\",path=\"/user/eu\",") == 10007);
	assert_true(value_of("actor_mailbox_size", "class=\"price\",path=\"/user/us\",") == 30011);
	assert_true(value_of("actor_mailbox_size",
			    "class=\"import\\\\eu\",path=\"/user/\\\\x0a\",") == 10009);
	assert_true(value_of("actor_oldest_message_seconds",
			    "dispatcher=\"default\",class=\"price\",") == 2.5);
	assert_null(find("actor_oldest_message_seconds",
		"dispatcher=\"default\",class=\"import\\\\eu\","));
	aggregate_fini(&a);
}

static void a_target_that_ended_is_not_attached(void **state)
{
	struct aggregate a;

	sample_fill(&a, 1);
	a.alive = false;
	page_read(&a);
	assert_true(value_of("actorprobe_attached", "") == 0);
	for (size_t i = 0; i < page.count; i++)
		assert_true(strcmp(page.samples[i].name, "actor_turn_open_seconds") &&
			    strcmp(page.samples[i].name, "actor_mailbox_size") &&
			    strcmp(page.samples[i].name, "actor_oldest_message_seconds"));
	assert_non_null(find(
		"actor_mailbox_wait_seconds_count", "dispatcher=\"default\",class=\"price\","));
	aggregate_fini(&a);
}

static void a_bound_counts_in_its_bucket_and_more_in_the_next(void **state)
{
	struct aggregate a = {0};

	sample_values(&a, AGGREGATE_WAIT, "d", "c", 1000, 3);
	sample_count(&a.series[0].histogram, AGGREGATE_WAIT, 1001, 4);
	page_read(&a);
	assert_string_equal(page.samples[0].le, "1e-06");
	assert_true(page.samples[0].value == 3);
	assert_string_equal(page.samples[1].le, "2e-06");
	assert_true(page.samples[1].value == 7);
	assert_string_equal(page.samples[21].le, "10.0");
	aggregate_fini(&a);
}

static void a_series_without_labels_is_well_formed(void **state)
{
	struct aggregate a = {0};

	sample_values(&a, AGGREGATE_DEPTH, NULL, NULL, 5, 3);
	page_read(&a);
	assert_string_equal(page.samples[2].le, "5.0");
	assert_string_equal(page.samples[2].labels, "");
	assert_true(value_of("actor_mailbox_depth_count", "") == 3);
	aggregate_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_ascend_and_end_with_the_count),
		cmocka_unit_test(no_sample_appears_twice),
		cmocka_unit_test(families_are_those_of_the_table),
		cmocka_unit_test(values_are_those_of_the_aggregate),
		cmocka_unit_test(a_target_that_ended_is_not_attached),
		cmocka_unit_test(a_bound_counts_in_its_bucket_and_more_in_the_next),
		cmocka_unit_test(a_series_without_labels_is_well_formed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
