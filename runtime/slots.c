/* SPDX-License-Identifier: MIT */
/* Loop numbers and actor tables. A free entry has generation 0, its last generation in `parent`,
 * the next free index in `name` and no cell: a made-up ref of generation 0 finds nobody. */
#include "slots.h"

#include "root.h"

#include <errno.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct actor__slots *all[ACTOR_ABI_LOOPS];

static struct actor__slots *slots_new(uint32_t loop)
{
	struct actor__slots *slots = actor__heap_zero(sizeof(*slots));

	if (!slots)
		return NULL;
	slots->abi.loop = loop;
	slots->abi.actors.segments = (uint64_t)(uintptr_t)slots->segments;
	slots->abi.actors.segment_max = ACTOR__TABLE_SEGMENTS;
	slots->abi.actors.segment_entries = ACTOR__TABLE_SEGMENT;
	slots->abi.actors.entry_bytes = sizeof(struct actor_abi_actor);
	slots->free_here = ACTOR__NO_SLOT;
	slots->free_outside = ACTOR__NO_SLOT;
	pthread_mutex_init(&slots->lock, NULL);
	return slots;
}

int actor__slots_open(struct actor__slots **out)
{
	struct actor__slots *slots = NULL;
	int rc = ACTOR_ELIMIT;

	pthread_mutex_lock(&lock);
	for (uint32_t loop = 1; loop < ACTOR_ABI_LOOPS && !slots; loop++) {
		if (all[loop] && all[loop]->in_use)
			continue;
		if (!all[loop])
			all[loop] = slots_new(loop);
		slots = all[loop];
		rc = slots ? 0 : -ENOMEM;
		if (rc)
			break;
		slots->in_use = true;
		__atomic_store_n(&actor_root.loops[loop], (uint64_t)(uintptr_t)&slots->abi,
			__ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
	*out = slots;
	return rc;
}

void actor__slots_close(struct actor__slots *slots)
{
	__atomic_store_n(&slots->abi.state, ACTOR_ABI_LOOP_CLOSED, __ATOMIC_RELAXED);
	pthread_mutex_lock(&lock);
	slots->in_use = false;
	pthread_mutex_unlock(&lock);
}

struct actor__slots *actor__slots_of(uint32_t loop)
{
	struct actor__slots *slots;

	pthread_mutex_lock(&lock);
	slots = loop < ACTOR_ABI_LOOPS ? all[loop] : NULL;
	pthread_mutex_unlock(&lock);
	return slots;
}

static struct actor_abi_actor *entry_at(struct actor__slots *slots, uint32_t index)
{
	uint64_t segment =
		__atomic_load_n(&slots->segments[index / ACTOR__TABLE_SEGMENT], __ATOMIC_ACQUIRE);

	return (struct actor_abi_actor *)(uintptr_t)segment + index % ACTOR__TABLE_SEGMENT;
}

/* Makes all segments up to this index; false: no memory. */
static bool segments_ensure(struct actor__slots *slots, uint32_t index)
{
	bool ok = true;

	if (__atomic_load_n(&slots->segments[index / ACTOR__TABLE_SEGMENT], __ATOMIC_ACQUIRE))
		return true;
	pthread_mutex_lock(&slots->lock);
	for (uint32_t i = 0; i <= index / ACTOR__TABLE_SEGMENT && ok; i++) {
		void *memory;

		if (slots->segments[i])
			continue;
		memory = actor__heap_zero(ACTOR__TABLE_SEGMENT * sizeof(struct actor_abi_actor));
		ok = memory != NULL;
		__atomic_store_n(
			&slots->segments[i], (uint64_t)(uintptr_t)memory, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&slots->lock);
	return ok;
}

/* Reserves a slot that was never used. */
static int reserve_fresh(struct actor__slots *slots, uint32_t *out)
{
	uint32_t index = atomic_load_explicit(&slots->next, memory_order_relaxed);
	uint32_t count;

	do {
		if (index >= ACTOR__TABLE_SEGMENT * ACTOR__TABLE_SEGMENTS)
			return ACTOR_ELIMIT;
		if (!segments_ensure(slots, index))
			return -ENOMEM;
	} while (!atomic_compare_exchange_weak(&slots->next, &index, index + 1));
	count = __atomic_load_n(&slots->abi.actors.count, __ATOMIC_RELAXED);
	while (count < index + 1 &&
		!__atomic_compare_exchange_n(&slots->abi.actors.count, &count, index + 1, true,
			__ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	*out = index;
	return 0;
}

static uint32_t reserve_freed(struct actor__slots *slots, uint32_t *list)
{
	uint32_t index = *list;

	if (index != ACTOR__NO_SLOT)
		*list = (uint32_t)__atomic_load_n(&entry_at(slots, index)->name, __ATOMIC_RELAXED);
	return index;
}

int actor__slot_reserve(struct actor__slots *slots, bool outside, actor_ref *ref)
{
	uint32_t index;
	int rc = 0;

	if (outside) {
		pthread_mutex_lock(&slots->lock);
		index = reserve_freed(slots, &slots->free_outside);
		pthread_mutex_unlock(&slots->lock);
	} else {
		index = reserve_freed(slots, &slots->free_here);
	}
	if (index == ACTOR__NO_SLOT)
		rc = reserve_fresh(slots, &index);
	if (rc)
		return rc;
	*ref = (uint64_t)slots->abi.loop << 56 | (uint64_t)index << 32 |
	       (uint32_t)(entry_at(slots, index)->parent + 1);
	return 0;
}

void actor__slot_publish(
	struct actor__slots *slots, const struct actor__cell *cell, uint32_t dispatcher)
{
	struct actor_abi_actor *entry = entry_at(slots, actor_abi_ref_index(cell->self));

	entry->class_id = (uint16_t)cell->cls->id;
	entry->dispatcher = (uint16_t)dispatcher;
	__atomic_store_n(&entry->parent, cell->parent, __ATOMIC_RELAXED);
	__atomic_store_n(&entry->name, cell->name ? (uint64_t)(uintptr_t)cell->name->text : 0,
		__ATOMIC_RELAXED);
	__atomic_store_n(&entry->cell, (uint64_t)(uintptr_t)cell, __ATOMIC_RELEASE);
	__atomic_store_n(
		&entry->generation, actor_abi_ref_generation(cell->self), __ATOMIC_RELEASE);
}

static void free_into(uint32_t *list, actor_ref ref, struct actor_abi_actor *entry)
{
	__atomic_store_n(&entry->generation, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&entry->parent, actor_abi_ref_generation(ref), __ATOMIC_RELAXED);
	__atomic_store_n(&entry->name, *list, __ATOMIC_RELAXED);
	__atomic_store_n(&entry->cell, 0, __ATOMIC_RELAXED);
	if (actor_abi_ref_generation(ref) == UINT32_MAX)
		return; /* retired */
	*list = actor_abi_ref_index(ref);
}

void actor__slot_free(struct actor__slots *slots, actor_ref ref, bool outside)
{
	struct actor_abi_actor *entry = entry_at(slots, actor_abi_ref_index(ref));

	if (outside) {
		pthread_mutex_lock(&slots->lock);
		free_into(&slots->free_outside, ref, entry);
		pthread_mutex_unlock(&slots->lock);
	} else {
		free_into(&slots->free_here, ref, entry);
	}
}

struct actor_abi_actor *actor__slot_entry(struct actor__slots *slots, actor_ref ref)
{
	uint32_t index = actor_abi_ref_index(ref);
	struct actor_abi_actor *entry;

	if (index >= __atomic_load_n(&slots->abi.actors.count, __ATOMIC_ACQUIRE))
		return NULL;
	entry = entry_at(slots, index);
	if (!actor_abi_ref_generation(ref) ||
		__atomic_load_n(&entry->generation, __ATOMIC_ACQUIRE) != actor_abi_ref_generation(ref))
		return NULL;
	return entry;
}
