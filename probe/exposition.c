/* SPDX-License-Identifier: MIT */
/* An aggregate in the Prometheus text format 0.0.4. */
#include "probe/exposition.h"

#include <stdio.h>
#include <string.h>

#include "probe/grouping.h"
#include "probe/histogram.h"
#include "probe/metric.h"

#define SERIES_LABELS 3

struct label {
	const char *name;
	const char *value; /* NULL = not used */
};

/* A classic bound as text; no text = not a classic one. */
struct bound {
	char le[24];
	size_t bytes;
};

/* One family while it is written; its head is due before the first sample only. */
struct family {
	struct text *text;
	const struct metric *metric;
	bool begun;
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

static void add_head(struct family *f)
{
	if (!f->begun)
		text_add(f->text, "# HELP %s %s\n# TYPE %s %s\n", f->metric->name, f->metric->help,
			f->metric->name, metric_type_name(f->metric->type));
	f->begun = true;
}

/* Begins a sample up to the space before its value. The last label may be NULL. */
static void begin(struct family *f, const char *suffix, const struct label *labels, size_t count)
{
	struct text *t = f->text;
	char between = '{';

	add_head(f);
	text_add(t, "%s%s", f->metric->name, suffix);
	for (size_t i = 0; i < count; i++) {
		if (!labels[i].value)
			continue;
		text_add(t, "%c%s=\"", between, labels[i].name);
		add_escaped(t, labels[i].value);
		text_add(t, "\"");
		between = ',';
	}
	text_add(t, "%s ", between == ',' ? "}" : "");
}

static void add_count(struct family *f, const char *suffix, const struct label *labels,
	size_t count, uint64_t value)
{
	begin(f, suffix, labels, count);
	text_add_count(f->text, value);
	text_add_char(f->text, '\n', 1);
}

static void add_time(
	struct family *f, const char *suffix, const struct label *labels, size_t count, uint64_t ns)
{
	begin(f, suffix, labels, count);
	text_add_seconds(f->text, ns);
	text_add(f->text, "\n");
}

/* ---- histograms ---- */

/* Bucket lines are nearly all of a page, so that what they share is spelled once per series. */
static void add_bucket(struct family *f, const char *le, size_t bytes, uint64_t value)
{
	struct text *t = f->text;

	text_add_bytes(t, f->scratch.bytes, f->scratch.used);
	text_add_bytes(t, le, bytes);
	text_add_bytes(t, "\"} ", 3);
	text_add_count(t, value);
	text_add_char(t, '\n', 1);
}

static void begin_buckets(struct family *f, const struct label *labels)
{
	struct text *page = f->text;
	bool some = false;

	for (size_t i = 0; i < SERIES_LABELS; i++)
		some |= labels[i].value != NULL;
	text_clear(&f->scratch);
	f->text = &f->scratch;
	begin(f, "_bucket", labels, SERIES_LABELS);
	f->text = page;
	if (f->scratch.failed)
		return;
	/* "name_bucket{a="b"} " or "name_bucket " becomes the same with an open le. */
	f->scratch.used -= some ? 2 : 1;
	text_add(&f->scratch, "%cle=\"", some ? ',' : '{');
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
	if (!text.failed && text.used < size) {
		memcpy(le, text.bytes, text.used);
		bytes = text.used;
	}
	text_fini(&text);
	return bytes;
}

static void add_histogram(
	struct family *f, const struct aggregate_series *s, const struct bound *bounds)
{
	const struct label labels[SERIES_LABELS] = {
		{"dispatcher", s->dispatcher}, {"class", s->class_name}, {"loop", s->loop}};
	const struct aggregate_histogram *h = &s->histogram;
	size_t count = histogram_bounds(s->metric);
	uint64_t total = 0;

