/* SPDX-License-Identifier: MIT */
/* The request of a push: its resources, and the same numbers as in the other formats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <zlib.h>

#include "probe/escape.h"
#include "probe/gzip.h"
#include "probe/otlp.h"
#include "probe/otlp.pb-c.h"
#include "tests/aggregate_sample.h"
#include "tests/hostile.h"

static const struct snapshot_self self = {.version = "1.2.3", .cpu_ns = 1500000000};
static const struct otlp_source source = {.service = "actorprobe",
	.host = "host",
	.version = "1.2.3",
	.start_unix_ns = 11,
	.now_unix_ns = 99};

static Otlp__Request *rendered(
	const struct snapshot_part *parts, size_t count, const struct otlp_source *from)
{
	struct snapshot s;
	struct text t = {0};
	Otlp__Request *r;

	assert_int_equal(snapshot_build(&s, parts, count, &self), 0);
	otlp_render(&t, &s, from);
	snapshot_fini(&s);
	assert_false(t.failed);
	r = otlp__request__unpack(NULL, t.used, (const uint8_t *)t.bytes);
	assert_non_null(r);
	text_fini(&t);
	return r;
}

static const Otlp__Metric *metric(const Otlp__Request *r, size_t resource, const char *name)
{
	const Otlp__ScopeMetrics *scope = r->resource_metrics[resource]->scope_metrics[0];

	for (size_t i = 0; i < scope->n_metrics; i++)
		if (strcmp(scope->metrics[i]->name, name) == 0)
			return scope->metrics[i];
	return NULL;
}

static const char *attribute(Otlp__Attribute **list, size_t count, const char *key)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i]->key, key) == 0)
			return list[i]->value->string_value;
	return NULL;
}

static const char *service(const Otlp__Request *r, size_t resource)
{
	const Otlp__Resource *of = r->resource_metrics[resource]->resource;

	assert_string_equal(attribute(of->attributes, of->n_attributes, "host.name"), "host");
	return attribute(of->attributes, of->n_attributes, "service.name");
}

static void each_process_is_a_resource(void **state)
{
	struct aggregate shop, bank;
	const struct snapshot_part parts[] = {
		{.process = "shop", .aggregate = &shop, .start_unix_ns = 7},
		{.process = "bank", .aggregate = &bank, .start_unix_ns = 9}};
	const Otlp__Metric *m;
	Otlp__Request *r;

	sample_fill(&shop, 1);
	sample_fill(&bank, 10);
	r = rendered(parts, 2, &source);
	assert_int_equal(r->n_resource_metrics, 3);
	assert_string_equal(service(r, 0), "actorprobe");
	assert_string_equal(service(r, 1), "bank");
	assert_string_equal(service(r, 2), "shop");
	/* What is of actorprobe alone is in its own resource, and only there. */
	m = metric(r, 0, "actorprobe_cpu_seconds_total");
	assert_true(m->sum->data_points[0]->as_double == 1.5);
	assert_int_equal(m->sum->data_points[0]->start_time_unix_nano, 11);
	assert_null(metric(r, 1, "actorprobe_cpu_seconds_total"));
	assert_null(metric(r, 0, "actorprobe_records_total"));
	m = metric(r, 1, "actorprobe_records_total");
	assert_int_equal(m->sum->n_data_points, 1);
	assert_int_equal(m->sum->data_points[0]->as_int, 6000);
	assert_int_equal(m->sum->data_points[0]->start_time_unix_nano, 9);
	assert_int_equal(m->sum->data_points[0]->time_unix_nano, 99);
	assert_true(m->sum->is_monotonic);
	assert_int_equal(
		metric(r, 2, "actorprobe_records_total")->sum->data_points[0]->as_int, 600);
	assert_string_equal(metric(r, 1, "actor_mailbox_size")->unit, "{messages}");
	assert_false(metric(r, 1, "actor_mailbox_size")
			     ->gauge->data_points[0]
			     ->has_start_time_unix_nano);
	otlp__request__free_unpacked(r, NULL);
	aggregate_fini(&shop);
	aggregate_fini(&bank);
}

static void one_process_alone_has_its_id(void **state)
{
	const struct otlp_source one = {
		.service = "shop", .host = "host", .version = "1", .pid = 17};
	struct aggregate a;
	const struct snapshot_part part = {.aggregate = &a};
	const Otlp__Resource *resource;
	Otlp__Request *r;

	sample_fill(&a, 1);
	r = rendered(&part, 1, &one);
	assert_int_equal(r->n_resource_metrics, 1);
	assert_string_equal(service(r, 0), "shop");
	resource = r->resource_metrics[0]->resource;
	assert_string_equal(resource->attributes[2]->key, "process.pid");
	assert_int_equal(resource->attributes[2]->value->int_value, 17);
	/* Every family of the table is there. */
	assert_int_equal(r->resource_metrics[0]->scope_metrics[0]->n_metrics + 1, metric_count);
	otlp__request__free_unpacked(r, NULL);
	aggregate_fini(&a);
}

