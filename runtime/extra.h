/* SPDX-License-Identifier: MIT */
/* What few actors need, kept beside the cell so that all others stay small.
 *
 * Made at first use, from the heap, since a cell for another loop is made by a foreign thread.
 * Each part belongs to one feature, which empties it at a restart and at the end of the actor. The
 * cell's loop, or whoever makes the cell. */
#ifndef ACTOR_EXTRA_H
#define ACTOR_EXTRA_H

#include "behaviours.h"
#include "stash.h"

struct actor__extra {
	struct actor__behaviours behaviours;
	struct actor__stash *stash;
	uint32_t stash_capacity; /* 0: the usual one */
};

/* The cell's extra part; NULL: no memory. */
struct actor__extra *actor__extra_of(struct actor__cell *cell);

/* Sets or clears the cell's bit ACTOR__CAREFUL by what its parts need now. */
void actor__extra_careful(struct actor__cell *cell);

/* An instance ends, by a restart or for good: what it has set up for itself is undone. */
void actor__extra_clear(struct actor__cell *cell);

/* Frees it. The cell is unlinked already. */
void actor__extra_free(struct actor__cell *cell);

#endif
