/* SPDX-License-Identifier: MIT */
/* Keyed timers: started and cancelled by a handler, told by the loop. */
#include "deliver.h"
#include "misuse.h"
#include "tell.h"
#include "timers.h"

#include <errno.h>
#include <stdlib.h>

static void on_due(struct actor__loop *loop, struct actor__deadline *deadline);

/* Into the actor's own mailbox. -ENOMEM: the message is still the caller's. */
static int message_tell(struct actor__timer *timer, struct actor__envelope *e)
{
	struct actor__loop *loop = timer->cell->loop;

	e->ask = timer->number;
	e->flags |= ACTOR__TIMER;
	e->stamp = actor__probes_records() ? actor__ticks() : 0;
	timer->queued = 1;
	/* From here on the timer may be gone: a mailbox that drops the message ends a timer for once. */
	return actor__deliver(loop, e);
}

static void tell_once(struct actor__loop *loop, struct actor__timer *timer)
{
	struct actor__envelope e = timer->envelope;

	timer->envelope.type = 0;
	if (message_tell(timer, &e) != -ENOMEM)
		return;
	e.flags &= (uint8_t)~ACTOR__TIMER;
	timer->envelope = e;
	timer->queued = 0;
	actor__deadline_arm(loop, &timer->deadline, actor__now_ms(loop) + 1, on_due);
}

/* A copy of the message. False: there is no memory for it. */
static bool tell_copy(struct actor__timer *timer)
{
	struct actor__envelope e = timer->envelope;

	if (actor__envelope_clone(&e))
		return false;
	if (message_tell(timer, &e) != -ENOMEM)
		return true;
	timer->queued = 0;
	actor__envelope_release(&e);
	return false;
}

/* The next time is a whole number of intervals after the first one; those that have passed while
 * the loop was busy are missed. */
static void rate_again(struct actor__loop *loop, struct actor__timer *timer)
{
	uint64_t at = timer->deadline.at_ms;
	uint64_t passed = (actor__now_ms(loop) - at) / timer->interval_ms;

	timer->missed += passed;
	actor__deadline_arm(loop, &timer->deadline, at + (passed + 1) * timer->interval_ms,
		on_due);
}

static void tell_again(struct actor__loop *loop, struct actor__timer *timer)
{
	if (timer->kind == ACTOR__TIMER_RATE)
		rate_again(loop, timer);
	if (timer->queued) {
		timer->missed++;
	} else if (!tell_copy(timer)) {
		timer->missed++;
		if (timer->kind == ACTOR__TIMER_DELAY)
			actor__deadline_arm(loop, &timer->deadline, actor__now_ms(loop) + 1,
				on_due);
	}
}

static void on_due(struct actor__loop *loop, struct actor__deadline *deadline)
{
	struct actor__timer *timer = (struct actor__timer *)deadline;

	if (actor__cell_life(timer->cell) >= ACTOR__TERMINATING)
		return; /* its end clears the timer */
	if (timer->kind == ACTOR__TIMER_ONCE)
		tell_once(loop, timer);
	else
		tell_again(loop, timer);
}

/* What a handler asks for. */
struct start {
	const char *function;
	uint64_t key;
	enum actor__timer_kind kind;
	int64_t first_ms;
	int64_t interval_ms;
};

static int start_check(
	const struct actor_ctx *ctx, const struct start *start, const struct actor_type *type)
{
	int rc = actor__misuse_turn(ctx, start->function);

	if (rc)
		return rc;
	if (start->first_ms < 0 || (start->kind != ACTOR__TIMER_ONCE && start->interval_ms < 1))
		return -EINVAL;
	if (actor__cell_life(ctx->cell) >= ACTOR__TERMINATING)
		return ACTOR_ECLOSED;
	/* More than one message, each of which is destroyed. */
	if (start->kind != ACTOR__TIMER_ONCE && type && type->destroy && !type->copy)
		return ACTOR_ETYPE;
	return 0;
}

static int start_timer(struct actor_ctx *ctx, const struct start *start, struct actor_type *type,
	const void *payload, size_t bytes)
{
	struct actor__timer *timer = NULL;
	struct actor__envelope e;
	int rc = start_check(ctx, start, type);

	if (!rc)
		rc = actor__envelope_fill(&e, ctx->cell->self, 0, type, payload, bytes);
	if (rc)
		return rc;
	timer = actor__timers_take(ctx->cell, start->key);
	if (!timer) {
		if (e.flags & ACTOR__COPY)
			free(e.heap.block);
		return -ENOMEM;
	}
	timer->envelope = e;
	timer->kind = (uint8_t)start->kind;
	timer->interval_ms = (uint64_t)start->interval_ms;
	if (timer->interval_ms > ACTOR__TIME_MOST_MS)
		timer->interval_ms = ACTOR__TIME_MOST_MS;
	actor__deadline_arm(ctx->loop, &timer->deadline,
		actor__time_in(ctx->loop, (uint64_t)start->first_ms), on_due);
	return 0;
}

int actor_timer_single(struct actor_ctx *ctx, uint64_t key, int64_t delay_ms,
	struct actor_type *type, const void *payload, size_t bytes)
{
	const struct start start = {__func__, key, ACTOR__TIMER_ONCE, delay_ms, 0};

	return start_timer(ctx, &start, type, payload, bytes);
}

int actor_timer_fixed_rate(struct actor_ctx *ctx, uint64_t key, int64_t first_ms,
	int64_t interval_ms, struct actor_type *type, const void *payload, size_t bytes)
{
	const struct start start = {__func__, key, ACTOR__TIMER_RATE, first_ms, interval_ms};

	return start_timer(ctx, &start, type, payload, bytes);
}

int actor_timer_fixed_delay(struct actor_ctx *ctx, uint64_t key, int64_t first_ms,
	int64_t delay_ms, struct actor_type *type, const void *payload, size_t bytes)
{
	const struct start start = {__func__, key, ACTOR__TIMER_DELAY, first_ms, delay_ms};

	return start_timer(ctx, &start, type, payload, bytes);
}

int actor_timer_cancel(struct actor_ctx *ctx, uint64_t key)
{
	int rc = actor__misuse_turn(ctx, __func__);
	struct actor__timer *timer = rc ? NULL : actor__timers_find(ctx->cell, key);

	if (!timer)
		return rc;
	actor__timers_remove(timer);
	return 1;
}

int actor_timer_active(const struct actor_ctx *ctx, uint64_t key)
{
	int rc = actor__misuse_turn(ctx, __func__);

	return rc ? rc : actor__timers_find(ctx->cell, key) != NULL;
}

uint64_t actor_timer_missed(const struct actor_ctx *ctx)
{
	return actor__misuse_turn(ctx, __func__) ? 0 : ctx->missed;
}
