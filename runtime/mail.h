/* SPDX-License-Identifier: MIT */
/* Mail: a message in a mailbox that is no plain FIFO, with the places by which it is linked there.
 *
 * It lies in a chunk like the envelopes of a plain mailbox, seven to a chunk, and never moves until
 * it was handled; an empty chunk goes back to the loop's pool. Cost: a few instructions to make and
 * to free one. Used by the loop's thread only. */
#ifndef ACTOR_MAIL_H
#define ACTOR_MAIL_H

#include "mailbox.h"

#include <stdbool.h>

enum actor__mail_state {
	ACTOR__MAIL_OUT,      /* in no mailbox: new, handled, or dropped */
	ACTOR__MAIL_QUEUED,   /* in its box, not in a custom mailbox */
	ACTOR__MAIL_INSIDE,   /* in a custom mailbox */
};

struct actor_mail {
	struct actor__envelope envelope; /* first: a popped envelope is its mail */
	/* all of a box, in order of arrival */
	struct actor_mail *older;
	struct actor_mail *newer;
	union {
		struct { /* tree of ranks; of the oldest of equal rank */
			struct actor_mail *left;
			struct actor_mail *right;
		};
		void *links[2]; /* a custom mailbox's own */
	};
	union {
		struct { /* ring of equal rank, in order of arrival */
			struct actor_mail *next;
			struct actor_mail *previous;
		};
		struct { /* in a lane beside a custom mailbox, or dropped */
			struct actor_mail *behind;
			struct actor__custom *custom; /* whose mail it is */
		};
	};
	int64_t rank; /* of dropped mail: enum actor_abi_drop */
	uint32_t epoch;       /* before the rank: how many stops had been queued */
	uint32_t weight : 24; /* in the tree, random */
	uint32_t state : 8;   /* enum actor__mail_state */
};

_Static_assert(sizeof(struct actor_mail) == 128, "mail fills two cache lines");

/* All mail of a box in order of arrival, and what its owner has to drop. */
struct actor__mail_list {
	struct actor_mail *oldest;
	struct actor_mail *newest;
	struct actor_mail *dropped; /* no longer in the list, by `behind` */
	uint32_t count;
};

void actor__mail_append(struct actor__mail_list *list, struct actor_mail *mail);
void actor__mail_unlink(struct actor__mail_list *list, struct actor_mail *mail);

/* Moves mail to the dropped; the reason is an enum actor_abi_drop. */
void actor__mail_give_up(struct actor__mail_list *list, struct actor_mail *mail, int64_t reason);

/* Where a loop's mail lies. */
struct actor__mails {
	struct actor__mail_chunk *open; /* those with a free place */
};

/* A copy of the envelope as mail of its own, or NULL: no memory. */
struct actor_mail *actor__mail_new(struct actor__mails *mails, struct actor__pool *pool,
	const struct actor__envelope *envelope);

void actor__mail_free(struct actor__mails *mails, struct actor__pool *pool, struct actor_mail *mail);

/* Does it answer a question of the actor's own? */
static inline bool actor__mail_answers(const struct actor__envelope *envelope)
{
	return envelope->flags & ACTOR__REPLY && !actor__envelope_timed(envelope);
}

#endif
