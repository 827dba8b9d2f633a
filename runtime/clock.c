/* SPDX-License-Identifier: MIT */
/* Chooses the tick clock and relates its ticks to nanoseconds. */
#define _GNU_SOURCE
#include "clock.h"

#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

int actor__clock_tsc;
uint64_t actor__clock_first_ticks;
uint64_t actor__clock_first_ns;

/* CPUID leaf 0x80000007, edx bit 8: the counter runs at one rate in every power state. The kernel
 * may know better (unsynchronised sockets, a bad hypervisor), so its own choice counts as well. */
static int tsc_is_invariant(void)
{
#if defined(__x86_64__)
	unsigned int a, b, c, d;

	return __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & 1u << 8);
#else
	return 0;
#endif
}

void actor__clock_pair(uint64_t *ticks, uint64_t *monotonic_ns)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 5; i++) {
		uint64_t before = actor__ticks();
		uint64_t ns = actor__monotonic_ns();
		uint64_t after = actor__ticks();

		if (after - before < best) {
			best = after - before;
			*ticks = before + (after - before) / 2;
			*monotonic_ns = ns;
		}
	}
}

void actor__clock_init(void)
{
	const char *wish = secure_getenv("ACTOR_CLOCK");

	actor__clock_tsc = tsc_is_invariant() && !(wish && strcmp(wish, "monotonic") == 0);
	actor__clock_pair(&actor__clock_first_ticks, &actor__clock_first_ns);
}

uint64_t actor__ticks_to_ns(uint64_t ticks)
{
	uint64_t now_ticks, now_ns;

	if (!actor__clock_tsc)
		return ticks;
	actor__clock_pair(&now_ticks, &now_ns);
	if (now_ticks <= actor__clock_first_ticks)
		return 0;
	return (uint64_t)((long double)ticks * (long double)(now_ns - actor__clock_first_ns) /
			  (long double)(now_ticks - actor__clock_first_ticks));
}
