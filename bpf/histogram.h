/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Adding to histograms in BPF: exact buckets, atomic sums, ticks to nanoseconds. */
#ifndef BPF_HISTOGRAM_H
#define BPF_HISTOGRAM_H

#include "bpf/account.h"

#define RETRIES 16 /* of a compare and exchange; so many loops must collide before a max is lost   \
		    */

/* ns = ticks * tick_mult >> tick_shift, with tick_shift >= 24 and tick_mult < 2^32. The collector
 * corrects the rate while it runs: one word, so that it is never torn. */
volatile uint64_t tick_mult = 1u << 31;
const volatile uint32_t tick_shift = 31;

/* Exactly the floor, also where the product of 48 and 32 bits does not fit a word. */
static __always_inline uint64_t ticks_to_ns(uint64_t ticks, const struct batch *batch)
{
	bool own = many && batch->mult;
	uint64_t mult = own ? batch->mult : tick_mult;
	uint64_t shift = own ? batch->shift : tick_shift;
	uint64_t low = (ticks & 0xffffff) * mult;
	uint64_t high = (ticks >> 24) * mult;

	return (high + (low >> 24)) >> ((shift - 24) & 63);
}

/* The number of bounds below the value, which is the index of its bucket. A global function, so
 * that the verifier walks it once and not at each call; a step is an addition, not a branch. */
__attribute__((noinline)) int bucket_find(uint64_t ns)
{
	uint32_t below = 0;

	_Static_assert(BOUNDS_SLOTS == 512, "nine steps search 511 bounds");
#pragma unroll
	for (uint32_t step = BOUNDS_SLOTS / 2; step; step /= 2) {
		uint32_t at = (below + step - 1) & (BOUNDS_SLOTS - 1);

		below += step * (bounds_ns[at] < ns);
	}
	return (int)below;
}

static __always_inline void max_raise(uint64_t *max, uint64_t value)
{
	uint64_t seen = *(volatile uint64_t *)max;

	for (int i = 0; i < RETRIES && seen < value; i++) {
		uint64_t before = __sync_val_compare_and_swap(max, seen, value);

		if (before == seen)
			break;
		seen = before;
	}
}

static __always_inline void time_add(struct time_buckets *h, uint64_t ns, uint64_t weight)
{
	uint32_t at = (uint32_t)bucket_find(ns);

	if (at > BOUNDS_COUNT)
		at = BOUNDS_COUNT;
	max_raise(&h->max, ns);
	__sync_fetch_and_add(&h->sum, ns * weight);
	__sync_fetch_and_add(&h->buckets[at], weight);
}

static __always_inline void count_add(struct count_buckets *h, uint64_t value, uint64_t weight)
{
	uint32_t at = 0;

#pragma unroll
	for (uint32_t i = 0; i < DEPTH_BOUNDS_COUNT; i++)
		at += depth_bounds[i] < value;
	if (at > DEPTH_BOUNDS_COUNT)
		at = DEPTH_BOUNDS_COUNT;
	max_raise(&h->max, value);
	__sync_fetch_and_add(&h->sum, value * weight);
	__sync_fetch_and_add(&h->buckets[at], weight);
}

#endif
