/* SPDX-License-Identifier: MIT */
/* Finds the bucket of a value in a few nanoseconds: a table gives nearly the place, then one or two
 * bounds are compared. The same buckets as BPF's search gives. */
#ifndef PROBE_BUCKET_H
#define PROBE_BUCKET_H

#include <stdint.h>

#include "bpf/bounds.h"

#define BUCKET_CELLS 32 /* of each power of two */
#define BUCKET_DEEP  16384u

extern uint16_t bucket_time_starts[64 * BUCKET_CELLS];
extern uint8_t bucket_depth_places[BUCKET_DEEP];

/* Fills the tables, once per process; any thread. */
void bucket_init(void);

/* The cell that a value lies in; values below BUCKET_CELLS have cells of their own. */
static inline uint32_t bucket_cell(uint64_t ns)
{
	uint32_t octave = 63u - (uint32_t)__builtin_clzll(ns | BUCKET_CELLS);

	return (octave - 5) * BUCKET_CELLS + (uint32_t)(ns >> (octave - 5));
}

/* Number of bounds below the value; BOUNDS_COUNT is the bucket without a bound. */
static inline uint32_t bucket_of_time(uint64_t ns)
{
	uint32_t at = bucket_time_starts[bucket_cell(ns)];

	while (at < BOUNDS_COUNT && bounds_ns[at] < ns)
		at++;
	return at;
}

/* The same with the bounds for messages. */
static inline uint32_t bucket_of_depth(uint64_t messages)
{
	return bucket_depth_places[messages < BUCKET_DEEP ? messages : BUCKET_DEEP - 1];
}

#endif
