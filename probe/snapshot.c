/* SPDX-License-Identifier: MIT */
/* Turns aggregates into families of samples. */
#include "probe/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probe/histogram.h"

#define NANO 1000000000u

/* One part of one family while its samples are made. */
struct maker {
	struct snapshot *snapshot;
	struct snapshot_family *family;
	const struct snapshot_part *part;
	const struct aggregate *a;
};

/* ---- samples ---- */

/* Another sample, with the label of its part; NULL without memory. */
static struct snapshot_sample *sample_add(struct maker *m)
{
	struct snapshot_family *f = m->family;
	size_t room = f->room ? 2 * f->room : 4;
	struct snapshot_sample *more;

	if (f->count == f->room) {
		more = realloc(f->samples, room * sizeof(*more));
		if (!more) {
			m->snapshot->failed = true;
			return NULL;
		}
		f->samples = more;
		f->room = room;
	}
	more = &f->samples[f->count++];
	memset(more, 0, sizeof(*more));
	if (m->part) {
		more->start_unix_ns = m->part->start_unix_ns;
		if (m->part->process)
			more->labels[more->label_count++] =
				(struct snapshot_label){"process", m->part->process};
	}
	return more;
}

static void label_add(struct snapshot_sample *s, const char *name, const char *value)
{
	if (s && value && s->label_count < SNAPSHOT_LABELS_MAX)
		s->labels[s->label_count++] = (struct snapshot_label){name, value};
}

static struct snapshot_sample *value_add(struct maker *m, uint64_t value)
{
	struct snapshot_sample *s = sample_add(m);

	if (s)
		s->value = value;
	return s;
}

/* ---- samples with equal labels become one ---- */

static int sample_compare(const void *a, const void *b)
{
	const struct snapshot_sample *x = a, *y = b;
	int r = 0;

	for (size_t i = 0; !r && i < x->label_count && i < y->label_count; i++) {
		r = strcmp(x->labels[i].name, y->labels[i].name);
		r = r ? r : strcmp(x->labels[i].value, y->labels[i].value);
	}
	return r ? r : (x->label_count > y->label_count) - (x->label_count < y->label_count);
}

static void sample_merge(
	const struct metric *metric, struct snapshot_sample *to, const struct snapshot_sample *from)
{
	if (to->histogram)
		histogram_add(to->histogram, from->histogram);
	else if (metric->type == METRIC_COUNTER)
		to->value += from->value;
	else if (metric->source == METRIC_TARGETS)
		to->value += from->value;
	else if (to->value < from->value)
		to->value = from->value;
}

static void family_merge(struct snapshot_family *f)
{
	size_t used = 0;

	if (f->count)
		qsort(f->samples, f->count, sizeof(*f->samples), sample_compare);
	for (size_t i = 0; i < f->count; i++) {
		if (used && sample_compare(&f->samples[used - 1], &f->samples[i]) == 0)
			sample_merge(f->metric, &f->samples[used - 1], &f->samples[i]);
		else
			f->samples[used++] = f->samples[i];
	}
	f->count = used;
}

/* ---- where samples come from ---- */

static void make_series(struct maker *m)
{
	for (size_t i = 0; i < m->a->series_count; i++) {
		struct aggregate_series *from = &m->a->series[i];
		struct snapshot_sample *s;

		if (from->metric != m->family->metric->index)
			continue;
		s = sample_add(m);
		if (s)
			s->histogram = &from->histogram;
		label_add(s, "dispatcher", from->dispatcher);
		label_add(s, "class", from->class_name);
		label_add(s, "loop", from->loop);
	}
}

/* Only the labels that the table names are shown. */
static void make_counters(struct maker *m)
{
	const char *labels = m->family->metric->labels;

	for (size_t i = 0; i < m->a->counter_count; i++) {
		const struct aggregate_counter *c = &m->a->counters[i];
		struct snapshot_sample *s;

		if (c->family != m->family->metric->index)
			continue;
		s = value_add(m, c->value);
		label_add(s, "dispatcher", strstr(labels, "dispatcher") ? c->dispatcher : NULL);
		label_add(s, "class", strstr(labels, "class") ? c->class_name : NULL);
		label_add(s, "reason", strstr(labels, "reason") ? c->reason : NULL);
	}
}

static void make_busy(struct maker *m)
{
	for (size_t i = 0; i < m->a->series_count; i++)
		if (m->a->series[i].metric == AGGREGATE_LOOP_GAP)
			label_add(value_add(m, m->a->series[i].histogram.sum), "loop",
				m->a->series[i].loop);
}

/* Loops that run the same class on the same dispatcher show the turn that is open longest. */
static void make_open_turns(struct maker *m)
{
	for (size_t i = 0; i < m->a->loop_count; i++) {
		const struct aggregate_loop *l = &m->a->loops[i];
		struct snapshot_sample *s;

		if (!m->a->alive || !l->class_name)
			continue;
		s = value_add(m, l->open_ns);
		label_add(s, "dispatcher", l->dispatcher);
		label_add(s, "class", l->class_name);
	}
}

