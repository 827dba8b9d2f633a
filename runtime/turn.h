/* SPDX-License-Identifier: MIT */
/* Handles messages of one cell, one after the other; the caller applies the outcome.
 *
 * The innermost loop of the runtime: pop, handle, release. It is compiled twice into its caller,
 * with and without records. */
#ifndef ACTOR_TURN_H
#define ACTOR_TURN_H

#include "deliver.h"
#include "observe.h"
#include "registry.h"

#define ACTOR__INLINE static inline __attribute__((always_inline))

/* After a handler that failed, or did something about its message: notes a failure, returns the
 * true result. */
int actor__turn_aftermath(struct actor_ctx *ctx, struct actor__cell *cell, int rc);

/* Handles what is more than a payload inside its envelope. False: it was no message, or it is not
 * handled yet. `turn` NULL: not observed. */
bool actor__turn_special(struct actor_ctx *ctx, struct actor__cell *cell, struct actor__envelope *e,
	const struct actor__turn *turn, uint32_t depth);

/* Ends the turn's work on a message that is not handled yet: its handler has stashed it, or is
 * pending. `turn` NULL: not observed. */
void actor__turn_aside(struct actor_ctx *ctx, struct actor__cell *cell, struct actor__envelope *e,
	const struct actor__turn *turn, uint32_t depth);

/* One plain message from the front of the mailbox. False: it is not handled yet. */
ACTOR__INLINE bool actor__turn_message(struct actor__loop *loop, struct actor__cell *cell,
	struct actor__envelope *e, const struct actor__turn *turn, uint32_t depth,
	const bool observed)
{
	struct actor_ctx *ctx = &loop->ctx;
	int rc;

	ctx->message.type = actor__type(e->type);
	ctx->message.payload = e->inlined;
	ctx->message.bytes = e->bytes;
	ctx->message.sender = e->sender;
	rc = cell->receive(ctx, &ctx->message);
	if (ACTOR__UNLIKELY((ctx->aftermath | rc) < 0)) {
		rc = actor__turn_aftermath(ctx, cell, rc);
		if (ctx->aftermath & (ACTOR__STASHED | ACTOR__PENDED)) {
			actor__turn_aside(ctx, cell, e, turn, depth);
			return false;
		}
		ctx->aftermath = 0;
	}
	if (observed)
		actor__observe_message(loop, turn, e, depth, rc < 0);
	actor__mailbox_done_with(&cell->mailbox, e, &loop->pool);
	return true;
}

/* Handles messages while `*left` allows it, and counts it down. EMPTY: the mailbox is empty,
 * BUDGET: nothing is left, STOP: a signal is set, look at it before going on. With `observed` it
 * also makes a record of each message; the caller sees to it that there is room. */
ACTOR__INLINE enum actor_abi_outcome actor__turn_run(struct actor__cell *cell,
	const struct actor__turn *turn, uint32_t *left, const bool observed)
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
		if (ACTOR__LIKELY(!(e->flags & (uint8_t)~ACTOR__FOREIGN)))
			handled += actor__turn_message(loop, cell, e, turn, depth, observed);
		else
			handled += actor__turn_special(ctx, cell, e, turn, depth);
	}
	*left = most - handled;
	/* One writer; stats and observers read it. */
	__atomic_store_n(&loop->abi->delivered, loop->abi->delivered + handled, __ATOMIC_RELAXED);
	return outcome;
}

#endif
