/* SPDX-License-Identifier: MIT */
/* Asking from outside without waiting. */
#include "query.h"

#include "alarm.h"
#include "dispatcher.h"
#include "farewell.h"
#include "fork.h"
#include "misuse.h"
#include "notice.h"
#include "slots.h"
#include "stop.h"
#include "tell.h"

#include <errno.h>

static struct actor__query *query_of(struct actor__waiter *waiter)
{
	return (struct actor__query *)((char *)waiter - offsetof(struct actor__query, waiter));
}

static void drop(struct actor__query *query)
{
	if (atomic_fetch_sub(&query->holds, 1) == 1)
		actor__heap_free(query);
}

/* It is out of the table. The loop's thread. */
static void settle(struct actor__query *query, int status, const struct actor_message *reply)
{
	query->cb(query->data, status, reply);
	if (actor__deadline_armed(&query->deadline)) {
		actor__deadline_cancel(&query->deadline);
		drop(query);
	}
	drop(query);
}

static void on_answered(struct actor__waiter *waiter, const struct actor_message *reply)
{
	settle(query_of(waiter), 0, reply);
}

static void on_expired(struct actor__loop *loop, struct actor__deadline *deadline)
{
	struct actor__query *query = (struct actor__query *)((char *)deadline -
		offsetof(struct actor__query, deadline));

	struct actor__cell *cell = query->stops ? actor__slot_find(loop, query->stops) : NULL;

	if (actor__waiter_take(&loop->system->waiters, &query->waiter)) {
		if (cell)
			actor__cell_signal(cell, ACTOR__SIGNAL_TERMINATE);
		settle(query, -ETIMEDOUT, NULL);
	}
	drop(query);
}

static void arm(struct actor__query *query)
{
	actor__deadline_arm(query->loop, &query->deadline,
		actor__time_in(query->loop, query->timeout_ms), on_expired);
}

void actor__query_arm(struct actor__loop *loop, struct actor__notice *notice)
{
	struct actor__query *query = (struct actor__query *)((char *)notice -
		offsetof(struct actor__query, notice));

	/* Only this loop's thread settles it. */
	if (actor__waiter_waits(&loop->system->waiters, &query->waiter))
		arm(query);
	else
		drop(query);
}

void actor__queries_end(struct actor__loop *loop)
{
	struct actor__waiter *waiter = actor__waiters_take_all(&loop->system->waiters, loop);

	while (waiter) {
		struct actor__waiter *next = waiter->next;

		settle(query_of(waiter), -ECANCELED, NULL);
		waiter = next;
	}
}

static struct actor__query *query_new(struct actor_system *system, actor_ref to,
	int64_t timeout_ms, actor_answer_cb cb, void *data)
{
	struct actor__loop *loop = actor__loop_of(system, to);
	struct actor__query *query = actor__heap_zero(sizeof(*query));

	if (!query)
		return NULL;
	if (!loop)
		loop = system->loops[0];
	query->waiter.answered = on_answered;
	query->waiter.loop = loop;
	query->loop = loop;
	query->timeout_ms = timeout_ms ? (uint64_t)timeout_ms : ACTOR_ASK_TIMEOUT_MS;
	query->timed = timeout_ms >= 0;
	query->cb = cb;
	query->data = data;
	atomic_init(&query->holds, timeout_ms < 0 ? 1 : 2);
	return query;
}

/* The answer will be the end of the asked actor. */
static void end_await(
	const struct actor__query *query, struct actor__vigil *vigil, struct actor__envelope *e)
{
	if (!vigil) {
		e->ask = query->waiter.number;
		e->flags |= ACTOR__WAITER;
		return;
	}
	vigil->kind = ACTOR__VIGIL_WAITER;
	actor__vigil_init(vigil, 0, query->stops, query->waiter.number, 1);
}

/* Sends the question, or with a vigil the stop. Once it is sent, the query may be answered and freed
 * by its loop's thread; the deadline's hold keeps it until the notice is sent, and no longer. */
static int ask(struct actor_system *system, struct actor__query *query, struct actor__envelope *e,
	struct actor__vigil *vigil)
{
	struct actor__loop *loop = query->loop;
	bool here = actor__loop_here(loop) && !loop->closed;
	bool timed = query->timed;
	int rc = actor__waiter_begin(&system->waiters, &query->waiter);

	if (rc) {
		actor__envelope_unfill(e);
		return rc == -ECANCELED ? ACTOR_ECLOSED : rc;
	}
	end_await(query, vigil, e);
	rc = actor__send(system, e);
	if (rc) {
		actor__waiter_take(&system->waiters, &query->waiter);
		return rc;
	}
	if (timed && here)
		arm(query);
	else if (timed)
		actor__notice_send(loop, &query->notice, ACTOR__ASKED, 0, NULL);
	if (vigil && here)
		actor__farewell_begin(loop, vigil);
	else if (vigil)
		actor__farewell_begin_outside(loop, vigil);
	return 0;
}

/* From another thread the system is locked and open: what is sent before it begins to close
 * arrives. */
static int ask_from_here(struct actor_system *system, struct actor__query *query,
	struct actor__envelope *e, struct actor__vigil *vigil)
{
	int rc = ACTOR_ECLOSED;

	if (actor__loop_here(query->loop))
		return ask(system, query, e, vigil);
	pthread_mutex_lock(&system->lock);
	if (atomic_load_explicit(&system->phase, memory_order_relaxed) == ACTOR__OPEN)
		rc = ask(system, query, e, vigil);
	else
		actor__envelope_unfill(e);
	pthread_mutex_unlock(&system->lock);
	return rc;
}

static int system_check(struct actor_system *system, actor_answer_cb cb, const char *function)
{
	if (!system)
		return -EINVAL;
	if (actor__forked(system))
		return actor__refusal(system);
	return cb ? 0 : actor__misuse(system, -EINVAL, function, "no callback");
}

int actor_system_ask_async(struct actor_system *system, actor_ref to, struct actor_type *type,
	const void *payload, size_t bytes, int64_t timeout_ms, actor_answer_cb cb, void *data)
{
	int rc = system_check(system, cb, "actor_system_ask_async");
	struct actor__query *query;
	struct actor__envelope e;

	if (rc)
		return rc;
	query = query_new(system, to, timeout_ms, cb, data);
	if (!query)
		return -ENOMEM;
	rc = actor__envelope_fill(&e, to, 0, type, payload, bytes);
	if (!rc)
		rc = ask_from_here(system, query, &e, NULL);
	if (rc)
		actor__heap_free(query);
	return rc;
}

int actor_system_stop_async(struct actor_system *system, actor_ref ref, int64_t timeout_ms,
	actor_answer_cb cb, void *data)
{
	int rc = system_check(system, cb, "actor_system_stop_async");
	struct actor__vigil *vigil;
	struct actor__query *query;
	struct actor__envelope e;

	if (!rc && !ref)
		rc = -EINVAL;
	if (rc)
		return rc;
	vigil = actor__heap_zero(sizeof(*vigil));
	query = vigil ? query_new(system, ref, timeout_ms, cb, data) : NULL;
	rc = -ENOMEM;
	if (query) {
		query->stops = ref;
		actor__poison_fill(&e, ref, 0, ACTOR__POISON_STOP);
		rc = ask_from_here(system, query, &e, vigil);
	}
	if (rc) {
		actor__heap_free(query);
		actor__heap_free(vigil);
	}
	return rc;
}
