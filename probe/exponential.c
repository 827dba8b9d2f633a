/* SPDX-License-Identifier: MIT */
/* The counts of a time histogram in the buckets of 2^(i/8) seconds alone, without the ladder. */
#include "probe/exponential.h"

#include <string.h>

_Static_assert((1 << EXPONENTIAL_SCALE) == 8, "eight bounds per power of two");
_Static_assert(BOUNDS_EXPONENT_FIRST == -30 * 8, "the threshold is the first bound");

/* Cuts the zeros at both ends away. */
static void trim(struct exponential *e)
{
	size_t first = 0, end = EXPONENTIAL_BUCKETS;

	while (end && !e->counts[end - 1])
		end--;
	while (first < end && !e->counts[first])
		first++;
	e->count = end - first;
	e->first = e->count ? EXPONENTIAL_FIRST + (int32_t)first : 0;
	memmove(e->counts, e->counts + first, e->count * sizeof(e->counts[0]));
}

void exponential_project(struct exponential *e, const struct aggregate_histogram *h)
{
	uint64_t pending = 0;

	memset(e, 0, sizeof(*e));
	for (size_t i = 0; i <= BOUNDS_COUNT; i++) {
		/* Between two bounds of the ladder: part of the next exponential bucket. */
		pending += h->buckets[i];
		e->total += h->buckets[i];
		if (i < BOUNDS_COUNT && bounds_exponent[i] == BOUNDS_NO_EXPONENT)
			continue;
		if (i == BOUNDS_COUNT)
			e->counts[EXPONENTIAL_BUCKETS - 1] = pending;
		else if (bounds_exponent[i] < EXPONENTIAL_FIRST)
			e->zero = pending;
		else
			e->counts[bounds_exponent[i] - EXPONENTIAL_FIRST] = pending;
		pending = 0;
	}
	trim(e);
}
