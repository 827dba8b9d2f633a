/* SPDX-License-Identifier: MIT */
/* The clock of stamps and durations: the invariant time stamp counter, else CLOCK_MONOTONIC. */
#ifndef ACTOR_CLOCK_H
#define ACTOR_CLOCK_H

#include <stdint.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

extern int actor__clock_tsc; /* set once, before the first system exists */
extern uint64_t actor__clock_first_ticks; /* read together when it was set */
extern uint64_t actor__clock_first_ns;

static inline uint64_t actor__monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t actor__ticks(void)
{
#if defined(__x86_64__)
	if (__builtin_expect(actor__clock_tsc, 1))
		return __rdtsc();
#endif
	return actor__monotonic_ns();
}

/* The same, once all loads before it are done. */
static inline uint64_t actor__ticks_ordered(void)
{
#if defined(__x86_64__)
	if (__builtin_expect(actor__clock_tsc, 1))
		_mm_lfence();
#endif
	return actor__ticks();
}

/* Chooses the clock; ACTOR_CLOCK=monotonic in the environment forces CLOCK_MONOTONIC. */
void actor__clock_init(void);

/* Reads both clocks as close together as it gets. Any thread. */
void actor__clock_pair(uint64_t *ticks, uint64_t *monotonic_ns);

/* Nanoseconds of a duration in ticks; good to 1 % from a millisecond after the start on. */
uint64_t actor__ticks_to_ns(uint64_t ticks);

#endif
