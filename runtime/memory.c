/* SPDX-License-Identifier: MIT */
/* Slabs and the heap below them. */
#include "memory.h"

#include <stdlib.h>
#include <string.h>

#define SLAB_BYTES 65536u
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

void *actor__pool_grow(struct actor__pool *pool, size_t bytes)
{
	size_t size = actor__pool_class(bytes) * 16;
	uintptr_t align = size & -size; /* the lowest bit that is set */
	uintptr_t block;

	if (align > ALIGN_MOST)
		align = ALIGN_MOST;
	block = (pool->at + align - 1) & ~(align - 1);

	if (!pool->at || block + size > pool->end) {
		struct actor__block *slab = actor__heap.alloc(ALIGN_MOST, SLAB_BYTES);

		if (!slab)
			return NULL;
		slab->next = pool->slabs;
		pool->slabs = slab;
		block = (uintptr_t)slab + (align > sizeof(*slab) ? align : sizeof(*slab));
		pool->end = (uintptr_t)slab + SLAB_BYTES;
	}
	pool->at = block + size;
	return (void *)block;
}

void actor__pool_fini(struct actor__pool *pool)
{
	while (pool->slabs) {
		struct actor__block *slab = pool->slabs;

		pool->slabs = slab->next;
		actor__heap_free(slab);
	}
	memset(pool, 0, sizeof(*pool));
}
