/* SPDX-License-Identifier: MIT */
/* Mailboxes that grow long: a warning at the high-water mark and at each doubling of it, and a place
 * in the root's table of deep mailboxes.
 *
 * A plain mailbox is looked at when it takes a chunk or gives one back, so that a message costs
 * nothing; what is said of it is right to within a chunk. The cell's loop. */
#ifndef ACTOR_WATER_H
#define ACTOR_WATER_H

#include "deep.h"
#include "extra.h"

/* A mailbox has grown that is worth a look. `oldest`: stamp of its oldest message, 0 = unknown. */
void actor__water_risen(struct actor__cell *cell, uint64_t oldest);

static inline bool actor__water_high(const struct actor__mailbox *box)
{
	return box->watched || box->count >= ACTOR__DEEP;
}

#endif
