/* SPDX-License-Identifier: MIT */
/* Growing and shrinking of a mailbox by whole chunks. */
#include "mailbox.h"

#include "deep.h"

static struct actor__chunk *chunk_before(struct actor__envelope *end)
{
	return (struct actor__chunk *)((uintptr_t)end - ACTOR__CHUNK_BYTES);
}

int actor__mailbox_grow(struct actor__mailbox *box, struct actor__pool *pool)
{
	struct actor__chunk *chunk = actor__pool_take(pool, sizeof(*chunk));

	if (!chunk)
		return 0;
	chunk->next = NULL;
	if (box->end)
		chunk_before(box->end)->next = chunk;
	else
		box->first = chunk->at;
	box->end = chunk->at;
	return 1;
}

void actor__mailbox_shrink(struct actor__mailbox *box, struct actor__pool *pool)
{
	struct actor__chunk *chunk = chunk_before(box->first);

	if (chunk->next) {
		box->first = chunk->next->at;
	} else {
		box->first = NULL;
		box->end = NULL;
	}
	actor__pool_give(pool, chunk, sizeof(*chunk));
	if (__builtin_expect(box->deep, 0))
		box->deep = actor__deep_write(
			box->deep, box->count, box->count ? box->first->stamp : 0);
}
