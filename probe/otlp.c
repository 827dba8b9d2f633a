/* SPDX-License-Identifier: MIT */
/* A snapshot as the request of an OTLP push, in protobuf. */
#include "probe/otlp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/escape.h"
#include "probe/exponential.h"
#include "probe/histogram.h"
#include "probe/otlp.pb-c.h"
#include "probe/wire.h"

#define NANO 1e9

/* Fields of messages that are put together piece by piece. */
enum {
	REQUEST_RESOURCE_METRICS = 1,
	RESOURCE_METRICS_RESOURCE = 1,
	RESOURCE_METRICS_SCOPE_METRICS = 2,
	SCOPE_METRICS_SCOPE = 1,
	SCOPE_METRICS_METRICS = 2,
	DATA_POINTS = 1, /* of all kinds of data */
};

/* A list of attributes; protobuf-c wants arrays of pointers to structs. */
struct attributes {
	Otlp__Attribute all[SNAPSHOT_LABELS_MAX], *list[SNAPSHOT_LABELS_MAX];
	Otlp__Any values[SNAPSHOT_LABELS_MAX];
	size_t count;
};

struct work {
	const struct otlp_source *source;
	const struct snapshot_family *family;
	struct attributes attributes;
	struct exponential exponential;
	struct text point, data, metric, scope, resource; /* each is put into the next one */
};

/* ---- attributes ---- */

static Otlp__Any *attribute_add(struct attributes *a, const char *key)
{
	size_t i = a->count++;

	otlp__attribute__init(&a->all[i]);
	otlp__any__init(&a->values[i]);
	a->all[i].key = (char *)key;
	a->all[i].value = &a->values[i];
	a->list[i] = &a->all[i];
	return &a->values[i];
}

static void attribute_add_text(struct attributes *a, const char *key, const char *value)
{
	Otlp__Any *any = attribute_add(a, key);

	any->value_case = OTLP__ANY__VALUE_STRING_VALUE;
	any->string_value = (char *)value;
}

static void make_attributes(struct attributes *a, const struct snapshot_sample *s)
{
	a->count = 0;
	for (size_t i = 0; i < s->label_count; i++)
		attribute_add_text(a, s->labels[i].name, s->labels[i].value);
}

/* ---- points ---- */

static uint64_t start_of(const struct work *w, const struct snapshot_sample *s)
{
	return s->start_unix_ns ? s->start_unix_ns : w->source->start_unix_ns;
}

static double in_units(const struct work *w, uint64_t value)
{
	return (double)value / (double)w->family->scale;
}

/* The fields that points of all kinds have. */
#define POINT_BEGIN(p, w, s)                                                                       \
	do {                                                                                       \
		(p)->has_time_unix_nano = 1;                                                       \
		(p)->time_unix_nano = (w)->source->now_unix_ns;                                    \
		(p)->has_start_time_unix_nano = (w)->family->metric->type != METRIC_GAUGE;         \
		(p)->start_time_unix_nano = start_of(w, s);                                        \
		(p)->n_attributes = (w)->attributes.count;                                         \
		(p)->attributes = (w)->attributes.list;                                            \
	} while (0)

static void add_number(struct work *w, const struct snapshot_sample *s)
{
	Otlp__NumberPoint p = OTLP__NUMBER_POINT__INIT;

	POINT_BEGIN(&p, w, s);
	if (w->family->scale == 1 && s->value <= INT64_MAX) {
		p.value_case = OTLP__NUMBER_POINT__VALUE_AS_INT;
		p.as_int = (int64_t)s->value;
	} else {
		p.value_case = OTLP__NUMBER_POINT__VALUE_AS_DOUBLE;
		p.as_double = in_units(w, s->value);
	}
	wire_add_message(&w->point, &p.base);
}

