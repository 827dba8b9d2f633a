/* SPDX-License-Identifier: MIT */
/* All that an actor has beside its cell: what it means for its turns, and its end. The cell's loop. */
#ifndef ACTOR_PARTS_H
#define ACTOR_PARTS_H

#include "extra.h"

/* Sets or clears the cell's bit ACTOR__CAREFUL by what its parts need now. */
void actor__extra_careful(struct actor__cell *cell);

/* An instance ends, by a restart or for good: what it has set up for itself is undone. */
void actor__extra_clear(struct actor__cell *cell);

/* Frees the extra part. The cell is unlinked already. */
void actor__extra_free(struct actor__cell *cell);

#endif
