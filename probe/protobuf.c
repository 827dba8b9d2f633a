/* SPDX-License-Identifier: MIT */
/* A snapshot as the delimited protobuf messages that a Prometheus with native histograms asks for.
 */
#include "probe/protobuf.h"

#include <math.h>
#include <stdlib.h>

#include "probe/exponential.h"
#include "probe/histogram.h"
#include "probe/prometheus.pb-c.h"
#include "probe/wire.h"

#define FAMILY_METRIC 4 /* field of the family that has its metrics */
#define NANO	      1000000000u
#define SPAN_GAP      2 /* empty buckets that are written out, as a new span takes more */

/* One metric while it is made: protobuf-c wants arrays of pointers to structs. */
struct work {
	Prom__Label labels[SNAPSHOT_LABELS_MAX], *label_list[SNAPSHOT_LABELS_MAX];
	Prom__Bucket buckets[BOUNDS_COUNT + 1], *bucket_list[BOUNDS_COUNT + 1];
	Prom__Span spans[EXPONENTIAL_BUCKETS], *span_list[EXPONENTIAL_BUCKETS];
	int64_t deltas[EXPONENTIAL_BUCKETS];
	struct exponential exponential;
	Prom__Metric metric;
	Prom__Gauge gauge;
	Prom__Counter counter;
	Prom__Histogram histogram;
	Prom__Time created;
	struct text bytes;  /* of the metric */
	struct text family; /* with its metrics so far */
};

static double in_units(const struct snapshot_family *f, uint64_t value)
{
	return (double)value / (double)f->scale;
}

static void make_labels(struct work *w, const struct snapshot_sample *s)
{
	for (size_t i = 0; i < s->label_count; i++) {
		prom__label__init(&w->labels[i]);
		w->labels[i].name = (char *)s->labels[i].name;
		w->labels[i].value = (char *)s->labels[i].value;
		w->label_list[i] = &w->labels[i];
	}
	w->metric.n_label = s->label_count;
	w->metric.label = w->label_list;
}

/* NULL if it is not known. */
static Prom__Time *make_created(struct work *w, const struct snapshot_sample *s)
{
	if (!s->start_unix_ns)
		return NULL;
	prom__time__init(&w->created);
	w->created.has_seconds = w->created.has_nanos = 1;
	w->created.seconds = (int64_t)(s->start_unix_ns / NANO);
	w->created.nanos = (int32_t)(s->start_unix_ns % NANO);
	return &w->created;
}

/* ---- histograms ---- */

static void add_bucket(struct work *w, uint64_t total, double bound)
{
	Prom__Bucket *b = &w->buckets[w->histogram.n_bucket];

	prom__bucket__init(b);
	b->has_cumulative_count = b->has_upper_bound = 1;
	b->cumulative_count = total;
	b->upper_bound = bound;
	w->bucket_list[w->histogram.n_bucket++] = b;
}

static void make_classic(
	struct work *w, const struct snapshot_family *f, const struct aggregate_histogram *h)
{
	enum aggregate_metric metric = f->metric->index;
	size_t bounds = histogram_bounds(metric);
	uint64_t total = 0;

	for (size_t i = 0; i < bounds; i++) {
		total += h->buckets[i];
		if (histogram_is_classic(metric, i))
			add_bucket(w, total, in_units(f, histogram_bound(metric, i)));
	}
	total += h->buckets[bounds];
	add_bucket(w, total, INFINITY);
	w->histogram.bucket = w->bucket_list;
	w->histogram.has_sample_count = 1;
	w->histogram.sample_count = total;
}

static Prom__Span *add_span(struct work *w, int32_t offset)
{
	Prom__Span *span = &w->spans[w->histogram.n_positive_span];

	prom__span__init(span);
	span->has_offset = span->has_length = 1;
	span->offset = offset;
	w->span_list[w->histogram.n_positive_span++] = span;
	return span;
}

/* Number of empty buckets from `i` on; the last one is not empty. */
static size_t gap_at(const struct exponential *e, size_t i)
{
	size_t gap = 0;

	while (i + gap < e->count && !e->counts[i + gap])
		gap++;
	return gap;
}

