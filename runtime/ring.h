/* SPDX-License-Identifier: MIT */
/* A single-producer, single-consumer ring of envelopes between two loops' threads.
 *
 * The producer owns `tail`, the consumer owns `head`; each keeps a copy of the other's index and
 * reads the real one only when the copy says full or empty. A ring that is full may get a larger
 * one behind it: the producer goes on there, the consumer follows when it has emptied the first.
 * A ring that was left stays until its channel is freed, since others may look at it. */
#ifndef ACTOR_RING_H
#define ACTOR_RING_H

#include "mailbox.h"

#include <stdatomic.h>

struct actor__ring {
	uint32_t slots; /* power of two; set once */
	/* release: after the last push to this one; acquire: the consumer looks once more, then goes */
	_Atomic(struct actor__ring *) next;
	/* consumer */
	_Alignas(64) _Atomic uint32_t head; /* release: the slot was read; acquire: push */
	uint32_t tail_seen;
	/* producer */
	_Alignas(64) _Atomic uint32_t tail; /* release: the slot was written; acquire: pop */
	uint32_t head_seen;
	_Alignas(64) struct actor__envelope at[];
};

/* NULL: no memory. */
struct actor__ring *actor__ring_new(uint32_t slots);
void actor__ring_free(struct actor__ring *ring);

/* Producer. The place for the next envelope, or NULL: full. */
static inline struct actor__envelope *actor__ring_place(struct actor__ring *ring)
{
	uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

	if (__builtin_expect(tail - ring->head_seen == ring->slots, 0)) {
		ring->head_seen = atomic_load_explicit(&ring->head, memory_order_acquire);
		if (tail - ring->head_seen == ring->slots)
			return NULL;
	}
	return &ring->at[tail & (ring->slots - 1)];
}

/* Producer. Shows the envelope in that place to the consumer. */
static inline void actor__ring_publish(struct actor__ring *ring)
{
	uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

	atomic_store_explicit(&ring->tail, tail + 1, memory_order_release);
}

/* Producer. 0: full. */
static inline int actor__ring_push(struct actor__ring *ring, const struct actor__envelope *e)
{
	struct actor__envelope *place = actor__ring_place(ring);

	if (!place)
		return 0;
	*place = *e;
	actor__ring_publish(ring);
	return 1;
}

/* Consumer. The oldest envelope, or NULL; it stays until actor__ring_pop(). */
static inline struct actor__envelope *actor__ring_peek(struct actor__ring *ring)
{
	uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

	if (head == ring->tail_seen) {
		ring->tail_seen = atomic_load_explicit(&ring->tail, memory_order_acquire);
		if (head == ring->tail_seen)
			return NULL;
	}
	return &ring->at[head & (ring->slots - 1)];
}

static inline void actor__ring_pop(struct actor__ring *ring)
{
	uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

	atomic_store_explicit(&ring->head, head + 1, memory_order_release);
}

/* Consumer. The ring to read from: the next one, once this one is empty for good. */
static inline struct actor__ring *actor__ring_follow(struct actor__ring *ring)
{
	struct actor__ring *next = atomic_load_explicit(&ring->next, memory_order_acquire);

	return next && !actor__ring_peek(ring) ? next : ring;
}

/* Either side, and whoever looks on. */
static inline int actor__ring_empty(struct actor__ring *ring)
{
	return atomic_load_explicit(&ring->head,
		       memory_order_acquire) ==
	       atomic_load_explicit(
		       &ring->tail, memory_order_acquire);
}

#endif
