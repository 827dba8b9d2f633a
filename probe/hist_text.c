/* SPDX-License-Identifier: MIT */
/* Prints the histograms of an aggregate for people, as bars of stars. */
#include "probe/hist_text.h"

#include <inttypes.h>
#include <string.h>

#include "probe/histogram.h"
#include "probe/metric.h"
#include "runtime/abi.h"

#define BAR_COLUMNS 40
#define ROWS_MAX    (BOUNDS_COUNT + 2)

#define OPEN_TURN_NS 100000000ull /* a turn that has lasted so long is worth a word */

struct row {
	uint64_t lower;
	uint64_t upper; /* UINT64_MAX: without a bound */
	uint64_t count;
};

struct rows {
	struct row row[ROWS_MAX];
	size_t count;
	uint64_t highest;
};

static void add_value(struct text *t, double value, enum aggregate_metric metric)
{
	if (histogram_is_time(metric))
		text_add_ns(t, value);
	else
		text_add_number(t, value);
}

/* Sums buckets up to each bound that ends a row; empty rows at both ends are left out. */
static void rows_fill(
	struct rows *r, const struct aggregate_histogram *h, enum aggregate_metric metric)
{
	size_t bounds = histogram_bounds(metric);
	size_t used = 0;
	struct row next = {0};

	r->count = 0;
	r->highest = 0;
	for (size_t i = 0; i <= bounds; i++) {
		next.count += h->buckets[i];
		if (i < bounds && i + 1 < bounds && !histogram_ends_row(metric, i))
			continue;
		next.upper = i < bounds ? histogram_bound(metric, i) : UINT64_MAX;
		if (next.count || r->count)
			r->row[r->count++] = next;
		if (next.count)
			used = r->count;
		if (next.count > r->highest)
			r->highest = next.count;
		next = (struct row){.lower = next.upper};
	}
	r->count = used;
}

static void add_row(
	struct text *t, const struct row *r, uint64_t highest, enum aggregate_metric metric)
{
	struct text range = {0};
	unsigned int stars = (unsigned int)((double)r->count / (double)highest * BAR_COLUMNS);

	add_value(&range, (double)r->lower, metric);
	text_add_right(t, range.bytes ? range.bytes : "", 10);
	text_clear(&range);
	if (r->upper == UINT64_MAX)
		text_add(&range, "more");
	else
		add_value(&range, (double)r->upper, metric);
	text_add(t, " -> ");
	text_add_left(t, range.bytes ? range.bytes : "", 9);
	text_add(t, ": %-11" PRIu64 "|", r->count);
	text_add_char(t, '*', stars);
	text_add_char(t, ' ', BAR_COLUMNS - stars);
	text_add(t, "|\n");
	text_fini(&range);
}

static void add_summary(
	struct text *t, const struct aggregate_histogram *h, enum aggregate_metric metric)
{
	static const struct {
		const char *name;
		double q;
	} points[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}};

	text_add(t, "  count %" PRIu64, h->count);
	for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
		text_add(t, "  %s ", points[i].name);
		add_value(t, histogram_quantile(h, metric, points[i].q), metric);
	}
	text_add(t, "  max ");
	add_value(t, (double)h->max, metric);
	text_add(t, "\n");
}

static void add_labels(struct text *t, const struct aggregate_series *s)
{
	const struct {
		const char *name;
		const char *value;
	} labels[] = {{"dispatcher", s->dispatcher}, {"class", s->class_name}, {"actor", s->actor},
		{"loop", s->loop}};
	const char *between = ": ";

	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
		if (!labels[i].value)
			continue;
		text_add(t, "%s%s %s", between, labels[i].name, labels[i].value);
		between = ", ";
	}
}

static void add_series(struct text *t, const struct aggregate_series *s)
{
	struct rows rows;

	text_add(t, "%s", metric_of(s->metric)->title);
	add_labels(t, s);
	text_add(t, "\n");
	add_summary(t, &s->histogram, s->metric);
	rows_fill(&rows, &s->histogram, s->metric);
	for (size_t i = 0; i < rows.count; i++)
		add_row(t, &rows.row[i], rows.highest, s->metric);
	text_add(t, "\n");
}

/* One metric in all its groups; says so when there is nothing, so that silence means nothing. */
static void add_metric(
	struct text *t, const struct aggregate *grouped, enum aggregate_metric metric)
{
	bool any = false;

