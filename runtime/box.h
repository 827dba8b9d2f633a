/* SPDX-License-Identifier: MIT */
/* A mailbox that is no plain FIFO: bounded, by rank, or the program's own.
 *
 * Its cell has the state bit ACTOR__CAREFUL, a plain mailbox that looks as if it were full
 * (ACTOR__BOXED) and so sends every tell on the slow way, and the length in mailbox.count.
 * A bound never drops an answer, a stop or a notification: they may make a mailbox longer than its
 * capacity. Ranks: answers come first; a stop comes when all that was told before it is gone,
 * whatever its rank, and before all that is told after it. The loop's thread, but making. */
#ifndef ACTOR_BOX_H
#define ACTOR_BOX_H

#include "custombox.h"
#include "ranks.h"

enum actor__box_kind {
	ACTOR__BOX_FIFO,
	ACTOR__BOX_RANKS,
	ACTOR__BOX_CUSTOM,
};

/* Beside an error: the arrival goes, and nobody is told. */
#define ACTOR__BOX_DROP_NEW 1

struct actor__box {
	struct actor__mail_list list;
	enum actor__box_kind kind;
	enum actor_overflow overflow;
	uint32_t counted;             /* of it in the cell's mailbox.count */
	uint32_t capacity;            /* 0 = no bound */
	struct actor_mail *droppable; /* FIFO: the oldest that a bound may drop */
	struct actor__ranks ranks;
	uint32_t epoch; /* of the ranks: stops queued so far */
	actor_rank_cb rank;
	void *rank_data;
	struct actor__custom custom;
	struct actor_mail *held; /* what a custom mailbox handed out to be looked at; next, and counts */
};

/* Checks options and makes the box they ask for; NULL in *box if they ask for none. 0,
 * ACTOR_EOPTIONS, -ENOMEM, or the error of a custom mailbox. Any thread. */
int actor__box_new(struct actor__box **box, const struct actor_mailbox_options *options);

/* Frees a box that has no mail. NULL is fine. */
void actor__box_free(struct actor__box *box);

/* Admits mail. ACTOR_EFULL: it was refused, ACTOR__BOX_DROP_NEW: it is to be dropped; then it is
 * the caller's. What had to make room for it is among list.dropped. */
int actor__box_put(struct actor__box *box, struct actor_mail *mail);

/* Takes the next one out; NULL: nothing can be handled now. */
struct actor_mail *actor__box_pop(struct actor__box *box);

/* The next one, which stays in. */
struct actor_mail *actor__box_ahead(struct actor__box *box);

/* Takes out the oldest one, for the end of the actor: it is popped no more. */
struct actor_mail *actor__box_oldest(struct actor__box *box);

static inline uint64_t actor__box_oldest_stamp(const struct actor__box *box)
{
	const struct actor_mail *mail = box->held ? box->held : box->list.oldest;

	return mail ? mail->envelope.stamp : 0;
}

/* How much can be handled now. */
static inline uint32_t actor__box_count(const struct actor__box *box)
{
	uint32_t held = box->held != NULL;

	if (box->custom.resting && !box->custom.first.first && !box->custom.later.first)
		return held;
	return box->list.count + held;
}

/* Brings a mailbox's count up to date, which may have more in it than the box. */
static inline void actor__box_counted(struct actor__box *box, uint32_t *count)
{
	uint32_t now = actor__box_count(box);

	*count += now - box->counted;
	box->counted = now;
}

#endif
