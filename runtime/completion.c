/* SPDX-License-Identifier: MIT */
/* A pending handler's end: its callback, its record, its message. */
#include "completion.h"

#include "extra.h"
#include "logging.h"
#include "pending.h"
#include "queue.h"
#include "timeout.h"
#include "timers.h"

/* What the handler comes to. The callback may answer, tell, take, fail, or go on pending. */
static int outcome_of(struct actor_ctx *ctx, struct actor__pending *p)
{
	actor_complete_cb cb = p->cb;
	void *data = p->data;
	int status = p->status;
	int rc;

	ctx->cell = p->cell;
	ctx->envelope = p->envelope;
	ctx->aftermath = 0;
	ctx->text[0] = '\0';
	p->cb = NULL;
	p->data = NULL;
	p->status = 0;
	if (p->abandoned)
		return 0;
	actor__envelope_open(p->envelope, &ctx->message);
	actor__logging_begin(ctx, p->envelope);
	rc = cb ? cb(ctx, status, &ctx->message, data) : status;
	if (p->closing && !(ctx->aftermath & ACTOR__PENDED)) {
		ctx->aftermath &= ~ACTOR__FAILED;
		return 0;
	}
	return p->failure && !(ctx->aftermath & ACTOR__PENDED) ? p->failure : rc;
}

static void record(struct actor__loop *loop, const struct actor__turn *turn,
	const struct actor__pending *p, bool failed)
{
	struct actor__observer *o = &loop->observer;
	struct actor__envelope e = *p->envelope;
	uint64_t end = actor__ticks();

	if (!p->began_ticks)
		e.stamp = 0; /* when the handler began is unknown: only counted */
	o->now = p->began_ticks ? p->began_ticks : end;
	actor__observe_unusual(loop, turn, &e, p->depth, failed, end);
	o->ledger->records[o->used - 1].meta |= ACTOR_ABI_PENDED << 8;
}

/* The message is handled, whatever came of it. */
static void message_end(struct actor__cell *cell, struct actor__pending *p)
{
	struct actor__loop *loop = cell->loop;

	if (p->timer)
		actor__timers_handled(cell, p->timer);
	if (actor__timeout_on(cell->extra->timeout) && !(cell->signals & ACTOR__SIGNAL_FAILURE))
		actor__timeout_reset(cell->extra->timeout);
	if (p->taken)
		actor__envelope_leave(p->envelope);
	else
		actor__envelope_release(p->envelope);
	cell->mailbox.count--;
	actor__queue_done(cell, p->envelope);
	actor__pending_free(cell);
	/* One writer; stats and observers read it. */
	__atomic_store_n(&loop->abi->delivered, loop->abi->delivered + 1, __ATOMIC_RELAXED);
}

bool actor__completion_run(struct actor__cell *cell, struct actor__turn *turn)
{
	struct actor_ctx *ctx = &cell->loop->ctx;
	struct actor__pending *p = cell->extra->pending;
	int rc;

	cell->signals &= (uint8_t)~ACTOR__SIGNAL_COMPLETED;
	rc = outcome_of(ctx, p);
	if (ctx->aftermath & ACTOR__TAKEN)
		p->taken = true;
	rc = actor__turn_aftermath(ctx, cell, rc);
	if (ctx->aftermath & ACTOR__PENDED) {
		ctx->aftermath = 0;
		actor__pending_go_on(cell);
		return false;
	}
	ctx->aftermath = 0;
	if (turn) {
		record(cell->loop, turn, p, rc < 0 || p->abandoned || p->closing);
		turn->messages++;
	}
	message_end(cell, p);
	return true;
}
