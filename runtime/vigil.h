/* SPDX-License-Identifier: MIT */
/* What is kept at an actor for somebody who waits for its end.
 *
 * One block, made when the wait begins, so that nothing needs memory later: at first it travels to
 * the subject's loop, if that is another one, by `begin`; there it is tied to the subject (or to what
 * the loop could not tell for want of memory) until the end was told. Whoever waits and does so no
 * longer sends `cancel`, which comes behind `begin`. Both sides hold the block; the last one frees
 * it. */
#ifndef ACTOR_VIGIL_H
#define ACTOR_VIGIL_H

#include "bond.h"

/* How the word of the end is told. */
enum actor__vigil_kind {
	ACTOR__VIGIL_WATCH,  /* by the message of a watch */
	ACTOR__VIGIL_ASK,    /* as the answer, without a payload, to an ask of the watcher */
	ACTOR__VIGIL_WAITER, /* to whoever waits outside, see asks.h */
};

struct actor__vigil {
	/* set before it begins */
	actor_ref watcher;
	actor_ref subject;
	uint32_t number; /* of the watch, the ask, or the waiter */
	enum actor__vigil_kind kind;
	_Atomic uint32_t holders; /* the subject's loop until the end was told; the watcher */
	struct actor__notice begin;
	struct actor__notice cancel; /* or hurry; the watcher's, until it is sent */
	/* the subject's loop, from its arrival on */
	struct actor__tie tie;
	struct actor__tie **list; /* that has the tie; NULL: none */
	int32_t code; /* of the failure that ended the subject, -ENOENT: it was gone before */
};

/* Fills a block of zeros, held by so many. */
void actor__vigil_init(struct actor__vigil *vigil, actor_ref watcher, actor_ref subject,
	uint32_t number, uint32_t holders);

/* Gives up one hold; the last one frees the block. Any thread. */
void actor__vigil_drop(struct actor__vigil *vigil);

/* Ties it to an actor, or to whatever else has a list; and unties it. The subject's loop. */
void actor__vigil_tie(struct actor__vigil *vigil, struct actor__tie **list);
void actor__vigil_untie(struct actor__vigil *vigil);

static inline struct actor__vigil *actor__vigil_of_tie(struct actor__tie *tie)
{
	return (struct actor__vigil *)((char *)tie - offsetof(struct actor__vigil, tie));
}

#endif
