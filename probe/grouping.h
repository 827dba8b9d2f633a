/* SPDX-License-Identifier: MIT */
/* Regroups an aggregate's series by fewer labels and subtracts two states of one session. */
#ifndef PROBE_GROUPING_H
#define PROBE_GROUPING_H

#include "probe/aggregate.h"

enum grouping {
	GROUPING_FULL,	     /* every label there is */
	GROUPING_ALL,	     /* one series per metric, no labels */
	GROUPING_DISPATCHER, /* dispatcher only */
	GROUPING_CLASS,	     /* class only; the queue delay, which has none, keeps its dispatcher */
	GROUPING_ACTOR,	     /* dispatcher, class and actor, as far as the session collected them */
};

/* Fills `out` (zeroed) with a copy of `in` whose series are merged and sorted by metric and
 * labels; counters and loops are copied. 0 or -ENOMEM, then `out` is empty. */
int grouping_apply(struct aggregate *out, const struct aggregate *in, enum grouping by);

/* Fills `out` (zeroed) with what happened between two states of one session, with the labels of
 * `now`. 0 or -ENOMEM. Loops, alive and attach time are those of `now`. */
int grouping_subtract(
	struct aggregate *out, const struct aggregate *now, const struct aggregate *before);

/* The series of a metric with these labels (NULL = any), or NULL. */
const struct aggregate_series *grouping_find(const struct aggregate *a,
	enum aggregate_metric metric, const char *dispatcher, const char *class_name);

/* Sum of the counters of a family with these labels; NULL = any. */
uint64_t grouping_counted(const struct aggregate *a, enum aggregate_family family,
	const char *dispatcher, const char *class_name, const char *reason);

#endif
