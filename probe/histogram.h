/* SPDX-License-Identifier: MIT */
/* Arithmetic on the bucket counts of one histogram: bounds, sums, differences, quantiles. */
#ifndef PROBE_HISTOGRAM_H
#define PROBE_HISTOGRAM_H

#include "probe/aggregate.h"

/* Whether the metric's values are nanoseconds; the others are messages. */
bool histogram_is_time(enum aggregate_metric metric);

/* Number of bounds of the metric; bucket number histogram_bounds() is the one without a bound. */
size_t histogram_bounds(enum aggregate_metric metric);

/* Inclusive upper bound of bucket i < histogram_bounds(). */
uint64_t histogram_bound(enum aggregate_metric metric, size_t i);

/* Whether a bound belongs to the classic 1-2-5 ladder that Prometheus gets. */
bool histogram_is_classic(enum aggregate_metric metric, size_t i);

/* Whether a row of the printed histogram ends at this bound: the ladder from 1 us to 10 s, and
 * whole octaves of a second below and above. */
bool histogram_ends_row(enum aggregate_metric metric, size_t i);

/* Adds `more` to `h`. */
void histogram_add(struct aggregate_histogram *h, const struct aggregate_histogram *more);

/* Takes the earlier state `before` off `h`. The maximum of the rest is known only when it rose;
 * otherwise it becomes the bound of the highest bucket that counted. */
void histogram_subtract(struct aggregate_histogram *h, const struct aggregate_histogram *before,
	enum aggregate_metric metric);

/* The value that a share q of 0 ... 1 of all values does not exceed, in the metric's unit, 0 when
 * nothing was counted. Inside a bucket times are interpolated geometrically, so that the error
 * stays below one exponential bucket (9 %); never above the maximum. */
double histogram_quantile(
	const struct aggregate_histogram *h, enum aggregate_metric metric, double q);

#endif
