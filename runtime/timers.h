/* SPDX-License-Identifier: MIT */
/* The keyed timers of actors: what is set, which messages of theirs still count.
 *
 * A timer is known to its actor by a key and to its loop by a number, which each start takes anew.
 * A timer's message carries that number, so that one from before a cancel, a new start or a restart
 * is recognised when its place in the mailbox comes, and given up. A timer has at most one message
 * that is not handled yet. The cell's loop. */
#ifndef ACTOR_TIMERS_H
#define ACTOR_TIMERS_H

#include "alarm.h"

enum actor__timer_kind {
	ACTOR__TIMER_ONCE,
	ACTOR__TIMER_RATE,  /* due at equal distances */
	ACTOR__TIMER_DELAY, /* due that long after its message was handled */
};

struct actor__timer {
	struct actor__deadline deadline; /* first */
	struct actor__cell *cell;
	uint64_t key;
	uint64_t interval_ms;
	uint64_t missed; /* times when its message was not handled yet, or could not be made */
	uint32_t number; /* of this start */
	uint8_t kind;    /* enum actor__timer_kind */
	uint8_t queued;  /* its message is on its way */
	struct actor__envelope envelope; /* of its messages; type 0: it has gone */
};

/* The actor's timer by its key, or NULL. */
struct actor__timer *actor__timers_find(const struct actor__cell *cell, uint64_t key);

/* A timer for this key, not armed and without a message, with a new number: the present one, or a
 * new one. NULL: no memory, and nothing has changed. */
struct actor__timer *actor__timers_take(struct actor__cell *cell, uint64_t key);

/* Cancels and frees a timer. */
void actor__timers_remove(struct actor__timer *timer);

/* Cancels all timers of an actor. */
void actor__timers_clear(struct actor__cell *cell);

/* The turn of a timer's message has come: from now on it is a plain one. False: it does not count
 * any more. `*missed`: times without a message since the last one. */
bool actor__timers_accept(
	struct actor__cell *cell, struct actor__envelope *envelope, uint64_t *missed);

/* That message was handled. */
void actor__timers_handled(struct actor__cell *cell, uint32_t number);

/* A timer's message was dropped by the mailbox. */
void actor__timers_dropped(struct actor__cell *cell, const struct actor__envelope *envelope);

#endif
