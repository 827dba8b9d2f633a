/* SPDX-License-Identifier: MIT */
/* A loop's inbox for foreign threads: any number of producers, one consumer.
 *
 * A stack that producers push by compare-and-swap and the consumer takes as a whole, then turns
 * round: FIFO per producer, no ABA since single nodes are never popped (R. K. Treiber, "Systems
 * Programming: Coping with Parallelism", 1986). A closed inbox refuses for good. */
#ifndef ACTOR_INBOX_H
#define ACTOR_INBOX_H

#include "mailbox.h"

#include <stdatomic.h>

struct actor__letter {
	struct actor__letter *next;
	_Alignas(64) struct actor__envelope envelope;
};

struct actor__inbox {
	_Atomic(struct actor__letter *) newest;
};

/* A heap block, or NULL. Any thread. */
struct actor__letter *actor__letter_new(void);
void actor__letter_free(struct actor__letter *letter);

/* Any thread. 0, or ACTOR_ECLOSED: the letter is still the caller's. */
int actor__inbox_push(struct actor__inbox *inbox, struct actor__letter *letter);

/* Consumer. All letters, oldest first, linked by next. */
struct actor__letter *actor__inbox_take(struct actor__inbox *inbox);

/* Consumer. The same, and refuses from now on. */
struct actor__letter *actor__inbox_close(struct actor__inbox *inbox);

/* Any thread. */
int actor__inbox_empty(struct actor__inbox *inbox);

#endif
