/* SPDX-License-Identifier: MIT */
/* Whom an actor watches, and with which message it wants to be told of the end.
 *
 * The message lies with the watch until the word of the end arrives; then it is queued like any
 * other. It carries the watch's number: when its turn comes and the watch is not there any more, or
 * is another one, it is given up. The watcher's loop. */
#ifndef ACTOR_WATCHES_H
#define ACTOR_WATCHES_H

#include "extra.h"
#include "vigil.h"

enum actor__watch_state {
	ACTOR__WATCHING,
	ACTOR__WATCH_QUEUED, /* the message is in the mailbox */
	ACTOR__WATCH_OVER,   /* the end came while the watcher was ending */
};

struct actor__watch {
	struct actor__vigil vigil; /* first */
	enum actor__watch_state state;
	bool plain; /* the message is the runtime's own */
	struct actor__envelope message; /* the watch's until it is queued */
};

/* The watch of this subject, or NULL. */
static inline struct actor__watch *actor__watches_find(
	const struct actor__cell *cell, actor_ref subject)
{
	return cell->extra ? (struct actor__watch *)actor__index_find(
				     &cell->extra->watches, subject)
			   : NULL;
}

/* A new watch of a subject, in the place of the present one, which is the caller's from now on. The
 * message is its own. NULL: no memory, and nothing has changed. */
struct actor__watch *actor__watches_add(
	struct actor__cell *cell, actor_ref subject, const struct actor__envelope *message);

/* Takes a watch out, which is the caller's from now on. */
void actor__watches_remove(struct actor__cell *cell, struct actor__watch *watch);

/* The word of an end has come: makes the message to be queued. False: it is not wanted. */
bool actor__watches_end(struct actor__cell *cell, const struct actor__envelope *word,
	struct actor__envelope *message);

/* That message could not be queued: it will be tried again. */
void actor__watches_unqueue(struct actor__cell *cell, const struct actor__envelope *message);

/* The turn of such a message has come: from now on it is a plain one, and its watch is gone. False:
 * it is not wanted any more. */
bool actor__watches_accept(struct actor__cell *cell, struct actor__envelope *message);

#endif
