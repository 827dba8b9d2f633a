/* SPDX-License-Identifier: MIT */
/* The histograms of an aggregate as JSON, one object per line. */
#ifndef PROBE_HIST_JSON_H
#define PROBE_HIST_JSON_H

#include "probe/aggregate.h"
#include "probe/grouping.h"
#include "probe/text.h"

/* Appends one line per metric and group that counted anything, then one accounting line.
 *
 * `time` (seconds since 1970, < 0 = none) is put into each object. Buckets are the pairs
 * [upper bound, values up to it], every bound up to the last bucket that holds a value, and at the
 * end [null, count]. Metrics in messages have `sum`, the others `sum_seconds` and seconds. */
void hist_json_render(struct text *t, const struct aggregate *a, enum grouping by, double time);

/* The same with `process` (NULL = none) in each object, and no time. */
void hist_json_render_process(
	struct text *t, const struct aggregate *a, enum grouping by, const char *process);

#endif