/* Spans of buckets, each as the difference to the one before. A histogram without any has one empty
 * span, by which it is known to be native. */
static void make_native(struct work *w, const struct aggregate_histogram *h)
{
	const struct exponential *e = &w->exponential;
	Prom__Span *span;
	int64_t before = 0;

	exponential_project(&w->exponential, h);
	span = add_span(w, e->first);
	for (size_t i = 0; i < e->count; i++) {
		size_t gap = gap_at(e, i);

		if (gap > SPAN_GAP) {
			span = add_span(w, (int32_t)gap);
			i += gap;
		}
		span->length++;
		w->deltas[w->histogram.n_positive_delta++] = (int64_t)e->counts[i] - before;
		before = (int64_t)e->counts[i];
	}
	w->histogram.positive_span = w->span_list;
	w->histogram.positive_delta = w->deltas;
	w->histogram.has_schema = w->histogram.has_zero_threshold = 1;
	w->histogram.has_zero_count = 1;
	w->histogram.schema = EXPONENTIAL_SCALE;
	w->histogram.zero_threshold = EXPONENTIAL_ZERO_THRESHOLD;
	w->histogram.zero_count = e->zero;
}

static void make_histogram(
	struct work *w, const struct snapshot_family *f, const struct snapshot_sample *s)
{
	prom__histogram__init(&w->histogram);
	make_classic(w, f, s->histogram);
	if (histogram_is_time(f->metric->index))
		make_native(w, s->histogram);
	w->histogram.has_sample_sum = 1;
	w->histogram.sample_sum = in_units(f, s->histogram->sum);
	w->histogram.created = make_created(w, s);
	w->metric.histogram = &w->histogram;
}

/* ---- values and families ---- */

static void make_value(
	struct work *w, const struct snapshot_family *f, const struct snapshot_sample *s)
{
	if (f->metric->type == METRIC_COUNTER) {
		prom__counter__init(&w->counter);
		w->counter.has_value = 1;
		w->counter.value = in_units(f, s->value);
		w->counter.created = make_created(w, s);
		w->metric.counter = &w->counter;
	} else {
		prom__gauge__init(&w->gauge);
		w->gauge.has_value = 1;
		w->gauge.value = in_units(f, s->value);
		w->metric.gauge = &w->gauge;
	}
}

static void add_sample(
	struct work *w, const struct snapshot_family *f, const struct snapshot_sample *s)
{
	prom__metric__init(&w->metric);
	make_labels(w, s);
	if (f->metric->type == METRIC_HISTOGRAM)
		make_histogram(w, f, s);
	else
		make_value(w, f, s);
	text_clear(&w->bytes);
	wire_add_message(&w->bytes, &w->metric.base);
	wire_add_field(&w->family, FAMILY_METRIC, &w->bytes);
}

static void add_head(struct work *w, const struct metric *metric)
{
	static const Prom__Type types[] = {
		[METRIC_HISTOGRAM] = PROM__TYPE__HISTOGRAM,
		[METRIC_COUNTER] = PROM__TYPE__COUNTER,
		[METRIC_GAUGE] = PROM__TYPE__GAUGE,
	};
	Prom__Family head = PROM__FAMILY__INIT;

	head.name = (char *)metric->name;
	head.help = (char *)metric->help;
	head.has_type = 1;
	head.type = types[metric->type];
	wire_add_message(&w->family, &head.base);
}

void protobuf_render(struct text *t, const struct snapshot *s)
{
	struct work *w = calloc(1, sizeof(*w));

	t->failed |= !w;
	for (size_t i = 0; w && i < s->family_count; i++) {
		const struct snapshot_family *f = &s->families[i];

		text_clear(&w->family);
		add_head(w, f->metric);
		for (size_t k = 0; k < f->count; k++)
			add_sample(w, f, &f->samples[k]);
		wire_add_delimited(t, &w->family);
	}
	if (w) {
		text_fini(&w->bytes);
		text_fini(&w->family);
	}
	free(w);
}
