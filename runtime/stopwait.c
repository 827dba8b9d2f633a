/* SPDX-License-Identifier: MIT */
/* Stops that somebody waits for, and that become harder when their time is over: asks whose answer
 * is the end of the asked actor, see farewell.h. */
#include "alarm.h"
#include "ask.h"
#include "farewell.h"
#include "fork.h"
#include "misuse.h"
#include "stop.h"
#include "tell.h"

#include <errno.h>

static struct actor__vigil *vigil_new(enum actor__vigil_kind kind)
{
	struct actor__vigil *vigil = actor__heap_zero(sizeof(*vigil));

	if (vigil)
		vigil->kind = kind;
	return vigil;
}

/* ---- by an actor ---- */

/* First the actor is terminated, then the asker hears of it. */
static void on_overdue(struct actor__loop *loop, struct actor__deadline *deadline)
{
	struct actor__ask *ask = (struct actor__ask *)deadline;
	struct actor__envelope e;

	actor__poison_fill(&e, ask->stops, ask->cell->self, ACTOR__POISON_TERMINATE);
	if (actor__send_kept(loop, &e)) /* no memory */
		actor__deadline_arm(loop, deadline, actor__now_ms(loop) + 1, on_overdue);
	else
		actor__ask_expired(loop, deadline);
}

static int stop_check(const struct actor_ctx *ctx, actor_ref ref)
{
	int rc = actor__misuse_turn(ctx, "actor_stop_within");

	if (rc)
		return rc;
	if (!ref || ref == ctx->cell->self)
		return actor__misuse(ctx->loop->system, -EINVAL, "actor_stop_within",
			"an actor cannot wait for its own end, or nobody's");
	return actor__cell_life(ctx->cell) >= ACTOR__TERMINATING ? ACTOR_ECLOSED : 0;
}

int actor_stop_within(struct actor_ctx *ctx, actor_ref ref, int64_t timeout_ms, actor_reply_cb cb,
	void *data)
{
	int rc = stop_check(ctx, ref);
	struct actor__loop *loop;
	struct actor__vigil *vigil;
	struct actor__envelope e;
	struct actor__ask *ask;

	if (rc)
		return rc;
	loop = ctx->loop;
	vigil = vigil_new(ACTOR__VIGIL_ASK);
	ask = vigil ? actor__asks_add(&loop->asks, &loop->pool, &ctx->cell->asks) : NULL;
	actor__poison_fill(&e, ref, ctx->cell->self, ACTOR__POISON_STOP);
	rc = ask ? actor__send_here(loop, &e) : -ENOMEM;
	if (rc) {
		actor__heap_free(vigil);
		if (ask)
			actor__asks_remove(&loop->asks, &loop->pool, &ctx->cell->asks, ask);
		return rc;
	}
	ask->cell = ctx->cell;
	ask->cb = cb;
	ask->data = data;
	ask->stops = ref;
	if (timeout_ms >= 0)
		actor__deadline_arm(loop, &ask->deadline,
			actor__time_in(loop,
				timeout_ms ? (uint64_t)timeout_ms : ACTOR_STOP_TIMEOUT_MS),
			on_overdue);
	actor__vigil_init(vigil, ctx->cell->self, ref, ask->number, 1);
	actor__farewell_begin(loop, vigil);
	return 0;
}

/* ---- by a thread outside ---- */

/* Where the actor lives, or could have lived. */
static struct actor__loop *loop_for(struct actor_system *system, actor_ref ref)
{
	struct actor__loop *loop = actor__loop_of(system, ref);

	return loop ? loop : system->loops[0];
}

/* While the lock is held and nobody closes, no loop ends. */
static bool system_lock(struct actor_system *system)
{
	pthread_mutex_lock(&system->lock);
	if (atomic_load_explicit(&system->phase, memory_order_relaxed) <= ACTOR__HALTED)
		return true;
	pthread_mutex_unlock(&system->lock);
	return false;
}

static int wait_begin(
	struct actor_system *system, struct actor__waiter *waiter, struct actor__vigil *vigil, actor_ref ref)
{
	struct actor__envelope e;
	int rc = actor__waiter_begin(&system->waiters, waiter);

	if (rc)
		return rc;
	actor__poison_fill(&e, ref, 0, ACTOR__POISON_STOP);
	rc = actor__send(system, &e);
	if (rc) {
		actor__waiter_leave(&system->waiters, waiter);
		return rc;
	}
	actor__vigil_init(vigil, 0, ref, waiter->number, 2);
	actor__farewell_begin_outside(loop_for(system, ref), vigil);
	return 0;
}

/* The time is over. If the system closes all its actors are stopped anyhow. */
static void overdue(struct actor_system *system, struct actor__vigil *vigil)
{
	if (!system_lock(system)) {
		actor__vigil_drop(vigil);
		return;
	}
	actor__farewell_hurry(loop_for(system, vigil->subject), vigil);
	pthread_mutex_unlock(&system->lock);
}

int actor_system_stop_wait(struct actor_system *system, actor_ref ref, int64_t timeout_ms)
{
	struct actor__waiter waiter = {0};
	struct actor__vigil *vigil;
	int rc = ACTOR_ECLOSED;

	if (!system || !ref)
		return -EINVAL;
	if (actor__forked(system))
		return actor__refusal(system);
	if (actor__ask_deadlocks(system))
		return -EDEADLK;
	vigil = vigil_new(ACTOR__VIGIL_WAITER);
	if (!vigil)
		return -ENOMEM;
	if (system_lock(system)) {
		rc = wait_begin(system, &waiter, vigil, ref);
		pthread_mutex_unlock(&system->lock);
	}
	if (rc) {
		actor__heap_free(vigil);
		return rc;
	}
	rc = actor__waiter_wait(
		&system->waiters, &waiter, timeout_ms ? timeout_ms : ACTOR_STOP_TIMEOUT_MS);
	if (rc == -ETIMEDOUT)
		overdue(system, vigil);
	else
		actor__vigil_drop(vigil);
	actor__waiter_leave(&system->waiters, &waiter); /* the system may go with that */
	return rc;
}
