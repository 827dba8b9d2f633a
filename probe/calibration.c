/* SPDX-License-Identifier: MIT */
/* Relates ticks to nanoseconds from two pairs of readings. */
#include "probe/calibration.h"

#include "runtime/abi.h"

#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#define APART_NS      50000000u /* 100 ns of reading error are 2 parts in a million then */
#define REFINE_APART_NS 1000000000u
#define REFINE_PART     10000 /* a clock is slewed by less, a torn pair is farther off */
#define MINE_APART_NS 10000000u /* our own pair only has to expose a nonsensical one */

static const struct calibration identity = {.mult = 1u << 31, .shift = 31};

static uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t ticks_now(uint32_t clock)
{
#if defined(__x86_64__)
	if (clock == ACTOR_ABI_CLOCK_TSC)
		return __rdtsc();
#endif
	(void)clock;
	return monotonic_ns();
}

struct calibration_pair calibration_now(uint32_t clock)
{
	struct calibration_pair pair = {0, 0};
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 20; i++) {
		uint64_t before = ticks_now(clock);
		uint64_t ns = monotonic_ns();
		uint64_t after = ticks_now(clock);

		if (after - before < best) {
			best = after - before;
			pair.ticks = before + (after - before) / 2;
			pair.ns = ns;
		}
	}
	return pair;
}

int calibration_between(struct calibration *c, const struct calibration_pair *from,
	const struct calibration_pair *to)
{
	uint64_t ticks = to->ticks - from->ticks, ns = to->ns - from->ns;
	unsigned __int128 mult;

	if (to->ticks <= from->ticks || to->ns <= from->ns || ticks >> 62 || ns >> 62)
		return -1;
	for (uint32_t shift = 24; shift <= 56; shift++) {
		mult = (((unsigned __int128)ns << shift) + ticks / 2) / ticks;
		if (mult >> 32)
			return -1; /* slower than one tick per 256 ns */
		if (mult >> 31) {
			*c = (struct calibration){.mult = (uint64_t)mult, .shift = shift};
			return 0;
		}
	}
	return -1;
}

static void sleep_until(uint64_t ns)
{
	struct timespec until = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) > 0)
		;
}

/* Do the two differ by less than 1 %? */
static int agree(const struct calibration *a, const struct calibration *b)
{
	uint64_t x = calibration_ns(a, UINT64_C(1) << 40), y = calibration_ns(b, UINT64_C(1) << 40);
	uint64_t difference = x > y ? x - y : y - x;

	return difference < x / 100;
}

void calibration_settle(struct calibration *c, uint32_t clock, const struct calibration_pair *first,
	const struct calibration_pair *mine)
{
	struct calibration theirs, ours;
	struct calibration_pair now;
	uint64_t until = mine->ns + MINE_APART_NS;

	*c = identity;
	if (clock == ACTOR_ABI_CLOCK_MONOTONIC)
		return;
	if (first->ns + APART_NS > until && first->ns <= mine->ns)
		until = first->ns + APART_NS;
	sleep_until(until);
	now = calibration_now(clock);
	if (calibration_between(&ours, mine, &now) == 0)
		*c = ours;
	if (calibration_between(&theirs, first, &now) == 0 && agree(&theirs, c)) {
		*c = theirs;
		return;
	}
	sleep_until(mine->ns + APART_NS);
	now = calibration_now(clock);
	if (calibration_between(&ours, mine, &now) == 0)
		*c = ours;
}

void calibration_refine(struct calibration *c, const struct calibration_pair *origin,
	const struct calibration_pair *pair)
{
	uint64_t ticks = pair->ticks - origin->ticks, ns = pair->ns - origin->ns, mult, apart;

	if (pair->ticks <= origin->ticks || pair->ns <= origin->ns || ns < REFINE_APART_NS ||
		ns >> 62)
		return;
	mult = (uint64_t)((((unsigned __int128)ns << c->shift) + ticks / 2) / ticks);
	apart = mult > c->mult ? mult - c->mult : c->mult - mult;
	if (apart <= c->mult / REFINE_PART)
		c->mult = mult;
}

uint64_t calibration_ns(const struct calibration *c, uint64_t ticks)
{
	uint64_t low = (ticks & 0xffffff) * c->mult;
	uint64_t high = (ticks >> 24) * c->mult;

	return (high + (low >> 24)) >> (c->shift - 24);
}
