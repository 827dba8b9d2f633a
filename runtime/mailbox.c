/* SPDX-License-Identifier: MIT */
/* Growth of a mailbox: a small chunk first, for the many actors with short queues, big ones then. */
#include "mailbox.h"

int actor__mailbox_grow(struct actor__mailbox *box, struct actor__pool *pool)
{
	uint32_t slots = box->tail ? ACTOR__CHUNK_BIG : ACTOR__CHUNK_SMALL;
	struct actor__chunk *chunk = actor__pool_take(pool, actor__chunk_bytes(slots));

	if (!chunk)
		return 0;
	chunk->next = NULL;
	chunk->slots = slots;
	if (box->tail)
		box->tail->next = chunk;
	else
		box->head = chunk;
	box->tail = chunk;
	box->end = 0;
	return 1;
}
