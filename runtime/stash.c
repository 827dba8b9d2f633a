/* SPDX-License-Identifier: MIT */
/* Batches of messages that were set aside. */
#include "stash.h"

#include "deliver.h"

#include <errno.h>

static struct actor__stash_batch *batch_new(struct actor__pool *pool)
{
	struct actor__stash_batch *batch = actor__pool_take(pool, sizeof(*batch));

	if (batch)
		*batch = (struct actor__stash_batch){.next = NULL};
	return batch;
}

static void batch_free(struct actor__stash_batch *batch, struct actor__pool *pool)
{
	actor__mailbox_rest(&batch->box, pool);
	actor__pool_give(pool, batch, sizeof(*batch));
}

int actor__stash_put(struct actor__stash **out, uint32_t capacity, struct actor__pool *pool,
	const struct actor__envelope *envelope)
{
	struct actor__stash *stash = *out;
	struct actor__envelope *place;

	if (!stash)
		*out = stash = actor__heap_zero(sizeof(*stash));
	if (!stash)
		return -ENOMEM;
	if (!stash->aside)
		stash->aside = batch_new(pool);
	if (!stash->aside)
		return -ENOMEM;
	if (stash->aside->box.count >= capacity)
		return ACTOR_ESTASH;
	place = actor__mailbox_push(&stash->aside->box, pool);
	if (place) {
		*place = *envelope;
		return 0;
	}
	if (!stash->aside->box.count) {
		batch_free(stash->aside, pool);
		stash->aside = NULL;
	}
	return -ENOMEM;
}

uint32_t actor__stash_replay(struct actor__stash *stash)
{
	struct actor__stash_batch *batch = stash ? stash->aside : NULL;

	if (!batch)
		return 0;
	stash->aside = NULL;
	batch->next = stash->replay;
	stash->replay = batch;
	return batch->box.count;
}

struct actor__envelope *actor__stash_next(struct actor__stash *stash, struct actor__pool *pool)
{
	struct actor__stash_batch *batch = stash ? stash->replay : NULL;

	if (!batch)
		return NULL;
	stash->open = *actor__mailbox_pop(&batch->box);
	actor__mailbox_done(&batch->box, pool);
	if (!batch->box.count) {
		stash->replay = batch->next;
		batch_free(batch, pool);
	}
	return &stash->open;
}

void actor__stash_clear(struct actor__stash *stash, const struct actor__cell *cell)
{
	struct actor__loop *loop = cell->loop;
	struct actor__stash_batch *batch = stash ? stash->aside : NULL;

	if (!batch)
		return;
	stash->aside = NULL;
	while (batch->box.count) {
		actor__dead_letter_of(cell->cls->id, loop, actor__mailbox_pop(&batch->box));
		actor__mailbox_done(&batch->box, &loop->pool);
	}
	batch_free(batch, &loop->pool);
}
