/* SPDX-License-Identifier: MIT */
/* A snapshot in the Prometheus text format 0.0.4 and in OpenMetrics 1.0.0. */
#include "probe/exposition.h"

#include <string.h>

#include "probe/histogram.h"
#include "probe/metric.h"

/* A classic bound as text; no text = not a classic one. */
struct bound {
	char le[24];
	size_t bytes;
};

/* One family while it is written. */
struct writer {
	struct text *text;
	const struct snapshot_family *family;
	struct text scratch; /* what the bucket lines of one series have in common */
};

static void add_escaped(struct text *t, const char *bytes)
{
	for (; *bytes; bytes++) {
		if (*bytes == '\n')
			text_add_bytes(t, "\\n", 2);
		else if (*bytes == '\\' || *bytes == '"')
			text_add(t, "\\%c", *bytes);
		else
			text_add_char(t, *bytes, 1);
	}
}

static void add_head(struct writer *w)
{
	const struct metric *metric = w->family->metric;

	text_add(w->text, "# HELP %s %s\n# TYPE %s %s\n", metric->name, metric->help, metric->name,
		metric_type_name(metric->type));
}

/* There a family has the name that its samples have in common, and a unit only as the end of it. */
static void add_openmetrics_head(struct writer *w)
{
	const struct metric *metric = w->family->metric;
	int base = (int)metric_base_bytes(metric);
	size_t unit = strlen(metric->unit);

	text_add(w->text, "# TYPE %.*s %s\n", base, metric->name,
		metric_is_info(metric) ? "info" : metric_type_name(metric->type));
	if ((size_t)base > unit && metric->name[(size_t)base - unit - 1] == '_' &&
		strncmp(metric->name + base - unit, metric->unit, unit) == 0)
		text_add(w->text, "# UNIT %.*s %s\n", base, metric->name, metric->unit);
	text_add(w->text, "# HELP %.*s ", base, metric->name);
	add_escaped(w->text, metric->help);
	text_add_char(w->text, '\n', 1);
}

/* Begins a sample up to the space before its value. */
static void begin(struct writer *w, const char *suffix, const struct snapshot_sample *s)
{
	struct text *t = w->text;

	text_add(t, "%s%s", w->family->metric->name, suffix);
	for (size_t i = 0; i < s->label_count; i++) {
		text_add(t, "%c%s=\"", i ? ',' : '{', s->labels[i].name);
		add_escaped(t, s->labels[i].value);
		text_add_char(t, '"', 1);
	}
	text_add(t, "%s ", s->label_count ? "}" : "");
}

static void add_number(struct writer *w, uint64_t value)
{
	if (w->family->scale > 1)
		text_add_seconds(w->text, value);
	else
		text_add_count(w->text, value);
	text_add_char(w->text, '\n', 1);
}

/* ---- histograms ---- */

/* Bucket lines are nearly all of a page, so that what they share is spelled once per series. */
static void add_bucket(struct writer *w, const char *le, size_t bytes, uint64_t value)
{
	struct text *t = w->text;

	text_add_bytes(t, w->scratch.bytes, w->scratch.used);
	text_add_bytes(t, le, bytes);
	text_add_bytes(t, "\"} ", 3);
	text_add_count(t, value);
	text_add_char(t, '\n', 1);
}

static void begin_buckets(struct writer *w, const struct snapshot_sample *s)
{
	struct text *page = w->text;

	text_clear(&w->scratch);
	w->text = &w->scratch;
	begin(w, "_bucket", s);
	w->text = page;
	if (w->scratch.failed)
		return;
	/* "name_bucket{a="b"} " or "name_bucket " becomes the same with an open le. */
	w->scratch.used -= s->label_count ? 2 : 1;
	text_add(&w->scratch, "%cle=\"", s->label_count ? ',' : '{');
}

/* Spells the bound as `le` has it. Returns its length, 0 when memory is gone. */
static size_t spell_bound(enum aggregate_metric metric, size_t i, char *le, size_t size)
{
	struct text text = {0};
	size_t bytes = 0;

	if (histogram_is_time(metric))
		text_add_seconds(&text, histogram_bound(metric, i));
	else
		text_add_count(&text, histogram_bound(metric, i));
	/* As a float is spelled, so that it is the same when a reader spells it anew. */
	if (!text.failed && text.used && !strpbrk(text.bytes, ".e"))
		text_add(&text, ".0");
	if (!text.failed && text.used < size) {
		memcpy(le, text.bytes, text.used);
		bytes = text.used;
	}
	text_fini(&text);
	return bytes;
}

static void add_histogram(
	struct writer *w, const struct snapshot_sample *s, const struct bound *bounds)
{
	const struct aggregate_histogram *h = s->histogram;
	size_t count = histogram_bounds(w->family->metric->index);
	uint64_t total = 0;

	begin_buckets(w, s);
	for (size_t i = 0; i < count; i++) {
		total += h->buckets[i];
		if (bounds[i].bytes)
			add_bucket(w, bounds[i].le, bounds[i].bytes, total);
	}
	/* The buckets are the truth: +Inf and _count must be one number. */
	total += h->buckets[count];
	add_bucket(w, "+Inf", 4, total);
	begin(w, "_sum", s);
	add_number(w, h->sum);
	begin(w, "_count", s);
	text_add_count(w->text, total);
	text_add_char(w->text, '\n', 1);
}

static void add_histograms(struct writer *w)
{
	enum aggregate_metric metric = w->family->metric->index;
	struct bound bounds[BOUNDS_COUNT] = {0};

	for (size_t i = 0; i < histogram_bounds(metric); i++)
		if (histogram_is_classic(metric, i))
			bounds[i].bytes =
				spell_bound(metric, i, bounds[i].le, sizeof(bounds[i].le));
	for (size_t i = 0; i < w->family->count; i++)
		add_histogram(w, &w->family->samples[i], bounds);
	w->text->failed |= w->scratch.failed;
	text_fini(&w->scratch);
}

static void add_values(struct writer *w)
{
	for (size_t i = 0; i < w->family->count; i++) {
		begin(w, "", &w->family->samples[i]);
		add_number(w, w->family->samples[i].value);
	}
}

static void render(struct text *t, const struct snapshot *s, bool openmetrics)
{
	for (size_t i = 0; i < s->family_count; i++) {
		struct writer w = {.text = t, .family = &s->families[i]};

		if (openmetrics)
			add_openmetrics_head(&w);
		else
			add_head(&w);
		if (w.family->metric->type == METRIC_HISTOGRAM)
			add_histograms(&w);
		else
			add_values(&w);
	}
}

void exposition_render(struct text *t, const struct snapshot *s)
{
	render(t, s, false);
}

void exposition_render_openmetrics(struct text *t, const struct snapshot *s)
{
	render(t, s, true);
	text_add(t, "# EOF\n");
}
