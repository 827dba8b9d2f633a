/* SPDX-License-Identifier: MIT */
/* Shuts connections down that are beyond their deadline. */
#include "probe/visitors.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#include "probe/capability.h"

#define SMALL_BYTES 4096

struct visitor {
	struct visitor *next, **place;
	int fd;
	uint64_t since_ns; /* connected, or answered last */
	size_t bytes;	   /* of the page it reads */
};

struct visitors {
	pthread_mutex_t lock;
	pthread_cond_t ending;
	pthread_t thread;
	bool started, ended;
	uint64_t deadline_ns;
	size_t most_bytes, bytes;
	struct visitor *first;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void look(struct visitors *v)
{
	uint64_t now = now_ns();

	/* Only shut down: closing is the server's, whose thread sees the end. */
	for (struct visitor *visitor = v->first; visitor; visitor = visitor->next)
		if (now - visitor->since_ns > v->deadline_ns)
			shutdown(visitor->fd, SHUT_RDWR);
}

static void *look_for_ever(void *argument)
{
	struct visitors *v = argument;

	capability_drop_all(); /* of this thread; it needs none */
	pthread_mutex_lock(&v->lock);
	while (!v->ended) {
		uint64_t next = now_ns() + v->deadline_ns / 8;
		struct timespec until = {
			(time_t)(next / 1000000000), (long)(next % 1000000000)};

		pthread_cond_timedwait(&v->ending, &v->lock, &until);
		look(v);
	}
	pthread_mutex_unlock(&v->lock);
	return NULL;
}

static bool start(struct visitors *v)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&v->thread, NULL, look_for_ever, v);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc == 0;
}

struct visitors *visitors_open(unsigned int deadline_ms, size_t most_bytes)
{
	struct visitors *v = calloc(1, sizeof(*v));
	pthread_condattr_t monotonic;

	if (!v)
		return NULL;
	v->deadline_ns = (uint64_t)deadline_ms * 1000000;
	v->most_bytes = most_bytes;
	pthread_mutex_init(&v->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&v->ending, &monotonic);
	pthread_condattr_destroy(&monotonic);
	v->started = start(v);
	if (v->started)
		return v;
	visitors_close(v);
	return NULL;
}

struct visitor *visitors_enter(struct visitors *v, int fd)
{
	struct visitor *visitor = calloc(1, sizeof(*visitor));

	if (!visitor)
		return NULL;
	pthread_mutex_lock(&v->lock);
	*visitor = (struct visitor){v->first, &v->first, fd, now_ns(), 0};
	if (v->first)
		v->first->place = &visitor->next;
	v->first = visitor;
	pthread_mutex_unlock(&v->lock);
	return visitor;
}

bool visitors_serve(struct visitors *v, struct visitor *visitor, size_t bytes)
{
	bool room;

	pthread_mutex_lock(&v->lock);
	/* One page of any size is served, and small ones always. */
	room = bytes <= SMALL_BYTES || !v->bytes || v->bytes + bytes <= v->most_bytes;
	if (room && visitor) {
		v->bytes += bytes;
		visitor->bytes += bytes;
	}
	pthread_mutex_unlock(&v->lock);
	return room;
}

void visitors_rest(struct visitors *v, struct visitor *visitor)
{
	if (!visitor)
		return;
	pthread_mutex_lock(&v->lock);
	visitor->since_ns = now_ns();
	v->bytes -= visitor->bytes;
	visitor->bytes = 0;
	pthread_mutex_unlock(&v->lock);
}

void visitors_leave(struct visitors *v, struct visitor *visitor)
{
	if (!visitor)
		return;
	pthread_mutex_lock(&v->lock);
	v->bytes -= visitor->bytes;
	*visitor->place = visitor->next;
	if (visitor->next)
		visitor->next->place = visitor->place;
	pthread_mutex_unlock(&v->lock);
	free(visitor);
}

void visitors_close(struct visitors *v)
{
	if (!v)
		return;
	pthread_mutex_lock(&v->lock);
	v->ended = true;
	pthread_cond_signal(&v->ending);
	pthread_mutex_unlock(&v->lock);
	if (v->started)
		pthread_join(v->thread, NULL);
	pthread_cond_destroy(&v->ending);
	pthread_mutex_destroy(&v->lock);
	free(v);
}
