/* SPDX-License-Identifier: MIT */
/* Ask: a tell whose answer finds its way back, from an actor or from a thread outside. */
#include "ask.h"

#include "alarm.h"
#include "deliver.h"
#include "fork.h"
#include "misuse.h"
#include "tell.h"

#include <errno.h>

/* The asker's time is over: it is told by its own mailbox, as a turn of the asker. */
void actor__ask_expired(struct actor__loop *loop, struct actor__deadline *deadline)
{
	struct actor__ask *ask = (struct actor__ask *)deadline;
	struct actor__envelope e = {0};

	e.to = ask->cell->self;
	e.ask = ask->number;
	e.flags = ACTOR__REPLY;
	e.status = -ETIMEDOUT;
	if (actor__probes_records())
		e.stamp = actor__ticks();
	if (actor__deliver(loop, &e)) /* no memory */
		actor__deadline_arm(loop, deadline, actor__now_ms(loop) + 1, actor__ask_expired);
}

int actor_ask(struct actor_ctx *ctx, actor_ref to, struct actor_type *type, const void *payload,
	size_t bytes, int64_t timeout_ms, actor_reply_cb cb, void *data)
{
	struct actor__loop *loop;
	struct actor__cell *cell;
	struct actor__ask *ask;
	int rc;

	ACTOR__ASSERT_TURN(ctx);
	loop = ctx->loop;
	cell = ctx->cell;
	ask = actor__asks_add(&loop->asks, &loop->pool, &cell->asks);
	if (!ask)
		return -ENOMEM;
	ask->cell = cell;
	ask->cb = cb;
	ask->data = data;
	rc = actor__tell(ctx, to, type, payload, bytes, ask->number);
	if (ACTOR__UNLIKELY(rc))
		actor__asks_remove(&loop->asks, &loop->pool, &cell->asks, ask);
	else if (timeout_ms >= 0)
		actor__deadline_arm(loop, &ask->deadline,
			actor__now_ms(loop) +
				(uint64_t)(timeout_ms ? timeout_ms : ACTOR_ASK_TIMEOUT_MS),
			actor__ask_expired);
	return rc;
}

uint64_t actor_ask_id(const struct actor_ctx *ctx)
{
	const struct actor__asks *asks;
	const struct actor__ask *ask;

	if (actor__misuse_turn(ctx, "actor_ask_id"))
		return 0;
	asks = &ctx->loop->asks;
	ask = actor__asks_find(asks, asks->last_number);
	return ask && ask->cell == ctx->cell ? ask->number : 0;
}

int actor_ask_cancel(struct actor_ctx *ctx, uint64_t id)
{
	int rc = actor__misuse_turn(ctx, "actor_ask_cancel");
	struct actor__ask *ask;

	if (rc)
		return rc;
	ask = id <= UINT32_MAX ? actor__asks_find(&ctx->loop->asks, (uint32_t)id) : NULL;
	if (!ask || ask->cell != ctx->cell)
		return -ESTALE;
	actor__asks_remove(&ctx->loop->asks, &ctx->loop->pool, &ctx->cell->asks, ask);
	return 0;
}

int actor_system_ask(struct actor_system *system, actor_ref to, struct actor_type *type,
	const void *payload, size_t bytes, int64_t timeout_ms, void *reply, size_t *reply_bytes)
{
	struct actor__waiter waiter = {.reply = reply, .room = reply_bytes ? *reply_bytes : 0};
	struct actor__envelope e;
	int rc;

	if (actor__forked(system))
		return actor__refusal(system);
	if (actor__ask_deadlocks(system))
		return -EDEADLK;
	rc = actor__envelope_fill(&e, to, 0, type, payload, bytes);
	if (rc)
		return rc;
	rc = actor__waiter_begin(&system->waiters, &waiter);
	if (rc) {
		actor__envelope_unfill(&e);
		return rc;
	}
	e.ask = waiter.number;
	e.flags |= ACTOR__WAITER;
	rc = actor__send(system, &e);
	if (rc) {
		actor__waiter_end(&system->waiters, &waiter, 0);
		return rc;
	}
	rc = actor__waiter_end(
		&system->waiters, &waiter, timeout_ms ? timeout_ms : ACTOR_ASK_TIMEOUT_MS);
	if (!rc && reply_bytes)
		*reply_bytes = waiter.bytes;
	return rc;
}
