/* SPDX-License-Identifier: MIT */
/* Mail by rank: lower first, FIFO among equals.
 *
 * A treap (Seidel and Aragon, 1996) of the ranks that are there, each with a ring of its mail. Cost:
 * the logarithm of the number of different ranks, however much mail has each. No memory of its own.
 * The loop's thread. */
#ifndef ACTOR_RANKS_H
#define ACTOR_RANKS_H

#include "mail.h"

struct actor__ranks {
	struct actor_mail *root;
	uint32_t random;
};

/* Puts mail behind all others of its epoch and rank. */
void actor__ranks_put(struct actor__ranks *ranks, struct actor_mail *mail);

/* Takes mail out that is in. */
void actor__ranks_remove(struct actor__ranks *ranks, struct actor_mail *mail);

/* What is next; NULL: nothing is in. */
struct actor_mail *actor__ranks_first(const struct actor__ranks *ranks);

/* What would be last of those that a bound may drop; NULL: there is none. */
struct actor_mail *actor__ranks_last_droppable(const struct actor__ranks *ranks);

/* Does `a` come before `b` by epoch and rank (below 0), are they equal (0), or behind it? */
int actor__ranks_compare(const struct actor_mail *a, const struct actor_mail *b);

#endif
