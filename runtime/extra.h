/* SPDX-License-Identifier: MIT */
/* What few actors need, kept beside the cell so that all others stay small.
 *
 * Made at first use, from the heap, since a cell for another loop is made by a foreign thread.
 * Each part belongs to one feature; parts.h ends them. The cell's loop, or whoever makes the cell. */
#ifndef ACTOR_EXTRA_H
#define ACTOR_EXTRA_H

#include "behaviours.h"
#include "budget.h"
#include "core.h"

struct actor__box;
struct actor__job;
struct actor__pending;
struct actor__stash;
struct actor__throttle;
struct actor__timeout;

struct actor__extra {
	struct actor__behaviours behaviours;
	struct actor__box *box; /* NULL: a plain mailbox */
	uint64_t high_water;    /* of a watched mailbox, 0 = no warning */
	struct actor__stash *stash;
	uint32_t stash_capacity; /* 0: the usual one */
	struct actor__index timers; /* by key */
	struct actor__index watches; /* of other actors, by ref */
	struct actor__timeout *timeout;
	struct actor__throttle *throttle;
	struct actor__job *jobs;        /* of this instance */
	struct actor__pending *pending; /* the handler that is pending, or was and is ending */
	/* supervision */
	struct actor_strategy *strategy; /* its own; NULL: none */
	struct actor__budget budget;     /* of its restarts, if its parent lives on the same loop */
	struct actor__deadline delay;    /* of its restart */
	struct actor__cell *cell;        /* whose extra part this is, for the delay */
	uint64_t restarts;               /* so far */
};

/* The cell's extra part; NULL: no memory. */
struct actor__extra *actor__extra_of(struct actor__cell *cell);

#endif
