/* SPDX-License-Identifier: MIT */
/* Regroups an aggregate's series by fewer labels and subtracts two states of one session. */
#include "probe/grouping.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probe/histogram.h"

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static int order(const char *a, const char *b)
{
	if (!a || !b)
		return (a != NULL) - (b != NULL);
	return strcmp(a, b);
}

/* One source series while it is sorted: the labels that stay, borrowed, and its values. */
struct piece {
	enum aggregate_metric metric;
	uint32_t dispatcher_kind;
	const char *dispatcher;
	const char *class_name;
	const char *actor;
	const char *loop;
	const struct aggregate_histogram *histogram;
};

static int piece_order(const void *a, const void *b)
{
	const struct piece *x = a;
	const struct piece *y = b;
	int result = (int)x->metric - (int)y->metric;

	if (!result)
		result = order(x->dispatcher, y->dispatcher);
	if (!result)
		result = order(x->class_name, y->class_name);
	if (!result)
		result = order(x->actor, y->actor);
	return result ? result : order(x->loop, y->loop);
}

/* A copy of a string that may be absent; *failed is raised when memory is gone. */
static const char *copy(const char *text, bool *failed)
{
	char *twin = text ? strdup(text) : NULL;

	*failed |= text && !twin;
	return twin;
}

/* ---- whole-array copies; an array is counted before its strings, so that fini is exact ---- */

static void *room(size_t count, size_t size, bool *failed)
{
	void *memory = calloc(count ? count : 1, size);

	*failed |= !memory;
	return memory;
}

static void copy_counters(struct aggregate *out, const struct aggregate *in, bool *failed)
{
	out->counters = room(in->counter_count, sizeof(*out->counters), failed);
	for (size_t i = 0; i < in->counter_count && out->counters; i++) {
		const struct aggregate_counter *from = &in->counters[i];

		out->counters[out->counter_count++] = (struct aggregate_counter){
			.family = from->family,
			.dispatcher = copy(from->dispatcher, failed),
			.class_name = copy(from->class_name, failed),
			.reason = copy(from->reason, failed),
			.value = from->value,
		};
	}
}

static void copy_flows(struct aggregate *out, const struct aggregate *in, bool *failed)
{
	out->flows = room(in->flow_count, sizeof(*out->flows), failed);
	for (size_t i = 0; i < in->flow_count && out->flows; i++)
		out->flows[out->flow_count++] = (struct aggregate_flow){
			.from = copy(in->flows[i].from, failed),
			.to = copy(in->flows[i].to, failed),
			.messages = in->flows[i].messages,
		};
}

static void copy_loops(struct aggregate *out, const struct aggregate *in, bool *failed)
{
	out->loops = room(in->loop_count, sizeof(*out->loops), failed);
	for (size_t i = 0; i < in->loop_count && out->loops; i++) {
		struct aggregate_loop *to = &out->loops[out->loop_count++];

		*to = in->loops[i];
		to->system = copy(to->system, failed);
		to->actor = copy(to->actor, failed);
		to->class_name = copy(to->class_name, failed);
		to->dispatcher = copy(to->dispatcher, failed);
		to->type = copy(to->type, failed);
	}
}

static void copy_deep(struct aggregate *out, const struct aggregate *in, bool *failed)
{
	out->deep = room(in->deep_count, sizeof(*out->deep), failed);
	for (size_t i = 0; i < in->deep_count && out->deep; i++) {
		struct aggregate_deep *to = &out->deep[out->deep_count++];

		*to = in->deep[i];
		to->actor = copy(to->actor, failed);
		to->class_name = copy(to->class_name, failed);
		to->dispatcher = copy(to->dispatcher, failed);
	}
}

/* Everything but the series. */
static void copy_head(struct aggregate *out, const struct aggregate *in, bool *failed)
{
	*out = *in;
	out->series = NULL;
	out->series_count = 0;
	out->counters = NULL;
	out->counter_count = 0;
	out->flows = NULL;
	out->flow_count = 0;
	out->loops = NULL;
	out->loop_count = 0;
	out->deep = NULL;
	out->deep_count = 0;
	out->command = copy(in->command, failed);
	out->mode = copy(in->mode, failed);
	copy_counters(out, in, failed);
	copy_flows(out, in, failed);
	copy_loops(out, in, failed);
	copy_deep(out, in, failed);
}

static struct piece reduce(const struct aggregate_series *s, enum grouping by)
{
	bool keep_class = by == GROUPING_FULL || by == GROUPING_CLASS || by == GROUPING_ACTOR;
	bool keep_dispatcher = by == GROUPING_FULL || by == GROUPING_DISPATCHER ||
			       by == GROUPING_ACTOR ||
			       (by == GROUPING_CLASS && s->metric == AGGREGATE_DELAY);

	return (struct piece){
		.metric = s->metric,
		.dispatcher = keep_dispatcher ? s->dispatcher : NULL,
		.dispatcher_kind = keep_dispatcher ? s->dispatcher_kind : 0,
		.class_name = keep_class ? s->class_name : NULL,
		.actor = by == GROUPING_ACTOR ? s->actor : NULL,
		.loop = by == GROUPING_ALL ? NULL : s->loop,
		.histogram = &s->histogram,
	};
}

static void append(struct aggregate *out, const struct piece *p, bool *failed)
{
	struct aggregate_series *to = &out->series[out->series_count++];

	to->metric = p->metric;
	to->dispatcher = copy(p->dispatcher, failed);
	to->dispatcher_kind = p->dispatcher_kind;
	to->class_name = copy(p->class_name, failed);
	to->actor = copy(p->actor, failed);
	to->loop = copy(p->loop, failed);
	to->histogram = *p->histogram;
}

