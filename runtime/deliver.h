/* SPDX-License-Identifier: MIT */
/* From an envelope to its mailbox or to the dead letters; the receiver's loop. */
#ifndef ACTOR_DELIVER_H
#define ACTOR_DELIVER_H

#include "dispatcher.h"
#include "envelope.h"
#include "slots.h"

/* Counts and publishes a message that found no actor, then releases it. */
void actor__dead_letter(struct actor__loop *loop, struct actor__envelope *envelope);

/* The same of an actor that is still known: it ends, or gives up what it has. */
void actor__dead_letter_of(
	uint32_t class_id, struct actor__loop *loop, struct actor__envelope *envelope);

/* Puts a copy of the envelope into its receiver's mailbox and asks for a turn. It belongs to the
 * mailbox (or is released) unless the result is -ENOMEM, or ACTOR_EFULL if somebody on this loop
 * tells it. */
int actor__deliver(struct actor__loop *loop, struct actor__envelope *envelope);

/* The same for a cell whose messages are in a box. */
int actor__deliver_boxed(struct actor__cell *cell, struct actor__envelope *envelope);

/* Counts and publishes a message that was not or no longer wanted, then releases it. */
void actor__drop(
	struct actor__cell *cell, struct actor__envelope *envelope, enum actor_abi_drop reason);

/* Drops what a box has given up. */
void actor__deliver_dropped(struct actor__cell *cell);

/* A plain mailbox has no place: adds a chunk. False: no memory. */
bool actor__deliver_grow(struct actor__cell *cell);

/* Fires the probe `enqueue` for mail that has just entered. */
void actor__observe_enqueue(
	const struct actor__cell *cell, const struct actor__envelope *envelope, bool asked);

static inline void actor__counter_add(_Atomic uint64_t *counter, uint64_t n)
{
	/* One writer: no read-modify-write needed. */
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
		memory_order_relaxed);
}

#endif
