/* SPDX-License-Identifier: MIT */
/* Threads outside that block for an answer. */
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
	pthread_mutex_destroy(&waiters->lock);
}

static struct actor__waiter *find(struct actor__waiters *waiters, uint32_t number)
{
	struct actor__waiter *waiter = waiters->first;

	while (waiter && waiter->number != number)
		waiter = waiter->next;
	return waiter;
}

bool actor__waiter_begin(struct actor__waiters *waiters, struct actor__waiter *waiter)
{
	pthread_condattr_t attr;
	bool open;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&waiter->done, &attr);
	pthread_condattr_destroy(&attr);
	waiter->status = 1;
	pthread_mutex_lock(&waiters->lock);
	open = !waiters->closed;
	if (open) {
		do
			waiter->number = ++waiters->last_number;
		while (!waiter->number || find(waiters, waiter->number));
		waiter->next = waiters->first;
		waiters->first = waiter;
	}
	pthread_mutex_unlock(&waiters->lock);
	if (!open)
		pthread_cond_destroy(&waiter->done);
	return open;
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

int actor__waiter_end(
	struct actor__waiters *waiters, struct actor__waiter *waiter, int64_t timeout_ms)
{
	struct timespec deadline = deadline_in(timeout_ms < 0 ? 0 : timeout_ms);
	struct actor__waiter **place;
	int rc = 0;

	pthread_mutex_lock(&waiters->lock);
	while (waiter->status == 1 && rc != ETIMEDOUT) {
		if (timeout_ms < 0)
			pthread_cond_wait(&waiter->done, &waiters->lock);
		else
			rc = pthread_cond_timedwait(&waiter->done, &waiters->lock, &deadline);
	}
	rc = waiter->status == 1 ? -ETIMEDOUT : waiter->status;
	for (place = &waiters->first; *place != waiter; place = &(*place)->next)
		;
	*place = waiter->next;
	pthread_mutex_unlock(&waiters->lock);
	pthread_cond_destroy(&waiter->done);
	return rc;
}

void actor__waiter_complete(
	struct actor__waiters *waiters, uint32_t number, const void *payload, size_t bytes)
{
	struct actor__waiter *waiter;

	pthread_mutex_lock(&waiters->lock);
	waiter = find(waiters, number);
	if (waiter && waiter->status == 1) {
		waiter->bytes = bytes;
		if (bytes && waiter->room)
			memcpy(waiter->reply, payload, bytes < waiter->room ? bytes : waiter->room);
		waiter->status = 0;
		pthread_cond_signal(&waiter->done);
	}
	pthread_mutex_unlock(&waiters->lock);
}

bool actor__waiter_refuse(struct actor__waiters *waiters, uint32_t number, int status)
{
	struct actor__waiter *waiter;
	bool waits;

	pthread_mutex_lock(&waiters->lock);
	waiter = find(waiters, number);
	waits = waiter && waiter->status == 1;
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
	for (struct actor__waiter *w = waiters->first; w; w = w->next) {
		if (w->status == 1) {
			w->status = -ECANCELED;
			pthread_cond_signal(&w->done);
		}
	}
	pthread_mutex_unlock(&waiters->lock);
}

void actor__waiters_rest(struct actor__waiters *waiters)
{
	bool left;

	do {
		pthread_mutex_lock(&waiters->lock);
		left = waiters->first != NULL;
		pthread_mutex_unlock(&waiters->lock);
		if (left)
			sched_yield();
	} while (left);
}