/* Sorts the source by the labels that stay; equal neighbours become one series. */
static void merge(struct aggregate *out, const struct aggregate *in, enum grouping by, bool *failed)
{
	struct piece *pieces = room(in->series_count, sizeof(*pieces), failed);

	out->series = room(in->series_count, sizeof(*out->series), failed);
	for (size_t i = 0; i < in->series_count && !*failed; i++)
		pieces[i] = reduce(&in->series[i], by);
	if (!*failed && in->series_count)
		qsort(pieces, in->series_count, sizeof(*pieces), piece_order);
	for (size_t i = 0; i < in->series_count && !*failed; i++) {
		if (i && piece_order(&pieces[i - 1], &pieces[i]) == 0)
			histogram_add(
				&out->series[out->series_count - 1].histogram, pieces[i].histogram);
		else
			append(out, &pieces[i], failed);
	}
	free(pieces);
}

int grouping_apply(struct aggregate *out, const struct aggregate *in, enum grouping by)
{
	bool failed = false;

	copy_head(out, in, &failed);
	if (!failed)
		merge(out, in, by, &failed);
	if (!failed)
		return 0;
	aggregate_fini(out);
	return -ENOMEM;
}

/* ---- differences ---- */

static bool same_series(const struct aggregate_series *a, const struct aggregate_series *b)
{
	return a->metric == b->metric && same(a->dispatcher, b->dispatcher) &&
	       same(a->class_name, b->class_name) && same(a->actor, b->actor) &&
	       same(a->loop, b->loop);
}

/* States of one session keep the order of their series nearly always: look there first. */
static const struct aggregate_series *twin_series(
	const struct aggregate *before, const struct aggregate_series *s, size_t hint)
{
	if (hint < before->series_count && same_series(&before->series[hint], s))
		return &before->series[hint];
	for (size_t i = 0; i < before->series_count; i++)
		if (same_series(&before->series[i], s))
			return &before->series[i];
	return NULL;
}

static uint64_t earlier_counter(const struct aggregate *before, const struct aggregate_counter *c)
{
	for (size_t i = 0; i < before->counter_count; i++) {
		const struct aggregate_counter *b = &before->counters[i];

		if (b->family == c->family && same(b->dispatcher, c->dispatcher) &&
			same(b->class_name, c->class_name) && same(b->reason, c->reason))
			return b->value;
	}
	return 0;
}

static uint64_t earlier_flow(const struct aggregate *before, const struct aggregate_flow *f)
{
	for (size_t i = 0; i < before->flow_count; i++)
		if (same(before->flows[i].from, f->from) && same(before->flows[i].to, f->to))
			return before->flows[i].messages;
	return 0;
}

static void take(uint64_t *now, uint64_t before)
{
	*now = *now >= before ? *now - before : 0;
}

static void subtract_head(struct aggregate *out, const struct aggregate *before)
{
	take(&out->elapsed_ns, before->elapsed_ns);
	out->delivered_before += before->delivered;
	take(&out->delivered, before->delivered);
	take(&out->recorded, before->recorded);
	take(&out->unstamped, before->unstamped);
	take(&out->clamped, before->clamped);
	take(&out->series_overflow, before->series_overflow);
	take(&out->gaps, before->gaps);
	take(&out->folded, before->folded);
	out->folding = out->folded != 0;
	for (size_t i = 0; i < AGGREGATE_LOST_REASONS; i++)
		take(&out->lost[i], before->lost[i]);
}

static void subtract_loops(struct aggregate *out, const struct aggregate *before)
{
	for (size_t i = 0; i < out->loop_count; i++)
		for (size_t j = 0; j < before->loop_count; j++)
			if (before->loops[j].loop == out->loops[i].loop) {
				take(&out->loops[i].delivered, before->loops[j].delivered);
				break;
			}
}

int grouping_subtract(
	struct aggregate *out, const struct aggregate *now, const struct aggregate *before)
{
	int result = grouping_apply(out, now, now->by_actor ? GROUPING_ACTOR : GROUPING_FULL);

	if (result)
		return result;
	subtract_head(out, before);
	subtract_loops(out, before);
	for (size_t i = 0; i < out->series_count; i++) {
		struct aggregate_series *s = &out->series[i];
		const struct aggregate_series *b = twin_series(before, s, i);

		if (b)
			histogram_subtract(&s->histogram, &b->histogram, s->metric);
	}
	for (size_t i = 0; i < out->counter_count; i++)
		take(&out->counters[i].value, earlier_counter(before, &out->counters[i]));
	for (size_t i = 0; i < out->flow_count; i++)
		take(&out->flows[i].messages, earlier_flow(before, &out->flows[i]));
	return 0;
}

/* ---- look-ups ---- */

static bool matches(const char *wanted, const char *label)
{
	return !wanted || same(wanted, label);
}

const struct aggregate_series *grouping_find(const struct aggregate *a,
	enum aggregate_metric metric, const char *dispatcher, const char *class_name)
{
	for (size_t i = 0; i < a->series_count; i++) {
		const struct aggregate_series *s = &a->series[i];

		if (s->metric == metric && matches(dispatcher, s->dispatcher) &&
			matches(class_name, s->class_name))
			return s;
	}
	return NULL;
}

uint64_t grouping_counted(const struct aggregate *a, enum aggregate_family family,
	const char *dispatcher, const char *class_name, const char *reason)
{
	uint64_t total = 0;

	for (size_t i = 0; i < a->counter_count; i++) {
		const struct aggregate_counter *c = &a->counters[i];

		if (c->family == family && matches(dispatcher, c->dispatcher) &&
			matches(class_name, c->class_name) && matches(reason, c->reason))
			total += c->value;
	}
	return total;
}
