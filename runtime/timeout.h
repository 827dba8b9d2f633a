/* SPDX-License-Identifier: MIT */
/* The receive time-out of an actor: a message of its own when none was handled for a while.
 *
 * It is delivered by careful.c, ahead of the mailbox and from a place of its own, so no bound can
 * drop it and no memory is needed. Handling a message only notes when that was: the deadline looks
 * when it comes, and is armed again for the rest. It looks at the end of handlers, so one that
 * takes longer than the time-out is not followed by it. The cell's loop. */
#ifndef ACTOR_TIMEOUT_H
#define ACTOR_TIMEOUT_H

#include "alarm.h"

struct actor__timeout {
	struct actor__deadline deadline; /* first */
	struct actor__cell *cell;
	uint64_t after_ms;   /* 0: off */
	uint64_t handled_ms; /* when a message was handled last without a failure */
	bool due;
	struct actor__envelope envelope; /* of the message */
};

/* The message, if it is due: it no longer is. Else NULL. `timeout` may be NULL. */
struct actor__envelope *actor__timeout_take(struct actor__timeout *timeout);

/* A message was handled without a failure, just now. */
void actor__timeout_reset(struct actor__timeout *timeout);

/* Frees it. NULL is fine. */
void actor__timeout_free(struct actor__timeout *timeout);

/* Is this its message? */
static inline bool actor__timeout_has(
	const struct actor__timeout *timeout, const struct actor__envelope *envelope)
{
	return timeout && envelope == &timeout->envelope;
}

static inline bool actor__timeout_on(const struct actor__timeout *timeout)
{
	return timeout && timeout->after_ms;
}

static inline bool actor__timeout_due(const struct actor__timeout *timeout)
{
	return timeout && timeout->due;
}

#endif
