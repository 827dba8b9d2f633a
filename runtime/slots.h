/* SPDX-License-Identifier: MIT */
/* The actor table of one loop: from a ref to its cell. Observers read it through the root.
 *
 * Segments never move and are never freed, and a loop number keeps its table when it passes to
 * another system, so that generations go on and an old ref never finds a new actor. A slot whose
 * generations are used up is retired. */
#ifndef ACTOR_SLOTS_H
#define ACTOR_SLOTS_H

#include "core.h"

struct actor__slots {
	struct actor_abi_loop abi;
	uint64_t segments[ACTOR__TABLE_SEGMENTS];
	_Atomic uint32_t next; /* slots reserved so far; any thread */
	uint32_t free_here;    /* freed by the loop's thread for its own use */
	pthread_mutex_t lock;  /* of what follows */
	uint32_t free_outside; /* for threads that spawn from outside */
	bool in_use;
};

/* A loop number that no open system uses. 0, ACTOR_ELIMIT, -ENOMEM. Any thread. */
int actor__slots_open(struct actor__slots **out);
void actor__slots_close(struct actor__slots *slots);

/* Reserves a slot; `outside`: the caller is not the loop's thread. *ref is what it will have.
 * 0, ACTOR_ELIMIT, -ENOMEM. */
int actor__slot_reserve(struct actor__slots *slots, bool outside, actor_ref *ref);

/* Makes a reserved slot findable, with everything an observer may read. */
void actor__slot_publish(
	struct actor__slots *slots, const struct actor__cell *cell, uint32_t dispatcher);

/* Takes a slot back, published or not; the ref is dead from now on. The loop's thread, or the
 * thread that reserved it. */
void actor__slot_free(struct actor__slots *slots, actor_ref ref, bool outside);

/* The table entry with this generation, or NULL. Any thread. */
struct actor_abi_actor *actor__slot_entry(struct actor__slots *slots, actor_ref ref);

/* The table of a loop number, or NULL. Any thread. */
struct actor__slots *actor__slots_of(uint32_t loop);

/* The cell of a ref, or NULL if it is dead or of another loop. The loop's thread. An entry's cell
 * is NULL while the slot is free; acquire pairs with the release of actor__slot_publish(). */
static inline struct actor__cell *actor__slot_find(const struct actor__loop *loop, actor_ref ref)
{
	/* Written out: index = bits 32 ... 55 of the ref, its upper half the segment. */
	const struct actor_abi_actor *entry = (const struct actor_abi_actor *)(uintptr_t)
		__atomic_load_n(&loop->segments[ref >> 44 & (ACTOR__TABLE_SEGMENTS - 1)],
			__ATOMIC_RELAXED);
	struct actor__cell *cell;

	if (ACTOR__UNLIKELY(!entry))
		return NULL;
	entry += ref >> 32 & (ACTOR__TABLE_SEGMENT - 1);
	cell = (struct actor__cell *)(uintptr_t)__atomic_load_n(&entry->cell, __ATOMIC_ACQUIRE);
	if (ACTOR__UNLIKELY(!cell || cell->self != ref))
		return NULL;
	return cell;
}

#endif
