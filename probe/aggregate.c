/* SPDX-License-Identifier: MIT */
/* Ownership and sums of the plain aggregate; every string in it is its own heap block. */
#include "probe/aggregate.h"

#include <stdlib.h>
#include <string.h>

uint64_t aggregate_lost_total(const struct aggregate *a)
{
	uint64_t total = 0;

	for (size_t i = 0; i < AGGREGATE_LOST_REASONS; i++)
		total += a->lost[i];
	return total;
}

static void drop(const char *text)
{
	free((void *)text);
}

static void series_fini(struct aggregate_series *s)
{
	drop(s->dispatcher);
	drop(s->class_name);
	drop(s->actor);
	drop(s->loop);
}

static void counter_fini(struct aggregate_counter *c)
{
	drop(c->dispatcher);
	drop(c->class_name);
	drop(c->reason);
}

static void flow_fini(struct aggregate_flow *f)
{
	drop(f->from);
	drop(f->to);
}

static void loop_fini(struct aggregate_loop *l)
{
	drop(l->system);
	drop(l->actor);
	drop(l->class_name);
	drop(l->dispatcher);
	drop(l->type);
}

static void deep_fini(struct aggregate_deep *d)
{
	drop(d->actor);
	drop(d->class_name);
	drop(d->dispatcher);
}

void aggregate_fini(struct aggregate *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->series_count; i++)
		series_fini(&a->series[i]);
	for (size_t i = 0; i < a->counter_count; i++)
		counter_fini(&a->counters[i]);
	for (size_t i = 0; i < a->flow_count; i++)
		flow_fini(&a->flows[i]);
	for (size_t i = 0; i < a->loop_count; i++)
		loop_fini(&a->loops[i]);
	for (size_t i = 0; i < a->deep_count; i++)
		deep_fini(&a->deep[i]);
	free(a->series);
	free(a->counters);
	free(a->flows);
	free(a->loops);
	free(a->deep);
	drop(a->command);
	drop(a->mode);
	memset(a, 0, sizeof(*a));
}