/* Two systems of a process may have actors of the same path: the longer mailbox is shown. */
static void make_sizes(struct maker *m)
{
	for (size_t i = 0; m->a->alive && i < m->a->deep_count; i++) {
		struct snapshot_sample *s = value_add(m, m->a->deep[i].messages);

		label_add(s, "class", m->a->deep[i].class_name);
		label_add(s, "path", m->a->deep[i].actor);
	}
}

static void make_oldest(struct maker *m)
{
	for (size_t i = 0; m->a->alive && i < m->a->deep_count; i++) {
		struct snapshot_sample *s;

		if (!m->a->deep[i].timed)
			continue;
		s = value_add(m, m->a->deep[i].oldest_ns);
		label_add(s, "dispatcher", m->a->deep[i].dispatcher);
		label_add(s, "class", m->a->deep[i].class_name);
	}
}

static void make_lost(struct maker *m)
{
	for (size_t i = 0; i < AGGREGATE_LOST_REASONS; i++)
		label_add(value_add(m, m->a->lost[i]), "reason", metric_lost_reason(i));
}

static void make_targets(struct maker *m)
{
	for (size_t i = 0; i < m->part->target_count; i++) {
		const struct snapshot_target *t = &m->part->targets[i];
		struct snapshot_sample *s = value_add(m, 1);

		label_add(s, "pid", t->pid);
		label_add(s, "command", t->command);
		label_add(s, "exe", t->exe);
		label_add(s, "cgroup", t->cgroup);
		label_add(s, "container", t->container);
	}
}

/* The one value of a part that a family shows; those of actorprobe itself are not among them. */
static uint64_t single_value(const struct aggregate *a, enum metric_source source)
{
	switch (source) {
	case METRIC_ATTACHED:
		return a->alive && !a->detached;
	case METRIC_ATTACH_TIME:
		return a->attach_ns;
	case METRIC_RECORDS:
		return a->recorded;
	case METRIC_UNSTAMPED:
		return a->unstamped;
	case METRIC_CLAMPED:
		return a->clamped;
	case METRIC_OVERFLOW:
		return a->series_overflow;
	case METRIC_GAPS:
		return a->gaps;
	case METRIC_FOLDED:
		return a->folded;
	case METRIC_FOLDING:
		return a->folding;
	case METRIC_SAMPLE:
		return a->sample_every ? a->sample_every : 1;
	case METRIC_OVERHEAD:
		return (uint64_t)(a->overhead * NANO);
	default:
		return 0;
	}
}

static void make_part(struct maker *m)
{
	switch (m->family->metric->source) {
	case METRIC_SERIES:
		return make_series(m);
	case METRIC_COUNTERS:
		return make_counters(m);
	case METRIC_TURN_OPEN:
		return make_open_turns(m);
	case METRIC_SIZE:
		return make_sizes(m);
	case METRIC_OLDEST:
		return make_oldest(m);
	case METRIC_LOOP_BUSY:
		return make_busy(m);
	case METRIC_LOST:
		return make_lost(m);
	case METRIC_TARGET:
		return make_targets(m);
	case METRIC_TARGETS:
		value_add(m, m->part->target_count);
		return;
	default:
		value_add(m, single_value(m->a, m->family->metric->source));
	}
}

/* What actorprobe says about itself has no part. False: the family is not one of these. */
static bool make_self(struct maker *m, const struct snapshot_self *self)
{
	m->part = NULL;
	switch (m->family->metric->source) {
	case METRIC_CPU:
		value_add(m, self->cpu_ns);
		return true;
	case METRIC_MEMORY:
		value_add(m, self->resident_bytes);
		return true;
	case METRIC_BUILD:
		label_add(value_add(m, 1), "version", self->version);
		return true;
	default:
		return false;
	}
}

int snapshot_build(struct snapshot *s, const struct snapshot_part *parts, size_t count,
	const struct snapshot_self *self)
{
	*s = (struct snapshot){.families = calloc(metric_count, sizeof(*s->families))};
	s->failed = !s->families;
	for (size_t i = 0; i < metric_count && !s->failed; i++) {
		struct maker m = {.snapshot = s, .family = &s->families[s->family_count]};

		m.family->metric = &metrics[i];
		m.family->scale = metric_is_nano(&metrics[i]) ? NANO : 1;
		if (!make_self(&m, self)) {
			for (size_t p = 0; p < count; p++) {
				if (parts[p].name_only && metrics[i].source != METRIC_ATTACHED)
					continue;
				m.part = &parts[p];
				m.a = parts[p].aggregate;
				make_part(&m);
			}
		}
		family_merge(m.family);
		s->family_count += m.family->count > 0;
	}
	if (!s->failed)
		return 0;
	s->family_count += s->families != NULL && s->family_count < metric_count;
	snapshot_fini(s);
	return -ENOMEM;
}

void snapshot_fini(struct snapshot *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->family_count; i++)
		free(s->families[i].samples);
	free(s->families);
	*s = (struct snapshot){0};
}
