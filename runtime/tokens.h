/* SPDX-License-Identifier: MIT */
/* A token bucket: so many messages per time, and so many at once. Filled when it is looked at.
 *
 * Its level is counted in parts of a message, per_ms to one, of which `messages` flow in per
 * millisecond: exact in whole numbers, nothing is lost by rounding (J. Turner, "New Directions in
 * Communications", 1986). Time is an argument. */
#ifndef ACTOR_TOKENS_H
#define ACTOR_TOKENS_H

#include <stdbool.h>
#include <stdint.h>

#define ACTOR__TOKENS_MOST 1000000000u /* messages per time, and at once */
#define ACTOR__TOKENS_PER  86400000u   /* longest time: a day, in ms */

struct actor__tokens {
	uint64_t level; /* parts */
	uint64_t most;
	uint64_t at_ms; /* when the level was brought up to date last */
	uint32_t messages;
	uint32_t per_ms;
};

/* Full at first. All within the bounds above and at least 1. */
void actor__tokens_init(
	struct actor__tokens *tokens, uint32_t messages, uint32_t per_ms, uint32_t burst);

/* Takes one token; false: there is none. */
bool actor__tokens_take(struct actor__tokens *tokens, uint64_t now_ms);

/* After a take that failed: how long it is until there is one, at least 1. */
uint64_t actor__tokens_wait_ms(const struct actor__tokens *tokens);

#endif
