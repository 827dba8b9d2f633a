/* SPDX-License-Identifier: MIT */
/* The innermost loop: pop, handle, release; in two versions, with and without records. */
#include "turn.h"

#include "registry.h"

#define INLINE static inline __attribute__((always_inline))

/* The answer to an ask of this actor; a late one is ignored. */
static int reply_handle(struct actor_ctx *ctx, struct actor__cell *cell, struct actor__envelope *e)
{
	struct actor__ask *ask = actor__asks_find(&cell->loop->asks, e->ask);
	actor_reply_cb cb;
	void *data;

	if (!ask || ask->cell != cell)
		return 0;
	cb = ask->cb;
	data = ask->data;
	actor__asks_remove(&cell->loop->asks, &cell->loop->pool, &cell->asks, ask);
	if (!cb)
		return 0;
	return e->type ? cb(ctx, 0, &ctx->message, data) : cb(ctx, e->status, NULL, data);
}

INLINE int message_handle(
	struct actor_ctx *ctx, struct actor__cell *cell, struct actor__envelope *e)
{
	struct actor_type *type = actor__type(e->type);
	int rc;

	ctx->cell = cell;
	ctx->envelope = e;
	ctx->message.type = type;
	ctx->message.sender = e->sender;
	if (ACTOR__LIKELY(!(e->flags & ACTOR__HEAP))) {
		ctx->message.payload = e->inlined;
		ctx->message.bytes = e->bytes;
	} else {
		ctx->message.payload = e->heap.block;
		ctx->message.bytes = e->heap.bytes;
	}
	if (ACTOR__UNLIKELY(e->flags & ACTOR__REPLY))
		rc = reply_handle(ctx, cell, e);
	else
		rc = cell->cls->on_message(ctx, &ctx->message);
	if (ACTOR__UNLIKELY(ctx->failure))
		rc = ctx->failure;
	if (ACTOR__UNLIKELY(ctx->taken))
		ctx->taken = false;
	else if (e->flags & ACTOR__COPY || (type && type->destroy))
		actor__envelope_release(e);
	return rc;
}

static void failure_note(struct actor_ctx *ctx, struct actor__cell *cell, int code)
{
	if (!ctx->failure)
		ctx->text[0] = '\0';
	ctx->failure = 0;
	cell->failure = code;
	cell->signals |= ACTOR__SIGNAL_FAILURE;
}

INLINE enum actor_abi_outcome run(
	struct actor__cell *cell, struct actor__turn *turn, uint32_t most, const bool observed)
{
	struct actor__loop *loop = cell->loop;
	struct actor_ctx *ctx = &loop->ctx;
	enum actor_abi_outcome outcome = ACTOR_ABI_BUDGET;
	uint32_t handled = 0;

	for (;;) {
		struct actor__envelope *e;
		uint32_t depth;
		int rc;

		if (ACTOR__UNLIKELY(cell->signals)) {
			outcome = ACTOR_ABI_STOP;
			break;
		}
		depth = cell->mailbox.count;
		if (!depth) {
			outcome = ACTOR_ABI_EMPTY;
			break;
		}
		if (handled == most)
			break;
		e = actor__mailbox_pop(&cell->mailbox);
		if (ACTOR__UNLIKELY(e->flags & ACTOR__POISON)) {
			cell->signals |= ACTOR__SIGNAL_TERMINATE;
			actor__mailbox_done(&cell->mailbox, &loop->pool);
			continue;
		}
		handled++;
		rc = message_handle(ctx, cell, e);
		if (observed)
			actor__observe_message(loop, turn, e, depth, rc < 0);
		actor__mailbox_done(&cell->mailbox, &loop->pool);
		if (ACTOR__UNLIKELY(rc < 0))
			failure_note(ctx, cell, rc);
	}
	turn->messages += handled;
	/* One writer; stats and observers read it. */
	__atomic_store_n(&loop->abi->delivered, loop->abi->delivered + handled, __ATOMIC_RELAXED);
	return outcome;
}

enum actor_abi_outcome actor__turn_plain(
	struct actor__cell *cell, struct actor__turn *turn, uint32_t most)
{
	return run(cell, turn, most, false);
}

enum actor_abi_outcome actor__turn_observed(
	struct actor__cell *cell, struct actor__turn *turn, uint32_t most)
{
	return run(cell, turn, most, true);
}
