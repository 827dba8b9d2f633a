/* SPDX-License-Identifier: MIT */
/* The rate of the target's clock, as the multiplication and shift that BPF converts ticks with. */
#ifndef PROBE_CALIBRATION_H
#define PROBE_CALIBRATION_H

#include <stdint.h>

/* A reading of the target's clock and of CLOCK_MONOTONIC at the same moment. */
struct calibration_pair {
	uint64_t ticks;
	uint64_t ns;
};

/* ns = ticks * mult >> shift; mult < 2^32, 24 <= shift. */
struct calibration {
	uint64_t mult;
	uint32_t shift;
};

/* Reads both clocks here and now; `clock` is an enum actor_abi_clock. */
struct calibration_pair calibration_now(uint32_t clock);

/* The rate between two pairs. 0, or -1 if they cannot be of one clock. */
int calibration_between(struct calibration *c, const struct calibration_pair *from,
	const struct calibration_pair *to);

/* The rate of `clock`. `first` is the pair that the target took at its start, `mine` one taken
 * here before; waits until the pairs are far enough apart, at most 50 ms. The target's pair is
 * used unless it contradicts ours, as it does in another time namespace. */
void calibration_settle(struct calibration *c, uint32_t clock, const struct calibration_pair *first,
	const struct calibration_pair *mine);

/* Corrects the rate by a later pair of the target's own, `origin` being an earlier one. Only the
 * multiplier changes. A pair that is too near, or contradicts the rate that is known (its two
 * readings were torn apart), changes nothing. */
void calibration_refine(struct calibration *c, const struct calibration_pair *origin,
	const struct calibration_pair *pair);

/* Exactly what BPF computes. */
uint64_t calibration_ns(const struct calibration *c, uint64_t ticks);

#endif
