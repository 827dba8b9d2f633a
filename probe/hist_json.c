/* SPDX-License-Identifier: MIT */
/* The histograms of an aggregate as JSON, one object per line. */
#include "probe/hist_json.h"

#include "probe/histogram.h"
#include "probe/json.h"
#include "probe/metric.h"

static json_t *value_of(double value, enum aggregate_metric metric)
{
	if (histogram_is_time(metric))
		return json_real(value / 1e9);
	return json_integer((json_int_t)value);
}

static void put_labels(json_t *object, const struct aggregate_series *s)
{
	json_t *labels = json_object();

	if (s->dispatcher)
		json_put_text(labels, "dispatcher", s->dispatcher);
	if (s->class_name)
		json_put_text(labels, "class", s->class_name);
	if (s->actor)
		json_put_text(labels, "actor", s->actor);
	if (s->loop)
		json_put_text(labels, "loop", s->loop);
	json_object_set_new(object, "labels", labels);
}

static void put_quantiles(json_t *object, const struct aggregate_series *s)
{
	static const struct {
		const char *name;
		double q;
	} points[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p999", 0.999}};

	for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++)
		json_object_set_new(object, points[i].name,
			value_of(histogram_quantile(&s->histogram, s->metric, points[i].q),
				s->metric));
	json_object_set_new(object, "max", value_of((double)s->histogram.max, s->metric));
}

static void put_buckets(json_t *object, const struct aggregate_series *s)
{
	const struct aggregate_histogram *h = &s->histogram;
	size_t bounds = histogram_bounds(s->metric);
	size_t used = bounds;
	size_t first = 0;
	json_t *buckets = json_array();
	uint64_t below = 0;

	while (used && !h->buckets[used - 1])
		used--;
	while (first < used && !h->buckets[first])
		first++;
	/* From the bound below the first value on: it says where that bucket begins. */
	for (size_t i = first ? first - 1 : 0; i < used; i++) {
		json_t *bound = value_of((double)histogram_bound(s->metric, i), s->metric);

		below += h->buckets[i];
		json_array_append_new(buckets, json_pack("[oI]", bound, (json_int_t)below));
	}
	json_array_append_new(buckets, json_pack("[nI]", (json_int_t)h->count));
	json_object_set_new(object, "buckets", buckets);
}

/* What each object begins with. */
struct head {
	const char *process; /* NULL = none */
	double time;	     /* < 0 = none */
};

static json_t *begin(const struct head *head)
{
	json_t *object = json_object();

	if (head->time >= 0)
		json_object_set_new(object, "time", json_real(head->time));
	if (head->process)
		json_put_text(object, "process", head->process);
	return object;
}

static void add_series(struct text *t, const struct aggregate_series *s, const struct head *head)
{
	json_t *object = begin(head);
	const struct aggregate_histogram *h = &s->histogram;

	json_put_text(object, "metric", metric_of(s->metric)->name);
	put_labels(object, s);
	json_put_count(object, "count", h->count);
	if (histogram_is_time(s->metric))
		json_object_set_new(object, "sum_seconds", json_real((double)h->sum / 1e9));
	else
		json_put_count(object, "sum", h->sum);
	put_quantiles(object, s);
	put_buckets(object, s);
	json_add_line(t, object);
}

/* Who sends to whom: nothing in trace mode, incomplete once records were folded. */
static void add_flow(struct text *t, const struct aggregate *a, const struct head *head)
{
	json_t *object, *rows;

	if (!a->flow_count)
		return;
	object = begin(head);
	rows = json_array();
	for (size_t i = 0; i < a->flow_count; i++) {
		json_t *row = json_object();

		json_put_text(row, "from", a->flows[i].from);
		json_put_text(row, "to", a->flows[i].to);
		json_put_count(row, "messages", a->flows[i].messages);
		json_array_append_new(rows, row);
	}
	json_object_set_new(object, "flow", rows);
	json_object_set_new(object, "complete", json_boolean(!a->folded));
	json_add_line(t, object);
}

static void add_accounting(struct text *t, const struct aggregate *a, const struct head *head)
{
	json_t *object = begin(head);
	json_t *reasons = json_object();

	json_put_count(object, "delivered_before", a->delivered_before);
	json_put_count(object, "delivered", a->delivered);
	json_put_count(object, "recorded", a->recorded);
	json_put_count(object, "unstamped", a->unstamped);
	json_put_count(object, "lost", aggregate_lost_total(a));
	for (size_t i = 0; i < AGGREGATE_LOST_REASONS; i++)
		json_put_count(reasons, metric_lost_reason(i), a->lost[i]);
	json_object_set_new(object, "lost_reasons", reasons);
	json_put_count(object, "clock_clamped", a->clamped);
	json_put_count(object, "series_overflow", a->series_overflow);
	json_put_count(object, "gaps", a->gaps);
	json_put_count(object, "folded", a->folded);
	json_put_count(object, "sample_every", a->sample_every ? a->sample_every : 1);
	json_object_set_new(object, "overhead", json_real(a->overhead));
	json_object_set_new(object, "detached", json_boolean(a->detached));
	json_put_text(object, "mode", a->mode ? a->mode : "?");
	json_object_set_new(object, "elapsed_seconds", json_real((double)a->elapsed_ns / 1e9));
	json_object_set_new(object, "alive", json_boolean(a->alive));
	json_add_line(t, object);
}

static void render(
	struct text *t, const struct aggregate *a, enum grouping by, const struct head *head)
{
	struct aggregate grouped = {0};

	if (grouping_apply(&grouped, a, by)) {
		t->failed = true;
		return;
	}
	for (size_t i = 0; i < grouped.series_count; i++)
		if (grouped.series[i].histogram.count)
			add_series(t, &grouped.series[i], head);
	add_flow(t, a, head);
	add_accounting(t, a, head);
	aggregate_fini(&grouped);
}

void hist_json_render(struct text *t, const struct aggregate *a, enum grouping by, double time)
{
	const struct head head = {.time = time};

	render(t, a, by, &head);
}

void hist_json_render_process(
	struct text *t, const struct aggregate *a, enum grouping by, const char *process)
{
	const struct head head = {.process = process, .time = -1};

	render(t, a, by, &head);
}