static void add_exponential(struct work *w, const struct snapshot_sample *s)
{
	Otlp__ExponentialPoint p = OTLP__EXPONENTIAL_POINT__INIT;
	Otlp__Buckets buckets = OTLP__BUCKETS__INIT;
	struct exponential *e = &w->exponential;

	POINT_BEGIN(&p, w, s);
	exponential_project(e, s->histogram);
	/* There a bucket is named by its lower bound. */
	buckets.has_offset = 1;
	buckets.offset = e->count ? e->first - 1 : 0;
	buckets.n_bucket_counts = e->count;
	buckets.bucket_counts = e->counts;
	p.has_count = p.has_sum = p.has_scale = p.has_zero_count = p.has_zero_threshold = 1;
	p.count = e->total;
	p.sum = in_units(w, s->histogram->sum);
	p.scale = EXPONENTIAL_SCALE;
	p.zero_count = e->zero;
	p.zero_threshold = EXPONENTIAL_ZERO_THRESHOLD;
	p.positive = &buckets;
	p.has_max = e->total > 0;
	p.max = in_units(w, s->histogram->max);
	wire_add_message(&w->point, &p.base);
}

static void add_ladder(struct work *w, const struct snapshot_sample *s)
{
	Otlp__HistogramPoint p = OTLP__HISTOGRAM_POINT__INIT;
	size_t bounds = histogram_bounds(w->family->metric->index);
	double explicit_bounds[BOUNDS_COUNT];

	POINT_BEGIN(&p, w, s);
	p.has_count = p.has_sum = 1;
	for (size_t i = 0; i <= bounds; i++)
		p.count += s->histogram->buckets[i];
	for (size_t i = 0; i < bounds; i++)
		explicit_bounds[i] = in_units(w, histogram_bound(w->family->metric->index, i));
	p.sum = in_units(w, s->histogram->sum);
	p.n_explicit_bounds = bounds;
	p.explicit_bounds = explicit_bounds;
	p.n_bucket_counts = bounds + 1;
	p.bucket_counts = s->histogram->buckets;
	p.has_max = p.count > 0;
	p.max = in_units(w, s->histogram->max);
	wire_add_message(&w->point, &p.base);
}

/* ---- metrics ---- */

/* The unit in the spelling of UCUM. */
static const char *unit_of(const struct metric *metric, char *text, size_t bytes)
{
	static const struct {
		const char *unit, *ucum;
	} units[] = {
		{"seconds", "s"}, {"bytes", "By"}, {"ratio", "1"}, {"boolean", ""}, {"info", ""}};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(units[i].unit, metric->unit) == 0)
			return units[i].ucum;
	snprintf(text, bytes, "{%s}", metric->unit);
	return text;
}

/* What the data has behind its points: each kind has the same fields for that. */
static void add_data_end(struct work *w)
{
	Otlp__Sum end = OTLP__SUM__INIT;

	if (w->family->metric->type == METRIC_GAUGE)
		return;
	end.has_aggregation_temporality = 1;
	end.aggregation_temporality = OTLP__TEMPORALITY__CUMULATIVE;
	end.has_is_monotonic = end.is_monotonic = w->family->metric->type == METRIC_COUNTER;
	wire_add_message(&w->data, &end.base);
}

struct kind {
	uint32_t field; /* of the metric */
	void (*add)(struct work *w, const struct snapshot_sample *s);
};

static struct kind kind_of(const struct metric *metric)
{
	switch (metric->type) {
	case METRIC_COUNTER:
		return (struct kind){OTLP__METRIC__DATA_SUM, add_number};
	case METRIC_HISTOGRAM:
		if (histogram_is_time(metric->index))
			return (struct kind){
				OTLP__METRIC__DATA_EXPONENTIAL_HISTOGRAM, add_exponential};
		return (struct kind){OTLP__METRIC__DATA_HISTOGRAM, add_ladder};
	case METRIC_GAUGE:
		break;
	}
	return (struct kind){OTLP__METRIC__DATA_GAUGE, add_number};
}

/* The value of the label `process`, NULL without one. It comes first. */
static const char *process_of(const struct snapshot_sample *s)
{
	if (s->label_count && strcmp(s->labels[0].name, "process") == 0)
		return s->labels[0].value;
	return NULL;
}

static bool is_of(const struct snapshot_sample *s, const char *process)
{
	const char *mine = process_of(s);

	return mine && process ? strcmp(mine, process) == 0 : mine == process;
}