	for (size_t i = 0; i < grouped->series_count; i++) {
		const struct aggregate_series *s = &grouped->series[i];

		if (s->metric != metric || s->histogram.count == 0)
			continue;
		add_series(t, s);
		any = true;
	}
	if (!any && metric != AGGREGATE_LOOP_GAP) /* which mode trace does not have */
		text_add(t, "%s\n  count 0\n\n", metric_of(metric)->title);
}

/* A microtask dispatcher never waits for the loop: what waits is everything else on that loop. */
static void add_microtask_notes(struct text *t, const struct aggregate *a)
{
	const char *last = NULL;

	for (size_t i = 0; i < a->series_count; i++) {
		const struct aggregate_series *s = &a->series[i];

		if (s->metric != AGGREGATE_DELAY || s->dispatcher_kind != ACTOR_ABI_MICROTASK ||
			s->histogram.count == 0 || !s->dispatcher ||
			(last && strcmp(last, s->dispatcher) == 0))
			continue;
		last = s->dispatcher;
		text_add(t,
			"note: dispatcher %s is of the kind microtask and never gives the loop "
			"back; "
			"its low queue delay proves no headroom\n",
			last);
	}
}

/* Its messages are recorded when it ends: without a word, a stuck loop looks like an idle one. */
static void add_open_turn_notes(struct text *t, const struct aggregate *a)
{
	for (size_t i = 0; i < a->loop_count; i++) {
		const struct aggregate_loop *l = &a->loops[i];

		if (!l->actor || l->open_ns < OPEN_TURN_NS)
			continue;
		text_add(t, "note: loop %s/%" PRIu32 " has been in one turn of %s",
			l->system ? l->system : "-", l->loop, l->actor);
		if (l->class_name)
			text_add(t, " (class %s)", l->class_name);
		text_add(t, " for at least ");
		text_add_ns(t, (double)l->open_ns);
		text_add(t, "; it is counted when it ends\n");
	}
}

void hist_text_accounting(struct text *t, const struct aggregate *a)
{
	uint64_t lost = aggregate_lost_total(a);
	const char *between = " (";

	text_add(t,
		"delivered %" PRIu64 " = recorded %" PRIu64 " + unstamped %" PRIu64
		" + lost %" PRIu64,
		a->delivered, a->recorded, a->unstamped, lost);
	for (size_t i = 0; i < AGGREGATE_LOST_REASONS && lost; i++) {
		if (!a->lost[i])
			continue;
		text_add(t, "%s%s %" PRIu64, between, metric_lost_reason(i), a->lost[i]);
		between = ", ";
	}
	text_add(t, "%s", lost ? ")" : "");
}

static void add_source_notes(struct text *t, const struct aggregate *a)
{
	if (a->folded)
		text_add(t,
			"note: %" PRIu64 " records were folded in the kernel, as they came faster "
			"than they could be read; nothing is lost, but who sends to whom is not "
			"complete\n",
			a->folded);
	if (a->sample_every > 1)
		text_add(t,
			"note: sampled; each %" PRIu64 "th batch was observed and its messages "
			"stand for those of the others\n",
			a->sample_every);
	if (a->detached)
		text_add(t, "note: the probes were taken away before the end, as they cost too "
			    "much (--max-overhead)\n");
	if (a->gaps)
		text_add(t,
			"note: %" PRIu64 " batches of records did not continue the one before "
			"them\n",
			a->gaps);
}

static void add_overflow_note(struct text *t, const struct aggregate *a)
{
	if (a->series_overflow)
		text_add(t,
			"note: %" PRIu64 " records fell into the series __overflow__; raise "
			"--max-series\n",
			a->series_overflow);
}

void hist_text_render(struct text *t, const struct aggregate *a, enum grouping by, bool every)
{
	struct aggregate grouped = {0};
	enum aggregate_metric last = every ? AGGREGATE_METRICS - 1 : AGGREGATE_DELAY;

	if (grouping_apply(&grouped, a, by == GROUPING_FULL ? GROUPING_ALL : by)) {
		t->failed = true;
		return;
	}
	for (enum aggregate_metric metric = AGGREGATE_WAIT; metric <= last; metric++)
		add_metric(t, &grouped, metric);
	add_microtask_notes(t, a);
	add_overflow_note(t, a);
	add_source_notes(t, a);
	add_open_turn_notes(t, a);
	hist_text_accounting(t, a);
	text_add(t, "\n");
	aggregate_fini(&grouped);
}
