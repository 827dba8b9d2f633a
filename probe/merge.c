/* SPDX-License-Identifier: MIT */
/* Sorts, then folds each element into its equal neighbour. */
#include "probe/merge.h"

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
