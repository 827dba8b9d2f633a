/* SPDX-License-Identifier: MIT */
/* Arithmetic on the bucket counts of one histogram: bounds, sums, differences, quantiles. */
#include "probe/histogram.h"

#include <math.h>

#define SECOND_NS 1000000000ull

bool histogram_is_time(enum aggregate_metric metric)
{
	return metric != AGGREGATE_DEPTH && metric != AGGREGATE_TURN_MESSAGES;
}

size_t histogram_bounds(enum aggregate_metric metric)
{
	return histogram_is_time(metric) ? BOUNDS_COUNT : DEPTH_BOUNDS_COUNT;
}

uint64_t histogram_bound(enum aggregate_metric metric, size_t i)
{
	return histogram_is_time(metric) ? bounds_ns[i] : depth_bounds[i];
}

bool histogram_is_classic(enum aggregate_metric metric, size_t i)
{
	uint64_t bound = histogram_bound(metric, i);

	if (!histogram_is_time(metric))
		return true;
	if (bound < 1000 || bound > 10 * SECOND_NS)
		return false;
	while (bound % 10 == 0)
		bound /= 10;
	return bound == 1 || bound == 2 || bound == 5;
}

/* 2^k seconds, rounded down to a nanosecond as the bounds are. */
static bool is_octave(uint64_t bound)
{
	for (unsigned int k = 0; k < 30; k++)
		if (bound == SECOND_NS >> k || bound == SECOND_NS << k)
			return true;
	return false;
}

bool histogram_ends_row(enum aggregate_metric metric, size_t i)
{
	uint64_t bound = histogram_bound(metric, i);

	if (histogram_is_classic(metric, i))
		return true;
	return (bound < 500 || bound > 10 * SECOND_NS) && is_octave(bound);
}

void histogram_add(struct aggregate_histogram *h, const struct aggregate_histogram *more)
{
	h->count += more->count;
	h->sum += more->sum;
	if (more->max > h->max)
		h->max = more->max;
	for (size_t i = 0; i <= BOUNDS_COUNT; i++)
		h->buckets[i] += more->buckets[i];
}

/* Counters of one series only grow; a smaller one would mean another series, counted as new. */
static uint64_t grown(uint64_t now, uint64_t before)
{
	return now >= before ? now - before : now;
}

void histogram_subtract(struct aggregate_histogram *h, const struct aggregate_histogram *before,
	enum aggregate_metric metric)
{
	size_t bounds = histogram_bounds(metric);
	size_t highest = 0;

	h->count = grown(h->count, before->count);
	h->sum = grown(h->sum, before->sum);
	for (size_t i = 0; i <= bounds; i++) {
		h->buckets[i] = grown(h->buckets[i], before->buckets[i]);
		if (h->buckets[i])
			highest = i;
	}
	if (h->count == 0)
		h->max = 0;
	else if (h->max <= before->max && highest < bounds &&
		 histogram_bound(metric, highest) < h->max)
		h->max = histogram_bound(metric, highest);
}

static double interpolate(double lower, double upper, double share, bool time)
{
	if (!time)
		return ceil(lower + (upper - lower) * share);
	if (lower < 1)
		return upper * share;
	return lower * pow(upper / lower, share);
}

/* Values of one bucket lie above the bound before it and not above its own bound or the maximum. */
static double inside(
	const struct aggregate_histogram *h, enum aggregate_metric metric, size_t i, double share)
{
	double lower = i ? (double)histogram_bound(metric, i - 1) : 0;
	double upper = (double)h->max;

	if (i < histogram_bounds(metric) && (double)histogram_bound(metric, i) < upper)
		upper = (double)histogram_bound(metric, i);
	if (upper <= lower || share >= 1)
		return upper;
	return interpolate(lower, upper, share, histogram_is_time(metric));
}

double histogram_quantile(
	const struct aggregate_histogram *h, enum aggregate_metric metric, double q)
{
	size_t bounds = histogram_bounds(metric);
	uint64_t total = 0;
	uint64_t below = 0;
	double rank;

	/* The buckets' own total: a reader may meet a count that is one record ahead of them. */
	for (size_t i = 0; i <= bounds; i++)
		total += h->buckets[i];
	rank = fmax(1, ceil(q * (double)total));
	for (size_t i = 0; i <= bounds && total; i++) {
		if ((double)(below + h->buckets[i]) >= rank)
			return inside(h, metric, i, (rank - (double)below) / (double)h->buckets[i]);
		below += h->buckets[i];
	}
	return 0;
}
