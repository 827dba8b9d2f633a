/* SPDX-License-Identifier: MIT */
/* Makes records of what a turn did, while somebody listens. The loop's thread.
 *
 * A batch begins with a mark: the loop's counters before it. A turn that is longer than a batch
 * hands several over. Whether a batch is observed is decided at its beginning, so that a message
 * is recorded wholly or not at all; a message told before anybody listened has no stamp and is
 * counted as unstamped. */
#ifndef ACTOR_OBSERVE_H
#define ACTOR_OBSERVE_H

#include "core.h"

/* Messages of one batch: the mark and the turn's own record need a place as well. */
#define ACTOR__BATCH (ACTOR_ABI_TURN_RECORDS - 2)

/* What the probes say of a turn; kept apart, since the cell may be gone when it ends. */
struct actor__turn {
	actor_ref actor;
	uint32_t dispatcher;
	uint32_t class_id;
	uint32_t messages;    /* handled so far */
	uint64_t asked_ticks; /* when the turn was asked for, 0 = unknown */
	uint64_t began_ticks; /* 0 = nobody listened then */
};

/* A turn begins while some probe is listened to: fires turn_start. */
void actor__observe_turn(struct actor__loop *loop, struct actor__turn *turn, uint32_t depth);

/* A batch begins. */
void actor__observe_batch(struct actor__loop *loop);

/* A handler has returned. `depth` counts the message itself. */
void actor__observe_message(struct actor__loop *loop, const struct actor__turn *turn,
	const struct actor__envelope *envelope, uint32_t depth, bool failed);

/* A batch ends: fires turn_end; unless the outcome is MORE, the turn's own record is its last. */
void actor__observe_end(
	struct actor__loop *loop, const struct actor__turn *turn, enum actor_abi_outcome outcome);

#endif
