/* SPDX-License-Identifier: MIT */
/* Asking from outside without waiting. */
#include "query.h"

#include "alarm.h"
#include "fork.h"
#include "misuse.h"
#include "notice.h"
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

	if (actor__waiter_take(&loop->system->waiters, &query->waiter))
		settle(query, -ETIMEDOUT, NULL);
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

static struct actor__query *query_new(
	struct actor__loop *loop, int64_t timeout_ms, actor_answer_cb cb, void *data)
{
	struct actor__query *query = actor__heap_zero(sizeof(*query));

	if (!query)
		return NULL;
	query->waiter.answered = on_answered;
	query->waiter.loop = loop;
	query->loop = loop;
	query->timeout_ms = timeout_ms ? (uint64_t)timeout_ms : ACTOR_ASK_TIMEOUT_MS;
	query->cb = cb;
	query->data = data;
	atomic_init(&query->holds, timeout_ms < 0 ? 1 : 2);
	return query;
}

/* Sends the question. From another thread the system is locked and open: what is sent before it
 * begins to close arrives. */
static int ask(struct actor_system *system, struct actor__query *query, struct actor__envelope *e,
	bool timed)
{
	bool here = actor__loop_here(query->loop) && !query->loop->closed;
	int rc = actor__waiter_begin(&system->waiters, &query->waiter);

	if (rc) {
		actor__envelope_unfill(e);
		return rc == -ECANCELED ? ACTOR_ECLOSED : rc;
	}
	e->ask = query->waiter.number;
	e->flags |= ACTOR__WAITER;
	rc = actor__send(system, e);
	if (rc)
		actor__waiter_take(&system->waiters, &query->waiter);
	else if (timed && here)
		arm(query);
	else if (timed)
		actor__notice_send(query->loop, &query->notice, ACTOR__ASKED, 0, NULL);
	return rc;
}

int actor_system_ask_async(struct actor_system *system, actor_ref to, struct actor_type *type,
	const void *payload, size_t bytes, int64_t timeout_ms, actor_answer_cb cb, void *data)
{
	struct actor__loop *loop;
	struct actor__query *query;
	struct actor__envelope e;
	int rc;

	if (actor__forked(system))
		return actor__refusal(system);
	if (!cb)
		return actor__misuse(system, -EINVAL, "actor_system_ask_async", "no callback");
	loop = actor__loop_of(system, to);
	if (!loop)
		loop = system->loops[0];
	query = query_new(loop, timeout_ms, cb, data);
	if (!query)
		return -ENOMEM;
	rc = actor__envelope_fill(&e, to, 0, type, payload, bytes);
	if (!rc && actor__loop_here(loop)) {
		rc = ask(system, query, &e, timeout_ms >= 0);
	} else if (!rc) {
		pthread_mutex_lock(&system->lock);
		if (atomic_load_explicit(&system->phase, memory_order_relaxed) == ACTOR__OPEN) {
			rc = ask(system, query, &e, timeout_ms >= 0);
		} else {
			actor__envelope_unfill(&e);
			rc = ACTOR_ECLOSED;
		}
		pthread_mutex_unlock(&system->lock);
	}
	if (rc)
		actor__heap_free(query);
	return rc;
}