static void buckets_are_named_by_their_lower_bound(void **state)
{
	struct aggregate a = {0};
	const struct snapshot_part part = {.aggregate = &a};
	const Otlp__ExponentialPoint *p;
	struct aggregate_series *s;
	Otlp__Request *r;

	s = sample_values(&a, AGGREGATE_WAIT, "d", "c", 0, 2);
	sample_count(&s->histogram, AGGREGATE_WAIT, 1000000000, 4);
	sample_count(&s->histogram, AGGREGATE_WAIT, 1200000000, 5);
	r = rendered(&part, 1, &source);
	p = metric(r, 0, "actor_mailbox_wait_seconds")->exponential_histogram->data_points[0];
	assert_int_equal(p->count, 11);
	assert_int_equal(p->zero_count, 2);
	assert_int_equal(p->scale, 3);
	/* One second is the upper bound of the bucket that begins at 2^(-1/8). */
	assert_int_equal(p->positive->offset, -1);
	assert_int_equal(p->positive->n_bucket_counts, 4);
	assert_int_equal(p->positive->bucket_counts[0], 4);
	assert_int_equal(p->positive->bucket_counts[3], 5);
	assert_true(p->has_max && p->max == 1.2);
	assert_true(p->sum == 10);
	otlp__request__free_unpacked(r, NULL);
	aggregate_fini(&a);
}

static void hostile_names_arrive_whole(void **state)
{
	for (size_t i = 0; i < HOSTILE_COUNT; i++) {
		char *name = hostile_name(i), *shown = escape_copy(name, strlen(name));
		struct aggregate a = {0};
		const struct snapshot_part part = {.aggregate = &a, .process = shown};
		const Otlp__ExponentialPoint *p;
		Otlp__Request *r;

		sample_values(&a, AGGREGATE_WAIT, shown, shown, 1000, 3);
		r = rendered(&part, 1, &source);
		assert_string_equal(service(r, 1), shown);
		p = metric(r, 1, "actor_mailbox_wait_seconds")
			    ->exponential_histogram->data_points[0];
		assert_string_equal(attribute(p->attributes, p->n_attributes, "class"), shown);
		assert_int_equal(p->count, 3);
		otlp__request__free_unpacked(r, NULL);
		aggregate_fini(&a);
		free(shown);
		free(name);
	}
}

static void refused_points_are_read_from_the_answer(void **state)
{
	static const struct {
		const char *bytes;
		size_t count;
		int64_t refused;
		const char *why;
	} rows[] = {
		{"", 0, 0, ""},
		{"\x0a\x00", 2, 0, ""},
		{"\x0a\x04\x08\x05\x12\x00", 6, 5, ""},
		{"\x0a\x06\x08\x05\x12\x02\x1b\x41", 8, 5, "\\x1bA"},
		{"\xff\xff\xff", 3, 0, ""},
		{"<html>", 6, 0, ""},
	};
	char why[32];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct text t = {.bytes = (char *)rows[i].bytes, .used = rows[i].count};

		assert_int_equal(otlp_refused(&t, why, sizeof(why)), rows[i].refused);
		assert_string_equal(why, rows[i].why);
	}
}

static void gzip_gives_the_same_back(void **state)
{
	static const size_t sizes[] = {0, 1, 1000, 300000};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct text from = {0}, to = {0};
		unsigned char back[300001];
		z_stream z = {.avail_out = sizeof(back)};

		for (size_t k = 0; k < sizes[i]; k++)
			text_add_char(&from, (char)(k * k >> 7), 1);
		text_add(&to, "before");
		assert_int_equal(gzip_add(&to, &from), 0);
		assert_int_equal(memcmp(to.bytes, "before\x1f\x8b", 8), 0);
		z.next_out = back;
		z.next_in = (unsigned char *)to.bytes + 6;
		z.avail_in = (uInt)to.used - 6;
		assert_int_equal(inflateInit2(&z, 31), Z_OK);
		assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
		assert_int_equal(z.total_out, sizes[i]);
		if (sizes[i])
			assert_memory_equal(back, from.bytes, sizes[i]);
		inflateEnd(&z);
		text_fini(&from);
		text_fini(&to);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_process_is_a_resource),
		cmocka_unit_test(one_process_alone_has_its_id),
		cmocka_unit_test(buckets_are_named_by_their_lower_bound),
		cmocka_unit_test(hostile_names_arrive_whole),
		cmocka_unit_test(refused_points_are_read_from_the_answer),
		cmocka_unit_test(gzip_gives_the_same_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
