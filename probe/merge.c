/* SPDX-License-Identifier: MIT */
/* Sorts, then folds each element into its equal neighbour. */
#include "probe/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int text_compare(const char *a, const char *b)
{
	if (!a || !b)
		return (a != NULL) - (b != NULL);
	return strcmp(a, b);
}

static int series_compare(const void *a, const void *b)
{
	const struct aggregate_series *x = a, *y = b;
	int r = (x->metric > y->metric) - (x->metric < y->metric);

	r = r ? r : text_compare(x->dispatcher, y->dispatcher);
	r = r ? r : text_compare(x->class_name, y->class_name);
	r = r ? r : text_compare(x->actor, y->actor);
	return r ? r : text_compare(x->loop, y->loop);
}

static int counter_compare(const void *a, const void *b)
{
	const struct aggregate_counter *x = a, *y = b;
	int r = (x->family > y->family) - (x->family < y->family);

	r = r ? r : text_compare(x->dispatcher, y->dispatcher);
	r = r ? r : text_compare(x->class_name, y->class_name);
	return r ? r : text_compare(x->reason, y->reason);
}

static void series_merge(struct aggregate_series *to, struct aggregate_series *from)
{
	to->histogram.count += from->histogram.count;
	to->histogram.sum += from->histogram.sum;
	if (to->histogram.max < from->histogram.max)
		to->histogram.max = from->histogram.max;
	for (size_t i = 0; i <= BOUNDS_COUNT; i++)
		to->histogram.buckets[i] += from->histogram.buckets[i];
	free((void *)from->dispatcher);
	free((void *)from->class_name);
	free((void *)from->actor);
	free((void *)from->loop);
}

static void counter_merge(struct aggregate_counter *to, struct aggregate_counter *from)
{
	to->value += from->value;
	free((void *)from->dispatcher);
	free((void *)from->class_name);
	free((void *)from->reason);
}

static int flow_compare(const void *a, const void *b)
{
	const struct aggregate_flow *x = a, *y = b;
	int r = text_compare(x->from, y->from);

	return r ? r : text_compare(x->to, y->to);
}

static void flows_merge(struct aggregate *a)
{
	size_t used = 0;

	if (a->flow_count)
		qsort(a->flows, a->flow_count, sizeof(*a->flows), flow_compare);
	for (size_t i = 0; i < a->flow_count; i++) {
		if (used && flow_compare(&a->flows[used - 1], &a->flows[i]) == 0) {
			a->flows[used - 1].messages += a->flows[i].messages;
			free((void *)a->flows[i].from);
			free((void *)a->flows[i].to);
		} else {
			a->flows[used++] = a->flows[i];
		}
	}
	a->flow_count = used;
}

void merge_equals(struct aggregate *a)
{
	size_t used = 0;

	if (a->series_count)
		qsort(a->series, a->series_count, sizeof(*a->series), series_compare);
	for (size_t i = 0; i < a->series_count; i++) {
		if (used && series_compare(&a->series[used - 1], &a->series[i]) == 0)
			series_merge(&a->series[used - 1], &a->series[i]);
		else
			a->series[used++] = a->series[i];
	}
	a->series_count = used;
	if (a->counter_count)
		qsort(a->counters, a->counter_count, sizeof(*a->counters), counter_compare);
	used = 0;
	for (size_t i = 0; i < a->counter_count; i++) {
		if (used && counter_compare(&a->counters[used - 1], &a->counters[i]) == 0)
			counter_merge(&a->counters[used - 1], &a->counters[i]);
		else
			a->counters[used++] = a->counters[i];
	}
	a->counter_count = used;
	flows_merge(a);
}

/* ---- two processes ---- */

/* Moves `more` elements behind those of `*to`. */
static int append(void **to, size_t *count, void *from, size_t more, size_t bytes)
{
	char *room;

	if (!more)
		return 0;
	room = realloc(*to, (*count + more) * bytes);
	if (!room)
		return -ENOMEM;
	memcpy(room + *count * bytes, from, more * bytes);
	*to = room;
	*count += more;
	return 0;
}

/* The array, its count and the size of an element; what was moved is not freed with `from`. */
#define MOVE(array, array_count)                                                                   \
	do {                                                                                       \
		void *moved_ = to->array;                                                          \
                                                                                                   \
		if (append(&moved_, &to->array_count, from->array, from->array_count,              \
			    sizeof(*to->array)) < 0)                                               \
			r = -ENOMEM;                                                               \
		else                                                                               \
			from->array_count = 0;                                                     \
		to->array = moved_;                                                                \
	} while (0)

static void raise(uint64_t *to, uint64_t from)
{
	if (*to < from)
		*to = from;
}

static void numbers_add(struct aggregate *to, const struct aggregate *from)
{
	to->delivered_before += from->delivered_before;
	to->delivered += from->delivered;
	to->recorded += from->recorded;
	to->unstamped += from->unstamped;
	for (size_t i = 0; i < AGGREGATE_LOST_REASONS; i++)
		to->lost[i] += from->lost[i];
	to->clamped += from->clamped;
	to->series_overflow += from->series_overflow;
	to->gaps += from->gaps;
	to->folded += from->folded;
	to->folding |= from->folding;
	to->overhead += from->overhead;
	raise(&to->elapsed_ns, from->elapsed_ns);
	raise(&to->attach_ns, from->attach_ns);
	raise(&to->sample_every, from->sample_every);
	/* Attached is who has one that is. */
	if (from->alive)
		to->detached = (!to->alive || to->detached) && from->detached;
	to->alive |= from->alive;
}

static void head_take(struct aggregate *to, struct aggregate *from)
{
	if (to->command)
		return;
	to->pid = from->pid;
	to->command = from->command;
	to->mode = from->mode;
	from->command = from->mode = NULL;
}

int merge_add(struct aggregate *to, struct aggregate *from)
{
	int r = 0;

	head_take(to, from);
	numbers_add(to, from);
	MOVE(series, series_count);
	MOVE(counters, counter_count);
	MOVE(flows, flow_count);
	MOVE(loops, loop_count);
	MOVE(deep, deep_count);
	aggregate_fini(from);
	merge_equals(to);
	return r;
}
