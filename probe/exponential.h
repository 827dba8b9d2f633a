/* SPDX-License-Identifier: MIT */
/* The counts of a time histogram in the buckets of 2^(i/8) seconds alone, without the ladder.
 *
 * Bucket i holds values above 2^((i-1)/8) up to and including 2^(i/8) seconds: the bounds of a
 * native histogram of schema 3, and of an exponential histogram of scale 3, which calls it i-1.
 * All bounds of the ladder lie between two of them, so nothing is interpolated. Values above the
 * last bound, 1024 s, are in the bucket behind it.
 */
#ifndef PROBE_EXPONENTIAL_H
#define PROBE_EXPONENTIAL_H

#include "probe/aggregate.h"

#define EXPONENTIAL_SCALE	   3
#define EXPONENTIAL_ZERO_THRESHOLD 0x1p-30 /* seconds: the first bound, below one nanosecond */
#define EXPONENTIAL_FIRST	   (BOUNDS_EXPONENT_FIRST + 1)
#define EXPONENTIAL_BUCKETS	   (BOUNDS_EXPONENT_LAST + 1 - BOUNDS_EXPONENT_FIRST)

struct exponential {
	uint64_t zero;	/* values of 0 ns */
	uint64_t total; /* all of them */
	int32_t first;	/* number of the bucket in counts[0]; 0 where count is 0 */
	size_t count;	/* the first and the last one are not 0 */
	uint64_t counts[EXPONENTIAL_BUCKETS];
};

/* `h` counts nanoseconds. */
void exponential_project(struct exponential *e, const struct aggregate_histogram *h);

#endif
