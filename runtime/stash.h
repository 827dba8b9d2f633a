/* SPDX-License-Identifier: MIT */
/* Messages that an actor has set aside, and those that come back ahead of its mailbox.
 *
 * What is set aside lies in a batch, a FIFO of its own. Unstashing puts the batch as a whole before
 * those that came back earlier and are not handled yet: no message moves, and no memory is needed.
 * Those that come back count in the mailbox's count and are served before it, by careful.c. A few
 * instructions per message. The cell's loop. */
#ifndef ACTOR_STASH_H
#define ACTOR_STASH_H

#include "core.h"

struct actor__stash_batch {
	struct actor__mailbox box;
	struct actor__stash_batch *next;
};

struct actor__stash {
	struct actor__stash_batch *aside;  /* NULL: nothing is set aside */
	struct actor__stash_batch *replay; /* those that come back; the first is served first */
	struct actor__envelope open;       /* of them the one that is being handled */
};

/* Sets a copy of the envelope aside, which owns the payload from now on. *stash is made at first
 * use. 0, ACTOR_ESTASH: there are `capacity` already, -ENOMEM. */
int actor__stash_put(struct actor__stash **stash, uint32_t capacity, struct actor__pool *pool,
	const struct actor__envelope *envelope);

/* All that is set aside comes back. Returns how much it is. NULL is fine, here and below. */
uint32_t actor__stash_replay(struct actor__stash *stash);

/* The next message that comes back, taken out into `open`; NULL: there is none. */
struct actor__envelope *actor__stash_next(struct actor__stash *stash, struct actor__pool *pool);

/* What is set aside goes to the dead letters, in order. */
void actor__stash_clear(struct actor__stash *stash, const struct actor__cell *cell);

/* The next message that comes back, without taking it; NULL: there is none. */
static inline const struct actor__envelope *actor__stash_ahead(const struct actor__stash *stash)
{
	return stash && stash->replay ? stash->replay->box.first : NULL;
}

/* Is this the one that is being handled? */
static inline bool actor__stash_has(
	const struct actor__stash *stash, const struct actor__envelope *envelope)
{
	return stash && envelope == &stash->open;
}

static inline bool actor__stash_replays(const struct actor__stash *stash)
{
	return stash && stash->replay;
}

#endif
