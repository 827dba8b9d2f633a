/* SPDX-License-Identifier: MIT */
/* Who waits outside for an answer: threads that block, and the table of queries. */
#include "asks.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <time.h>

void actor__waiters_init(struct actor__waiters *waiters)
{
	memset(waiters, 0, sizeof(*waiters));
	pthread_mutex_init(&waiters->lock, NULL);
}

void actor__waiters_fini(struct actor__waiters *waiters)
{
	actor__index_fini(&waiters->by_number);
	pthread_mutex_destroy(&waiters->lock);
}

static struct actor__waiter *find(const struct actor__waiters *waiters, uint32_t number)
{
	return actor__index_find(&waiters->by_number, number);
}

static int add(struct actor__waiters *waiters, struct actor__waiter *waiter)
{
	if (waiters->closed)
		return -ECANCELED;
	do
		waiter->number = ++waiters->last_number;
	while (!waiter->number || find(waiters, waiter->number));
	return actor__index_add(&waiters->by_number, waiter->number, waiter) ? 0 : -ENOMEM;
}

int actor__waiter_begin(struct actor__waiters *waiters, struct actor__waiter *waiter)
{
	pthread_condattr_t attr;
	int rc;

	waiter->status = 1;
	if (!waiter->answered) {
		pthread_condattr_init(&attr);
		pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
		pthread_cond_init(&waiter->done, &attr);
		pthread_condattr_destroy(&attr);
	}
	pthread_mutex_lock(&waiters->lock);
	rc = add(waiters, waiter);
	pthread_mutex_unlock(&waiters->lock);
	if (rc && !waiter->answered)
		pthread_cond_destroy(&waiter->done);
	return rc;
}

static struct timespec deadline_in(int64_t timeout_ms)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += timeout_ms / 1000;
	t.tv_nsec += timeout_ms % 1000 * 1000000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_nsec -= 1000000000;
		t.tv_sec++;
	}
	return t;
}

int actor__waiter_wait(
	struct actor__waiters *waiters, struct actor__waiter *waiter, int64_t timeout_ms)
{
	struct timespec deadline = deadline_in(timeout_ms < 0 ? 0 : timeout_ms);
	int rc = 0;

	pthread_mutex_lock(&waiters->lock);
	while (waiter->status == 1 && rc != ETIMEDOUT) {
		if (timeout_ms < 0)
			rc = pthread_cond_wait(&waiter->done, &waiters->lock);
		else
			rc = pthread_cond_timedwait(&waiter->done, &waiters->lock, &deadline);
	}
	rc = waiter->status == 1 ? -ETIMEDOUT : waiter->status;
	pthread_mutex_unlock(&waiters->lock);
	return rc;
}

void actor__waiter_leave(struct actor__waiters *waiters, struct actor__waiter *waiter)
{
	pthread_mutex_lock(&waiters->lock);
	actor__index_remove(&waiters->by_number, waiter->number);
	pthread_mutex_unlock(&waiters->lock);
	pthread_cond_destroy(&waiter->done);
}

int actor__waiter_end(
	struct actor__waiters *waiters, struct actor__waiter *waiter, int64_t timeout_ms)
{
	int rc = actor__waiter_wait(waiters, waiter, timeout_ms);

	actor__waiter_leave(waiters, waiter);
	return rc;
}

static void thread_answer(struct actor__waiter *waiter, const void *payload, size_t bytes)
{
	if (waiter->status != 1)
		return;
	waiter->bytes = bytes;
	if (bytes && waiter->room)
		memcpy(waiter->reply, payload, bytes < waiter->room ? bytes : waiter->room);
	waiter->status = 0;
	pthread_cond_signal(&waiter->done);
}

struct actor__waiter *actor__waiter_complete(
	struct actor__waiters *waiters, uint32_t number, const void *payload, size_t bytes)
{
	struct actor__waiter *waiter;

	pthread_mutex_lock(&waiters->lock);
	waiter = find(waiters, number);
	if (waiter && waiter->answered) {
		actor__index_remove(&waiters->by_number, number);
	} else if (waiter) {
		thread_answer(waiter, payload, bytes);
		waiter = NULL;
	}
	pthread_mutex_unlock(&waiters->lock);
	return waiter;
}

bool actor__waiter_waits(struct actor__waiters *waiters, const struct actor__waiter *waiter)
{
	bool waits;

	pthread_mutex_lock(&waiters->lock);
	waits = find(waiters, waiter->number) == waiter;
	pthread_mutex_unlock(&waiters->lock);
	return waits;
}

bool actor__waiter_take(struct actor__waiters *waiters, struct actor__waiter *waiter)
{
	bool waits;

	pthread_mutex_lock(&waiters->lock);
	waits = find(waiters, waiter->number) == waiter;
	if (waits)
		actor__index_remove(&waiters->by_number, waiter->number);
	pthread_mutex_unlock(&waiters->lock);
	return waits;
}

struct actor__waiter *actor__waiters_take_all(
	struct actor__waiters *waiters, const struct actor__loop *loop)
{
	struct actor__waiter *all = NULL;

	pthread_mutex_lock(&waiters->lock);
	for (uint32_t i = 0; i < waiters->by_number.room; i++) {
		struct actor__waiter *waiter = waiters->by_number.places[i].value;

		if (!waiter || !waiter->answered || waiter->loop != loop)
			continue;
		waiter->next = all;
		all = waiter;
	}
	for (struct actor__waiter *waiter = all; waiter; waiter = waiter->next)
		actor__index_remove(&waiters->by_number, waiter->number);
	pthread_mutex_unlock(&waiters->lock);
	return all;
}

bool actor__waiter_refuse(struct actor__waiters *waiters, uint32_t number, int status)
{
	struct actor__waiter *waiter;
	bool waits;

	pthread_mutex_lock(&waiters->lock);
	waiter = find(waiters, number);
	waits = waiter && !waiter->answered && waiter->status == 1;
	if (waits) {
		waiter->status = status;
		pthread_cond_signal(&waiter->done);
	}
	pthread_mutex_unlock(&waiters->lock);
	return waits;
}

void actor__waiters_cancel(struct actor__waiters *waiters)
{
	pthread_mutex_lock(&waiters->lock);
	waiters->closed = true;
	for (uint32_t i = 0; i < waiters->by_number.room; i++) {
		struct actor__waiter *waiter = waiters->by_number.places[i].value;

		if (waiter && !waiter->answered && waiter->status == 1) {
			waiter->status = -ECANCELED;
			pthread_cond_signal(&waiter->done);
		}
	}
	pthread_mutex_unlock(&waiters->lock);
}

void actor__waiters_rest(struct actor__waiters *waiters)
{
	bool left;

	do {
		pthread_mutex_lock(&waiters->lock);
		left = waiters->by_number.count != 0;
		pthread_mutex_unlock(&waiters->lock);
		if (left)
			sched_yield();
	} while (left);
}
