/* SPDX-License-Identifier: MIT */
/* A loop's inbox for other threads: any number of producers, one consumer.
 *
 * A stack that producers push by compare-and-swap and the consumer takes as a whole, then turns
 * round: FIFO per producer, no ABA since single nodes are never popped (R. K. Treiber, "Systems
 * Programming: Coping with Parallelism", 1986). A closed inbox refuses for good. */
#ifndef ACTOR_INBOX_H
#define ACTOR_INBOX_H

#include "deadlines.h"
#include "mailbox.h"

#include <stdatomic.h>

/* First in whatever is pushed. */
struct actor__link {
	struct actor__link *next;
};

/* Mail of foreign threads. */
struct actor__letter {
	struct actor__link link;
	struct actor__deadline deadline; /* at_ms 0: for now, else for that time, see later.h */
	_Alignas(64) struct actor__envelope envelope;
};

_Static_assert(sizeof(struct actor__letter) == 128, "a letter fills two cache lines");

/* What loops tell each other about actors and closing, see notice.h. Whoever sends one had the
 * memory before. */
struct actor__notice {
	struct actor__link link;
	actor_ref to;
	void *pointer;
	uint16_t command; /* enum actor__command */
};

struct actor__inbox {
	_Atomic(struct actor__link *) newest;
	/* the oldest of those that were taken and have to wait; written by the consumer */
	_Atomic(struct actor__link *) kept;
};

/* A heap block, or NULL. Any thread. */
struct actor__letter *actor__letter_new(void);
void actor__letter_free(struct actor__letter *letter);

/* Any thread. 0, or ACTOR_ECLOSED: the node is still the caller's. */
int actor__inbox_push(struct actor__inbox *inbox, struct actor__link *link);

/* Consumer. What was kept, or else all there is; oldest first, linked by next. */
struct actor__link *actor__inbox_take(struct actor__inbox *inbox);

/* Consumer. Keeps the rest of what was taken for the next time. */
void actor__inbox_keep(struct actor__inbox *inbox, struct actor__link *rest);

/* Consumer. All there is, kept or not; refuses from now on. */
struct actor__link *actor__inbox_close(struct actor__inbox *inbox);

/* Any thread. */
int actor__inbox_empty(struct actor__inbox *inbox);

#endif
