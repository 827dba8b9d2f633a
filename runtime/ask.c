/* SPDX-License-Identifier: MIT */
/* Ask: a tell whose answer finds its way back, from an actor or from a thread outside. */
#include "ask.h"

#include "deliver.h"
#include "fork.h"
#include "tell.h"

#include <errno.h>
#include <stdlib.h>

int actor_ask(struct actor_ctx *ctx, actor_ref to, struct actor_type *type, const void *payload,
	size_t bytes, int64_t timeout_ms, actor_reply_cb cb, void *data)
{
	struct actor__loop *loop = ctx->loop;
	struct actor__cell *cell = ctx->cell;
	uint64_t deadline = 0;
	struct actor__ask *ask;
	int rc;

	if (timeout_ms >= 0)
		deadline = uv_now(loop->uv) + (uint64_t)(timeout_ms ? timeout_ms : ACTOR_ASK_TIMEOUT_MS);
	ask = actor__asks_add(&loop->asks, &loop->pool, &cell->asks, deadline);
	if (!ask)
		return -ENOMEM;
	ask->cell = cell;
	ask->cb = cb;
	ask->data = data;
	rc = actor__tell(ctx, to, type, payload, bytes, ask->number);
	if (ACTOR__UNLIKELY(rc))
		actor__asks_remove(&loop->asks, &loop->pool, &cell->asks, ask);
	else if (ask->heap_index == 0 && deadline - 1 < loop->handles->timer_at_ms - 1)
		actor__handles_timer(loop, deadline); /* the timer is due later, or (0 - 1) not at all */
	return rc;
}

/* Tells the asker that its time is over, by its own mailbox: a turn of the asker. */
static int expire(struct actor__loop *loop, const struct actor__ask *ask)
{
	struct actor__envelope e = {0};

	e.to = ask->cell->self;
	e.ask = ask->number;
	e.flags = ACTOR__REPLY;
	e.status = -ETIMEDOUT;
	if (actor__probes_records())
		e.stamp = actor__ticks();
	return actor__deliver(loop, &e);
}

void actor__asks_expire(struct actor__loop *loop)
{
	uint64_t now = uv_now(loop->uv);
	uint64_t next;
	struct actor__ask *ask;

	while ((ask = actor__asks_due(&loop->asks, now)))
		if (expire(loop, ask))
			actor__asks_defer(&loop->asks, ask, now + 1); /* no memory */
	next = actor__asks_next_ms(&loop->asks);
	if (next != UINT64_MAX)
		actor__handles_timer(loop, next);
}

int actor_system_ask(struct actor_system *system, actor_ref to, struct actor_type *type,
	const void *payload, size_t bytes, int64_t timeout_ms, void *reply, size_t *reply_bytes)
{
	struct actor__waiter waiter = {.reply = reply, .room = reply_bytes ? *reply_bytes : 0};
	struct actor__envelope e;
	int rc;

	if (actor__forked(system))
		return -ECHILD;
	for (uint32_t i = 0; i < system->loop_count; i++)
		if (actor__loop_here(system->loops[i]))
			return -EDEADLK;
	rc = actor__envelope_fill(&e, to, 0, type, payload, bytes);
	if (rc)
		return rc;
	if (!actor__waiter_begin(&system->waiters, &waiter)) {
		if (e.flags & ACTOR__COPY)
			free(e.heap.block);
		return -ECANCELED;
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
