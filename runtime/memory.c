/* SPDX-License-Identifier: MIT */
/* Slabs and the heap below them. */
#include "memory.h"

#include <stdlib.h>
#include <string.h>

#define SLAB_CHUNKS (ACTOR__SLAB_BYTES / ACTOR__CHUNK_BYTES - 1)
#define ALIGN_MOST 1024u

static void *heap_alloc(size_t align, size_t bytes)
{
	return aligned_alloc(align, (bytes + align - 1) & ~(align - 1));
}

struct actor__heap actor__heap = {heap_alloc, free};

void *actor__heap_alloc(size_t bytes)
{
	return actor__heap.alloc(64, bytes);
}

void *actor__heap_zero(size_t bytes)
{
	void *block = actor__heap.alloc(64, bytes);

	if (block)
		memset(block, 0, bytes);
	return block;
}

void actor__heap_free(void *block)
{
	if (block)
		actor__heap.free(block);
}

static void slab_free(void *slab)
{
	actor__unpoison(slab, ACTOR__SLAB_BYTES);
	actor__heap_free(slab);
}

/* In the place of a chunk slab's first chunk; the slab is aligned to its size. */
struct actor__chunk_slab {
	struct actor__chunk_slab *next;
	size_t free; /* chunks, counted by a trim */
};

static struct actor__block **chunks_of(struct actor__pool *pool)
{
	return &pool->free[actor__pool_class(ACTOR__CHUNK_BYTES)];
}

static struct actor__chunk_slab *slab_of(struct actor__block *chunk)
{
	return (struct actor__chunk_slab *)((uintptr_t)chunk & ~(uintptr_t)(ACTOR__SLAB_BYTES - 1));
}

static void *chunk_slab_new(struct actor__pool *pool)
{
	struct actor__chunk_slab *slab = actor__heap.alloc(ACTOR__SLAB_BYTES, ACTOR__SLAB_BYTES);
	struct actor__block **free = chunks_of(pool);

	if (!slab)
		return NULL;
	slab->next = pool->chunk_slabs;
	pool->chunk_slabs = slab;
	pool->chunk_slab_count++;
	for (size_t i = SLAB_CHUNKS; i > 1; i--) {
		struct actor__block *chunk =
			(struct actor__block *)((uintptr_t)slab + i * ACTOR__CHUNK_BYTES);

		chunk->next = *free;
		*free = chunk;
	}
	return (char *)slab + ACTOR__CHUNK_BYTES;
}

/* How many entirely free slabs there are. */
static size_t free_slabs_count(struct actor__pool *pool)
{
	size_t count = 0;

	for (struct actor__chunk_slab *slab = pool->chunk_slabs; slab; slab = slab->next)
		slab->free = 0;
	for (struct actor__block *chunk = *chunks_of(pool); chunk; chunk = chunk->next)
		if (++slab_of(chunk)->free == SLAB_CHUNKS)
			count++;
	return count;
}

/* Takes the chunks of slabs that go (their count is SIZE_MAX) off the free list. */
static void chunks_drop(struct actor__pool *pool)
{
	struct actor__block **place = chunks_of(pool);

	while (*place) {
		if (slab_of(*place)->free == SIZE_MAX)
			*place = (*place)->next;
		else
			place = &(*place)->next;
	}
}

/* Counts down what is kept; true: nothing is left of it, this one goes. */
static int keep_or_go(size_t *keep)
{
	if (*keep == 0)
		return 1;
	--*keep;
	return 0;
}

void actor__pool_trim(struct actor__pool *pool)
{
	struct actor__chunk_slab **place = &pool->chunk_slabs;
	size_t free = free_slabs_count(pool);
	size_t keep = ACTOR__SLABS_FREE;

	if (free > keep) {
		for (struct actor__chunk_slab *slab = *place; slab; slab = slab->next)
			if (slab->free == SLAB_CHUNKS && keep_or_go(&keep))
				slab->free = SIZE_MAX;
		chunks_drop(pool);
		while (*place) {
			struct actor__chunk_slab *slab = *place;

			if (slab->free != SIZE_MAX) {
				place = &slab->next;
				continue;
			}
			*place = slab->next;
			pool->chunk_slab_count--;
			slab_free(slab);
		}
	}
	pool->chunk_slab_kept = pool->chunk_slab_count;
}

void *actor__pool_grow(struct actor__pool *pool, size_t bytes)
{
	size_t size = actor__pool_class(bytes) * 16;
	uintptr_t align = size & -size; /* the lowest bit that is set */
	uintptr_t block;

	if (size == ACTOR__CHUNK_BYTES)
		return chunk_slab_new(pool);
	if (align > ALIGN_MOST)
		align = ALIGN_MOST;
	block = (pool->at + align - 1) & ~(align - 1);

	if (!pool->at || block + size > pool->end) {
		struct actor__block *slab = actor__heap.alloc(ALIGN_MOST, ACTOR__SLAB_BYTES);

		if (!slab)
			return NULL;
		slab->next = pool->slabs;
		pool->slabs = slab;
		block = (uintptr_t)slab + (align > sizeof(*slab) ? align : sizeof(*slab));
		pool->end = (uintptr_t)slab + ACTOR__SLAB_BYTES;
	}
	pool->at = block + size;
	return (void *)block;
}

void actor__pool_fini(struct actor__pool *pool)
{
	while (pool->slabs) {
		struct actor__block *slab = pool->slabs;

		pool->slabs = slab->next;
		slab_free(slab);
	}
	while (pool->chunk_slabs) {
		struct actor__chunk_slab *slab = pool->chunk_slabs;

		pool->chunk_slabs = slab->next;
		slab_free(slab);
	}
	memset(pool, 0, sizeof(*pool));
}
