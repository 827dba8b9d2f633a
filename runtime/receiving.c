/* SPDX-License-Identifier: MIT */
/* The receive time-out as a handler asks for it, and as the loop tells it. */
#include "dispatcher.h"
#include "misuse.h"
#include "parts.h"
#include "registry.h"
#include "throttle.h"
#include "timeout.h"

#include <errno.h>

struct actor_type actor_timeout = ACTOR_TYPE("timeout");

/* It is due: the actor's next turn begins with it. */
static void message_ready(struct actor__cell *cell, struct actor__timeout *timeout)
{
	bool asked;

	timeout->due = true;
	timeout->envelope.to = cell->self;
	timeout->envelope.stamp = actor__probes_records() ? actor__ticks() : 0;
	cell->signals |= ACTOR__SIGNAL_LOOK; /* the mailbox may be empty */
	if (cell->state & ACTOR__PAUSED)
		actor__throttle_resume(cell->extra->throttle); /* it pauses again behind this one */
	asked = actor__cell_ask(cell);
	ACTOR__FIRE(enqueue, cell->self, 0, timeout->envelope.type, cell->mailbox.count + 1, asked,
		cell->cls->id);
	(void)asked;
}

static void on_due(struct actor__loop *loop, struct actor__deadline *deadline)
{
	struct actor__timeout *timeout = (struct actor__timeout *)deadline;
	struct actor__cell *cell = timeout->cell;
	uint64_t now = actor__now_ms(loop);
	uint64_t at = timeout->handled_ms + timeout->after_ms;

	if (actor__cell_life(cell) >= ACTOR__TERMINATING)
		return;
	if (cell->state & ACTOR__PENDING)
		timeout->handled_ms = now; /* its handler has not ended */
	if (now < at || cell->state & (ACTOR__PENDING | ACTOR__SUSPENDED)) {
		actor__deadline_arm(loop, deadline, now < at ? at : now + timeout->after_ms, on_due);
		return;
	}
	if (!timeout->due)
		message_ready(cell, timeout);
	actor__deadline_arm(loop, deadline, now + timeout->after_ms, on_due);
}

static int timeout_make(struct actor__cell *cell, struct actor__timeout **place)
{
	int id = actor__type_id(&actor_timeout);
	struct actor__timeout *timeout;

	if (id <= 0)
		return id;
	timeout = actor__heap_zero(sizeof(*timeout));
	if (!timeout)
		return -ENOMEM;
	timeout->cell = cell;
	timeout->envelope.type = (uint16_t)id;
	*place = timeout;
	return 0;
}

static int timeout_set(struct actor__cell *cell, uint64_t after_ms)
{
	struct actor__extra *extra = actor__extra_of(cell);
	int rc = 0;

	if (!extra)
		return -ENOMEM;
	if (!extra->timeout)
		rc = timeout_make(cell, &extra->timeout);
	if (rc)
		return rc;
	if (after_ms > ACTOR__TIME_MOST_MS)
		after_ms = ACTOR__TIME_MOST_MS;
	extra->timeout->after_ms = after_ms;
	actor__timeout_reset(extra->timeout);
	actor__deadline_arm(cell->loop, &extra->timeout->deadline,
		extra->timeout->handled_ms + after_ms, on_due);
	return 0;
}

static void timeout_off(struct actor__timeout *timeout)
{
	if (!timeout)
		return;
	timeout->after_ms = 0;
	timeout->due = false;
	actor__deadline_cancel(&timeout->deadline);
}

int actor_receive_timeout(struct actor_ctx *ctx, int64_t ms)
{
	int rc = actor__misuse_turn(ctx, "actor_receive_timeout");

	if (rc || ms < 0)
		return rc ? rc : -EINVAL;
	if (ms && actor__cell_life(ctx->cell) >= ACTOR__TERMINATING)
		return ACTOR_ECLOSED;
	if (ms)
		rc = timeout_set(ctx->cell, (uint64_t)ms);
	else if (ctx->cell->extra)
		timeout_off(ctx->cell->extra->timeout);
	actor__extra_careful(ctx->cell);
	return rc;
}
