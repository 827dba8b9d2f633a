/* SPDX-License-Identifier: MIT */
/* The throttle of an actor: how many of its messages are handled per time.
 *
 * careful.c asks before each message. Without a token the actor pauses: its state has the bit
 * ACTOR__PAUSED until a deadline takes it off, and no turn is asked for meanwhile. The cell's loop;
 * made by whoever makes the cell. */
#ifndef ACTOR_THROTTLE_H
#define ACTOR_THROTTLE_H

#include "alarm.h"
#include "tokens.h"

struct actor__throttle {
	struct actor__deadline resume; /* first */
	struct actor__cell *cell;
	struct actor__tokens tokens;
	enum actor_throttle_mode mode; /* 0: off */
};

/* 0 or ACTOR_EOPTIONS. */
int actor__throttle_check(const struct actor_throttle_options *options);

/* The cell's throttle, made at first use; NULL: no memory. */
struct actor__throttle *actor__throttle_of(struct actor__cell *cell);

/* Begins anew with a full bucket. The options have been checked; NULL: it is off. */
void actor__throttle_set(
	struct actor__throttle *throttle, const struct actor_throttle_options *options);

/* Takes a token; false: there is none now. */
bool actor__throttle_take(struct actor__throttle *throttle);

/* No message until there is a token. */
void actor__throttle_pause(struct actor__throttle *throttle);

/* Ends a pause, if there is one, and asks for a turn. */
void actor__throttle_resume(struct actor__throttle *throttle);

/* Frees it. NULL is fine. */
void actor__throttle_free(struct actor__throttle *throttle);

static inline bool actor__throttle_on(const struct actor__throttle *throttle)
{
	return throttle && throttle->mode;
}

#endif
