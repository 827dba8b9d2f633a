/* SPDX-License-Identifier: MIT */
/* libFuzzer: any bytes as names and counts of what is pushed, and as what the receiver answers. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "probe/escape.h"
#include "probe/otlp.h"
#include "probe/otlp.pb-c.h"
#include "tests/aggregate_sample.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* Cuts the input into two names and counts values with the rest. Returns how many. */
static uint64_t fill(struct aggregate *a, char **process, const uint8_t *data, size_t bytes)
{
	size_t third = bytes / 3;
	char *class_name = escape_copy((const char *)data + third, third);
	struct aggregate_series *wait;
	uint64_t count = 0;

	*process = escape_copy((const char *)data, third);
	if (!class_name || !*process)
		abort();
	wait = sample_values(a, AGGREGATE_WAIT, class_name, class_name, 0, 0);
	for (size_t i = 2 * third; i + 8 <= bytes; i += 8, count++) {
		uint64_t value;

		memcpy(&value, data + i, sizeof(value));
		sample_count(&wait->histogram, AGGREGATE_WAIT, value >> (value & 63), 1);
	}
	sample_values(a, AGGREGATE_DEPTH, class_name, class_name, bytes, count);
	free(class_name);
	return count;
}

static void check_metric(const Otlp__Metric *m, uint64_t count)
{
	if (m->data_case == OTLP__METRIC__DATA_EXPONENTIAL_HISTOGRAM) {
		const Otlp__ExponentialPoint *p = m->exponential_histogram->data_points[0];
		uint64_t sum = p->zero_count;

		for (size_t i = 0; i < p->positive->n_bucket_counts; i++)
			sum += p->positive->bucket_counts[i];
		if (sum != count || p->count != count)
			abort();
	} else if (m->data_case == OTLP__METRIC__DATA_HISTOGRAM) {
		const Otlp__HistogramPoint *p = m->histogram->data_points[0];

		if (p->count != count || p->n_bucket_counts != p->n_explicit_bounds + 1)
			abort();
	} else if (m->data_case == OTLP__METRIC__DATA__NOT_SET) {
		abort();
	}
}

static void check(const struct text *t, const char *process, uint64_t count)
{
	Otlp__Request *r = otlp__request__unpack(NULL, t->used, (const uint8_t *)t->bytes);

	if (!r || r->n_resource_metrics != 2)
		abort();
	for (size_t i = 0; i < 2; i++) {
		const Otlp__ResourceMetrics *part = r->resource_metrics[i];

		if (strcmp(part->resource->attributes[0]->value->string_value, i ? process : "all"))
			abort();
		for (size_t k = 0; k < part->scope_metrics[0]->n_metrics; k++)
			check_metric(part->scope_metrics[0]->metrics[k], count);
	}
	otlp__request__free_unpacked(r, NULL);
}

static void answer(const uint8_t *data, size_t bytes)
{
	const struct text t = {.bytes = (char *)data, .used = bytes};
	char why[64], again[256];

	otlp_refused(&t, why, sizeof(why));
	escape_text(again, sizeof(again), why, strlen(why));
	if (strcmp(again, why))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static const struct snapshot_self self = {.version = "1"};
	static const struct otlp_source source = {.service = "all", .host = "h", .version = "1"};
	struct aggregate a = {.alive = true};
	struct snapshot_part part = {.aggregate = &a};
	struct snapshot s;
	struct text t = {0};
	char *process;
	uint64_t count;

	if (bytes > 8192)
		return 0;
	answer(data, bytes);
	count = fill(&a, &process, data, bytes);
	part.process = process;
	if (snapshot_build(&s, &part, 1, &self) < 0)
		abort();
	otlp_render(&t, &s, &source);
	if (t.failed)
		abort();
	check(&t, process, count);
	text_fini(&t);
	snapshot_fini(&s);
	aggregate_fini(&a);
	free(process);
	return 0;
}
