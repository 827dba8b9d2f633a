/* SPDX-License-Identifier: MIT */
/* The rarer parts of a turn: answers, owned payloads, failures. */
#include "turn.h"

#include "extra.h"
#include "logging.h"
#include "pending.h"
#include "queue.h"
#include "timers.h"
#include "watches.h"

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

int actor__turn_aftermath(struct actor_ctx *ctx, struct actor__cell *cell, int rc)
{
	if (ctx->aftermath & ACTOR__FAILED)
		rc = ctx->failure;
	else
		ctx->text[0] = '\0';
	if (rc < 0 && ctx->aftermath & ACTOR__PENDED) {
		if (!actor__pending_revoke(cell, rc)) {
			actor__logging_end(ctx, false);
			return 0;
		}
		ctx->aftermath &= ~ACTOR__PENDED;
	}
	if (rc < 0) {
		cell->failure = rc;
		cell->signals |= ACTOR__SIGNAL_FAILURE;
	}
	actor__logging_end(ctx, rc < 0);
	return rc;
}

void actor__turn_aside(struct actor_ctx *ctx, struct actor__cell *cell, struct actor__envelope *e,
	const struct actor__turn *turn, uint32_t depth)
{
	bool pended = ctx->aftermath & ACTOR__PENDED;
	bool taken = ctx->aftermath & ACTOR__TAKEN;

	ctx->aftermath = 0;
	if (pended) {
		actor__pending_hold(cell, e, depth, turn ? ctx->loop->observer.now : 0, taken);
		return;
	}
	ctx->loop->aside++;
	cell->signals |= ACTOR__SIGNAL_LOOK; /* whoever runs the turn counts it against the budget */
	actor__queue_done(cell, e);
}

static void poison_take(
	struct actor_ctx *ctx, struct actor__cell *cell, const struct actor__envelope *e)
{
	if (e->bytes != ACTOR__POISON_KILL) {
		cell->signals |= ACTOR__SIGNAL_TERMINATE;
		return;
	}
	ctx->text[0] = '\0';
	actor__logging_end(ctx, true);
	cell->failure = ACTOR_EKILLED;
	cell->signals |= ACTOR__SIGNAL_FAILURE;
}

bool actor__turn_special(struct actor_ctx *ctx, struct actor__cell *cell, struct actor__envelope *e,
	const struct actor__turn *turn, uint32_t depth)
{
	struct actor__loop *loop = ctx->loop;
	uint32_t timer = actor__envelope_timed(e) ? e->ask : 0;
	int rc;

	if ((timer && !actor__timers_accept(cell, e, &ctx->missed)) ||
		(e->flags & ACTOR__ENDED && !actor__watches_accept(cell, e))) {
		actor__envelope_release(e);
		actor__queue_done(cell, e);
		return false;
	}
	if (e->flags & ACTOR__POISON) {
		poison_take(ctx, cell, e);
		actor__queue_done(cell, e);
		return false;
	}
	actor__envelope_open(e, &ctx->message);
	actor__logging_begin(ctx, e);
	rc = e->flags & ACTOR__REPLY ? reply_handle(ctx, cell, e)
				     : cell->receive(ctx, &ctx->message);
	ctx->missed = 0;
	if (ctx->aftermath || rc < 0)
		rc = actor__turn_aftermath(ctx, cell, rc);
	actor__logging_end(ctx, false);
	if (ctx->aftermath & ACTOR__PENDED)
		cell->extra->pending->timer = timer;
	else if (timer)
		actor__timers_handled(cell, timer);
	if (ctx->aftermath & (ACTOR__STASHED | ACTOR__PENDED)) {
		actor__turn_aside(ctx, cell, e, turn, depth);
		return false;
	}
	if (turn)
		actor__observe_message(loop, turn, e, depth, rc < 0);
	if (ctx->aftermath & ACTOR__TAKEN)
		actor__envelope_leave(e);
	else
		actor__envelope_release(e);
	ctx->aftermath = 0;
	actor__queue_done(cell, e);
	return true;
}
