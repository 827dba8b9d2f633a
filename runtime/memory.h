/* SPDX-License-Identifier: MIT */
/* Memory of one loop: equal blocks are recycled through free lists. Mailbox chunks lie in slabs of
 * their own, which are given back when a loop has nothing to do; all others stay until the loop
 * ends. Cost: a few instructions per take and give. Used by the loop's thread only. */
#ifndef ACTOR_MEMORY_H
#define ACTOR_MEMORY_H

#include "poison.h"

#include <stdint.h>

#define ACTOR__POOL_BYTES   2048u /* largest block; larger ones come from the heap */
#define ACTOR__POOL_CLASSES (ACTOR__POOL_BYTES / 16 + 1)

/* The heap below everything; tests replace it to make allocations fail. */
struct actor__heap {
	void *(*alloc)(size_t align, size_t bytes); /* align: a power of two from 64 on */
	void (*free)(void *block);
};
extern struct actor__heap actor__heap;

void *actor__heap_alloc(size_t bytes);
void *actor__heap_zero(size_t bytes);
void actor__heap_free(void *block);

struct actor__block {
	struct actor__block *next;
};

struct actor__pool {
	struct actor__block *free[ACTOR__POOL_CLASSES];
	struct actor__block *slabs; /* of all blocks but chunks; freed at the end */
	uintptr_t at;               /* the newest slab's rest */
	uintptr_t end;
	struct actor__chunk_slab *chunk_slabs;
	size_t chunk_slab_count;
	size_t chunk_slab_kept; /* of them after the last trim */
};

#define ACTOR__CHUNK_BYTES 1024u /* size and alignment of a mailbox chunk */
#define ACTOR__SLAB_BYTES  65536u
#define ACTOR__SLABS_FREE  16u /* entirely free chunk slabs that a trim leaves: 1 MiB */

void *actor__pool_grow(struct actor__pool *pool, size_t bytes);
void actor__pool_fini(struct actor__pool *pool);

/* Gives chunk slabs that are entirely free back to the heap, but a few. */
void actor__pool_trim(struct actor__pool *pool);

/* Is a trim worth its walk over the free chunks? */
static inline int actor__pool_grown(const struct actor__pool *pool)
{
	return pool->chunk_slab_count > pool->chunk_slab_kept + ACTOR__SLABS_FREE;
}

static inline size_t actor__pool_class(size_t bytes)
{
	return (bytes + 15) / 16;
}

/* A block of at least `bytes`, or NULL; aligned to the largest power of two that divides its size
 * rounded up to 16, at most 1024. */
static inline void *actor__pool_take(struct actor__pool *pool, size_t bytes)
{
	struct actor__block *block;

	if (bytes > ACTOR__POOL_BYTES)
		return actor__heap_alloc(bytes);
	block = pool->free[actor__pool_class(bytes)];
	if (__builtin_expect(!block, 0))
		return actor__pool_grow(pool, bytes);
	pool->free[actor__pool_class(bytes)] = block->next;
	actor__unpoison(block, actor__pool_class(bytes) * 16);
	return block;
}

static inline void actor__pool_give(struct actor__pool *pool, void *memory, size_t bytes)
{
	struct actor__block *block = (struct actor__block *)memory;

	if (bytes > ACTOR__POOL_BYTES) {
		actor__heap_free(memory);
		return;
	}
	block->next = pool->free[actor__pool_class(bytes)];
	pool->free[actor__pool_class(bytes)] = block;
	actor__poison(block + 1, actor__pool_class(bytes) * 16 - sizeof(*block));
}

#endif
