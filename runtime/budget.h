/* SPDX-License-Identifier: MIT */
/* How often one actor was restarted within a window of time. Cost: a time per restart that is
 * remembered, at most as many as are granted. One thread at a time; times are milliseconds. */
#ifndef ACTOR_BUDGET_H
#define ACTOR_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#define ACTOR__FOR_EVER UINT64_MAX /* as a window: nothing is forgotten */
#define ACTOR__ANY	UINT32_MAX /* as a number: all are granted */

/* All zeros: none so far. */
struct actor__budget {
	uint64_t *times; /* ring, power of two; NULL: none */
	uint32_t room;
	uint32_t first;
	uint32_t count;	  /* in the ring; with a window for ever or any number granted: of all */
	uint32_t streak;  /* restarts in a row, for the back-off */
	uint64_t last_ms; /* when the last one's back-off ends */
};

/* Restarts within the window that ends now. */
uint32_t actor__budget_count(struct actor__budget *budget, uint64_t window_ms, uint64_t now_ms);

/* Takes one of `most` restarts; false: they are used up. Without memory it is granted uncounted,
 * since a failure for want of memory must not end the actor. */
bool actor__budget_take(
	struct actor__budget *budget, uint32_t most, uint64_t window_ms, uint64_t now_ms);

/* The restarts in a row before this one, each less than `gap_ms` after the one before. */
uint32_t actor__budget_streak(struct actor__budget *budget, uint64_t gap_ms, uint64_t now_ms);

void actor__budget_fini(struct actor__budget *budget);

#endif
