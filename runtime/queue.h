/* SPDX-License-Identifier: MIT */
/* A cell's messages, whatever kind of mailbox it has: into it and out of it. The cell's loop. */
#ifndef ACTOR_QUEUE_H
#define ACTOR_QUEUE_H

#include "deliver.h"

/* The next message, which no longer counts but stays where it is until actor__queue_done(); NULL:
 * none can be handled now. */
struct actor__envelope *actor__queue_pop(struct actor__cell *cell);

/* The next message, which stays; NULL: none can be handled now. */
const struct actor__envelope *actor__queue_ahead(struct actor__cell *cell);

/* The oldest message, of an actor that handles none any more. */
struct actor__envelope *actor__queue_oldest(struct actor__cell *cell);

/* The same for one that does not lie at the front of a plain mailbox. */
void actor__queue_mail_done(struct actor__cell *cell, struct actor__envelope *e);

/* The message that was popped last is over: gives up its place. */
static inline void actor__queue_done(struct actor__cell *cell, struct actor__envelope *e)
{
	if (ACTOR__LIKELY(e == cell->mailbox.first))
		actor__mailbox_done_with(&cell->mailbox, e, &cell->loop->pool);
	else
		actor__queue_mail_done(cell, e);
}

#endif