	add_head(f);
	begin_buckets(f, labels);
	for (size_t i = 0; i < count; i++) {
		total += h->buckets[i];
		if (bounds[i].bytes)
			add_bucket(f, bounds[i].le, bounds[i].bytes, total);
	}
	/* The buckets are the truth: +Inf and _count must be one number. */
	total += h->buckets[count];
	add_bucket(f, "+Inf", 4, total);
	if (histogram_is_time(s->metric))
		add_time(f, "_sum", labels, SERIES_LABELS, h->sum);
	else
		add_count(f, "_sum", labels, SERIES_LABELS, h->sum);
	add_count(f, "_count", labels, SERIES_LABELS, total);
}

static void add_series(struct family *f, const struct aggregate *a)
{
	enum aggregate_metric metric = f->metric->index;
	struct bound bounds[BOUNDS_COUNT] = {0};

	for (size_t i = 0; i < histogram_bounds(metric); i++)
		if (histogram_is_classic(metric, i))
			bounds[i].bytes =
				spell_bound(metric, i, bounds[i].le, sizeof(bounds[i].le));
	for (size_t i = 0; i < a->series_count; i++)
		if (a->series[i].metric == metric)
			add_histogram(f, &a->series[i], bounds);
	f->text->failed |= f->scratch.failed;
	text_fini(&f->scratch);
}

/* ---- counters with labels ---- */

static bool same(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

/* Only the labels that the table names are shown; counters that then look alike become one. */
static void add_counters(struct family *f, const struct aggregate *a)
{
	bool by_class = strstr(f->metric->labels, "class");
	bool by_dispatcher = strstr(f->metric->labels, "dispatcher");
	bool by_reason = strstr(f->metric->labels, "reason");

	for (size_t i = 0; i < a->counter_count; i++) {
		const struct aggregate_counter *c = &a->counters[i];
		const struct label labels[] = {
			{"dispatcher", by_dispatcher ? c->dispatcher : NULL},
			{"class", by_class ? c->class_name : NULL},
			{"reason", by_reason ? c->reason : NULL},
		};
		bool earlier = false;

		if (c->family != f->metric->index)
			continue;
		for (size_t j = 0; j < i && !earlier; j++) {
			const struct aggregate_counter *d = &a->counters[j];

			earlier = d->family == c->family &&
				  (!by_dispatcher || same(d->dispatcher, c->dispatcher)) &&
				  (!by_class || same(d->class_name, c->class_name)) &&
				  (!by_reason || same(d->reason, c->reason));
		}
		if (!earlier)
			add_count(f, "", labels, 3,
				grouping_counted(a, c->family, labels[0].value, labels[1].value,
					labels[2].value));
	}
}

/* ---- loops ---- */

static bool same_place(const struct aggregate_loop *a, const struct aggregate_loop *b)
{
	return same(a->dispatcher, b->dispatcher) && same(a->class_name, b->class_name);
}

static void add_busy(struct family *f, const struct aggregate *a)
{
	for (size_t i = 0; i < a->series_count; i++) {
		const struct aggregate_series *s = &a->series[i];
		const struct label loop = {"loop", s->loop};

		if (s->metric == AGGREGATE_LOOP_GAP)
			add_time(f, "", &loop, 1, s->histogram.sum);
	}
}

/* Loops that run the same class on the same dispatcher show the turn that is open longest. */
static void add_open_turns(struct family *f, const struct aggregate *a)
{
	for (size_t i = 0; i < a->loop_count; i++) {
		const struct aggregate_loop *l = &a->loops[i];
		const struct label labels[] = {
			{"dispatcher", l->dispatcher}, {"class", l->class_name}};
		uint64_t open_ns = l->open_ns;
		bool earlier = false;

		if (!a->alive || !l->class_name)
			continue;
		for (size_t j = 0; j < a->loop_count; j++) {
			const struct aggregate_loop *m = &a->loops[j];

			if (!m->class_name || !same_place(m, l))
				continue;
			earlier |= j < i;
			if (m->open_ns > open_ns)
				open_ns = m->open_ns;
		}
		if (!earlier)
			add_time(f, "", labels, 2, open_ns);
	}
}

/* ---- deep mailboxes ---- */

/* Two systems of a process may have actors of the same path: the longer mailbox is shown. */
static void add_sizes(struct family *f, const struct aggregate *a)
{
	for (size_t i = 0; i < a->deep_count; i++) {
		const struct aggregate_deep *d = &a->deep[i];
		const struct label labels[] = {{"class", d->class_name}, {"path", d->actor}};
		uint64_t messages = d->messages;
		bool earlier = false;

		for (size_t j = 0; j < a->deep_count; j++) {
			const struct aggregate_deep *e = &a->deep[j];

			if (!same(e->actor, d->actor) || !same(e->class_name, d->class_name))
				continue;
			earlier |= j < i;
			if (e->messages > messages)
				messages = e->messages;
		}
		if (a->alive && !earlier)
			add_count(f, "", labels, 2, messages);
	}
}

static void add_oldest(struct family *f, const struct aggregate *a)
{
	for (size_t i = 0; i < a->deep_count; i++) {
		const struct aggregate_deep *d = &a->deep[i];
		const struct label labels[] = {
			{"dispatcher", d->dispatcher}, {"class", d->class_name}};
		uint64_t oldest_ns = d->oldest_ns;
		bool earlier = false;

		if (!a->alive || !d->timed)
			continue;
		for (size_t j = 0; j < a->deep_count; j++) {
			const struct aggregate_deep *e = &a->deep[j];

			if (!e->timed || !same(e->dispatcher, d->dispatcher) ||
				!same(e->class_name, d->class_name))
				continue;
			earlier |= j < i;
			if (e->oldest_ns > oldest_ns)
				oldest_ns = e->oldest_ns;
		}
		if (!earlier)
			add_time(f, "", labels, 2, oldest_ns);
	}
}

/* ---- single values ---- */

static void add_lost(struct family *f, const struct aggregate *a)
{
	for (size_t i = 0; i < AGGREGATE_LOST_REASONS; i++) {
		const struct label reason = {"reason", metric_lost_reason(i)};

		add_count(f, "", &reason, 1, a->lost[i]);
	}
}

static void add_target(struct family *f, const struct aggregate *a)
{
	char pid[24];
	const struct label labels[] = {{"pid", pid}, {"command", a->command}};

	snprintf(pid, sizeof(pid), "%d", (int)a->pid);
	add_count(f, "", labels, 2, 1);
}

static void add_family(
	struct family *f, const struct aggregate *a, const struct exposition_self *self)
{
	const struct label version = {"version", self->version};

	switch (f->metric->source) {
	case METRIC_SERIES:
		return add_series(f, a);
	case METRIC_COUNTERS:
		return add_counters(f, a);
	case METRIC_TURN_OPEN:
		return add_open_turns(f, a);
	case METRIC_SIZE:
		return add_sizes(f, a);
	case METRIC_OLDEST:
		return add_oldest(f, a);
	case METRIC_LOOP_BUSY:
		return add_busy(f, a);
	case METRIC_ATTACHED:
		return add_count(f, "", NULL, 0, a->alive && !a->detached);
	case METRIC_ATTACH_TIME:
		return add_time(f, "", NULL, 0, a->attach_ns);
	case METRIC_RECORDS:
		return add_count(f, "", NULL, 0, a->recorded);
	case METRIC_UNSTAMPED:
		return add_count(f, "", NULL, 0, a->unstamped);
	case METRIC_LOST:
		return add_lost(f, a);
	case METRIC_CLAMPED:
		return add_count(f, "", NULL, 0, a->clamped);
	case METRIC_OVERFLOW:
		return add_count(f, "", NULL, 0, a->series_overflow);
	case METRIC_GAPS:
		return add_count(f, "", NULL, 0, a->gaps);
	case METRIC_FOLDED:
		return add_count(f, "", NULL, 0, a->folded);
	case METRIC_FOLDING:
		return add_count(f, "", NULL, 0, a->folding);
	case METRIC_SAMPLE:
		return add_count(f, "", NULL, 0, a->sample_every ? a->sample_every : 1);
	case METRIC_OVERHEAD:
		return add_time(f, "", NULL, 0, (uint64_t)(a->overhead * 1e9));
	case METRIC_CPU:
		return add_time(f, "", NULL, 0, self->cpu_ns);
	case METRIC_MEMORY:
		return add_count(f, "", NULL, 0, self->resident_bytes);
	case METRIC_BUILD:
		return add_count(f, "", &version, 1, 1);
	case METRIC_TARGET:
		return add_target(f, a);
	}
}

void exposition_render(
	struct text *t, const struct aggregate *a, const struct exposition_self *self)
{
	struct aggregate grouped = {0};

	if (grouping_apply(&grouped, a, GROUPING_FULL)) {
		t->failed = true;
		return;
	}
	for (size_t i = 0; i < metric_count; i++) {
		struct family f = {.text = t, .metric = &metrics[i]};

		add_family(&f, &grouped, self);
	}
	aggregate_fini(&grouped);
}
