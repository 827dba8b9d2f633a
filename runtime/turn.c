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

/* After a handler that failed or took its payload; returns its result. */
static int aftermath(struct actor_ctx *ctx, struct actor__cell *cell, int rc)
{
	if (ctx->aftermath & ACTOR__FAILED)
		rc = ctx->failure;
	else
		ctx->text[0] = '\0';
	if (rc < 0) {
		cell->failure = rc;
		cell->signals |= ACTOR__SIGNAL_FAILURE;
	}
	return rc;
}

/* A message that is more than a payload inside its envelope. False: it was no message. */
static bool special(struct actor_ctx *ctx, struct actor__cell *cell, struct actor__envelope *e,
	const struct actor__turn *turn, uint32_t depth)
{
	struct actor__loop *loop = ctx->loop;
	int rc;

	if (e->flags & ACTOR__POISON) {
		cell->signals |= ACTOR__SIGNAL_TERMINATE;
		actor__mailbox_done(&cell->mailbox, &loop->pool);
		return false;
	}
	actor__envelope_open(e, &ctx->message);
	rc = e->flags & ACTOR__REPLY ? reply_handle(ctx, cell, e)
				     : cell->cls->on_message(ctx, &ctx->message);
	if (ctx->aftermath || rc < 0)
		rc = aftermath(ctx, cell, rc);
	if (turn)
		actor__observe_message(loop, turn, e, depth, rc < 0);
	if (!(ctx->aftermath & ACTOR__TAKEN))
		actor__envelope_release(e);
	ctx->aftermath = 0;
	actor__mailbox_done(&cell->mailbox, &loop->pool);
	return true;
}

/* One plain message from the front of the mailbox. */
INLINE void plain(struct actor_ctx *ctx, struct actor__cell *cell, struct actor__envelope *e,
	const struct actor__turn *turn, uint32_t depth, const bool observed)
{
	struct actor_type *type = actor__type(e->type);
	int rc;

	ctx->message.type = type;
	ctx->message.payload = e->inlined;
	ctx->message.bytes = e->bytes;
	ctx->message.sender = e->sender;
	rc = cell->cls->on_message(ctx, &ctx->message);
	if (ACTOR__UNLIKELY((ctx->aftermath | rc) < 0)) {
		rc = aftermath(ctx, cell, rc);
		if (ctx->aftermath & ACTOR__TAKEN)
			type = NULL;
		ctx->aftermath = 0;
	}
	if (observed)
		actor__observe_message(ctx->loop, turn, e, depth, rc < 0);
	if (ACTOR__UNLIKELY(type && type->destroy))
		type->destroy(e->inlined, e->bytes);
	actor__mailbox_done(&cell->mailbox, &ctx->loop->pool);
}

INLINE enum actor_abi_outcome run(struct actor__cell *cell, const struct actor__turn *turn,
	uint32_t *left, const bool observed)
{
	struct actor__loop *loop = cell->loop;
	struct actor_ctx *ctx = &loop->ctx;
	enum actor_abi_outcome outcome = ACTOR_ABI_STOP;
	const uint32_t most = *left;
	uint32_t handled = 0;

	ctx->cell = cell;
	while (ACTOR__LIKELY(!cell->signals)) {
		uint32_t depth = cell->mailbox.count;
		struct actor__envelope *e;

		if (!depth || handled == most) {
			outcome = depth ? ACTOR_ABI_BUDGET : ACTOR_ABI_EMPTY;
			break;
		}
		e = actor__mailbox_pop(&cell->mailbox);
		ctx->envelope = e;
		if (ACTOR__LIKELY(!e->flags))
			plain(ctx, cell, e, turn, depth, observed);
		else if (!special(ctx, cell, e, turn, depth))
			continue;
		handled++;
	}
	*left = most - handled;
	/* One writer; stats and observers read it. */
	__atomic_store_n(&loop->abi->delivered, loop->abi->delivered + handled, __ATOMIC_RELAXED);
	return outcome;
}

enum actor_abi_outcome actor__turn_plain(struct actor__cell *cell, uint32_t *left)
{
	return run(cell, NULL, left, false);
}

enum actor_abi_outcome actor__turn_observed(
	struct actor__cell *cell, const struct actor__turn *turn, uint32_t *left)
{
	return run(cell, turn, left, true);
}
