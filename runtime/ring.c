/* SPDX-License-Identifier: MIT */
/* Storage of rings between loops. */
#include "ring.h"

#include "memory.h"

#include <string.h>

struct actor__ring *actor__ring_new(uint32_t slots)
{
	struct actor__ring *ring =
		actor__heap_alloc(sizeof(*ring) + slots * sizeof(struct actor__envelope));

	if (!ring)
		return NULL;
	memset(ring, 0, sizeof(*ring));
	ring->slots = slots;
	return ring;
}

void actor__ring_free(struct actor__ring *ring)
{
	actor__heap_free(ring);
}
