/* SPDX-License-Identifier: MIT */
/* Slabs and the heap below them. */
#include "memory.h"

#include <stdlib.h>
#include <string.h>

#define SLAB_BYTES 65536u

static void *heap_alloc(size_t bytes)
{
	return aligned_alloc(64, (bytes + 63) & ~(size_t)63);
}

struct actor__heap actor__heap = {heap_alloc, free};

void *actor__heap_alloc(size_t bytes)
{
	return actor__heap.alloc(bytes);
}

void *actor__heap_zero(size_t bytes)
{
	void *block = actor__heap.alloc(bytes);

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
	uintptr_t align = size % 64 ? 16 : 64;
	uintptr_t block = (pool->at + align - 1) & ~(align - 1);

	if (!pool->at || block + size > pool->end) {
		struct actor__block *slab = actor__heap_alloc(SLAB_BYTES);

		if (!slab)
			return NULL;
		slab->next = pool->slabs;
		pool->slabs = slab;
		block = (uintptr_t)slab + 64; /* keeps the alignment */
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