static void add_family(struct work *w, const struct snapshot_family *f, const char *process)
{
	struct kind kind = kind_of(f->metric);
	Otlp__Metric head = OTLP__METRIC__INIT;
	char unit[32];

	w->family = f;
	text_clear(&w->data);
	text_clear(&w->metric);
	for (size_t i = 0; i < f->count; i++) {
		if (!is_of(&f->samples[i], process))
			continue;
		text_clear(&w->point);
		make_attributes(&w->attributes, &f->samples[i]);
		kind.add(w, &f->samples[i]);
		wire_add_field(&w->data, DATA_POINTS, &w->point);
	}
	if (!w->data.used)
		return;
	add_data_end(w);
	head.name = (char *)f->metric->name;
	head.description = (char *)f->metric->help;
	head.unit = (char *)unit_of(f->metric, unit, sizeof(unit));
	wire_add_message(&w->metric, &head.base);
	wire_add_field(&w->metric, kind.field, &w->data);
	wire_add_field(&w->scope, SCOPE_METRICS_METRICS, &w->metric);
}

/* ---- resources ---- */

static void add_scope(struct work *w)
{
	Otlp__Scope scope = OTLP__SCOPE__INIT;

	scope.name = (char *)"actorprobe";
	scope.version = (char *)w->source->version;
	text_clear(&w->metric);
	wire_add_message(&w->metric, &scope.base);
	wire_add_field(&w->scope, SCOPE_METRICS_SCOPE, &w->metric);
}

static void add_attributes(struct work *w, const char *process)
{
	Otlp__Resource resource = OTLP__RESOURCE__INIT;
	struct attributes *a = &w->attributes;

	a->count = 0;
	attribute_add_text(a, "service.name", process ? process : w->source->service);
	attribute_add_text(a, "host.name", w->source->host);
	if (w->source->pid && !process) {
		Otlp__Any *pid = attribute_add(a, "process.pid");

		pid->value_case = OTLP__ANY__VALUE_INT_VALUE;
		pid->int_value = w->source->pid;
	}
	resource.n_attributes = a->count;
	resource.attributes = a->list;
	text_clear(&w->metric);
	wire_add_message(&w->metric, &resource.base);
	wire_add_field(&w->resource, RESOURCE_METRICS_RESOURCE, &w->metric);
}

static void add_resource(
	struct text *t, struct work *w, const struct snapshot *s, const char *process)
{
	text_clear(&w->scope);
	text_clear(&w->resource);
	add_attributes(w, process);
	add_scope(w);
	for (size_t i = 0; i < s->family_count; i++)
		add_family(w, &s->families[i], process);
	wire_add_field(&w->resource, RESOURCE_METRICS_SCOPE_METRICS, &w->scope);
	wire_add_field(t, REQUEST_RESOURCE_METRICS, &w->resource);
}

void otlp_render(struct text *t, const struct snapshot *s, const struct otlp_source *source)
{
	struct work *w = calloc(1, sizeof(*w));

	t->failed |= !w;
	if (!w)
		return;
	w->source = source;
	add_resource(t, w, s, NULL);
	/* One family has a sample of each process, in the order of their names. */
	for (size_t i = 0; i < s->family_count; i++) {
		const struct snapshot_family *f = &s->families[i];

		if (f->metric->source != METRIC_ATTACHED)
			continue;
		for (size_t k = 0; k < f->count; k++)
			if (process_of(&f->samples[k]))
				add_resource(t, w, s, process_of(&f->samples[k]));
	}
	text_fini(&w->point);
	text_fini(&w->data);
	text_fini(&w->metric);
	text_fini(&w->scope);
	text_fini(&w->resource);
	free(w);
}

int64_t otlp_refused(const struct text *answer, char *why, size_t why_bytes)
{
	Otlp__Response *response =
		otlp__response__unpack(NULL, answer->used, (const uint8_t *)answer->bytes);
	const Otlp__PartialSuccess *partial = response ? response->partial_success : NULL;
	int64_t refused = 0;

	why[0] = '\0';
	if (partial && partial->has_rejected_data_points) {
		refused = partial->rejected_data_points;
		if (partial->error_message)
			escape_text(why, why_bytes, partial->error_message,
				strlen(partial->error_message));
	}
	if (response)
		otlp__response__free_unpacked(response, NULL);
	return refused;
}
