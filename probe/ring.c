/* SPDX-License-Identifier: MIT */
/* The thread that drains the ring, and how others get in between. */
#define _GNU_SOURCE
#include "probe/ring.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "probe/capability.h"

struct ring {
	struct ring_buffer *buffer;
	ring_taker *taker;
	void *context;
	size_t left; /* bytes that this drain may still take */
	int epoll;
	int ending; /* an eventfd */
	pthread_t thread;
	bool started;
	pthread_mutex_t lock;
	_Atomic int wanted; /* readers that wait for the lock, which is not a fair one */
};

static int take(void *context, void *data, size_t bytes)
{
	struct ring *r = context;

	r->taker(r->context, data, bytes);
	r->left -= bytes < r->left ? bytes : r->left;
	return r->left ? 0 : -EAGAIN;
}

/* At most one filling of the ring: a fast target must not hold its reader for ever. */
static void drain(struct ring *r)
{
	r->left = RING_BYTES;
	ring_buffer__consume(r->buffer);
}

static void *drain_for_ever(void *argument)
{
	struct ring *r = argument;
	struct epoll_event event;

	capability_drop_all(); /* of this thread; it needs none */
	for (;;) {
		int n = epoll_wait(r->epoll, &event, 1, RING_PAUSE_MS);

		if (n > 0 && event.data.fd == r->ending)
			return NULL;
		while (atomic_load(&r->wanted))
			usleep(100);
		pthread_mutex_lock(&r->lock);
		drain(r);
		pthread_mutex_unlock(&r->lock);
	}
}

/* Edge-triggered: what merely lies in the ring wakes nobody, only BPF's own signal does. */
static int watch(struct ring *r, int fd, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.fd = fd};

	return epoll_ctl(r->epoll, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static int start(struct ring *r)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = -pthread_create(&r->thread, NULL, drain_for_ever, r);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	r->started = rc == 0;
	return rc;
}

int ring_open(struct ring **out, int map_fd, ring_taker *taker, void *context)
{
	struct ring *r = calloc(1, sizeof(*r));
	int rc = 0;

	if (!r)
		return -ENOMEM;
	r->taker = taker;
	r->context = context;
	pthread_mutex_init(&r->lock, NULL);
	r->epoll = epoll_create1(EPOLL_CLOEXEC);
	r->ending = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (r->epoll < 0 || r->ending < 0)
		rc = -errno;
	if (rc == 0) {
		r->buffer = ring_buffer__new(map_fd, take, r, NULL);
		rc = r->buffer ? 0 : -errno;
	}
	if (rc == 0)
		rc = watch(r, map_fd, EPOLLIN | EPOLLET);
	if (rc == 0)
		rc = watch(r, r->ending, EPOLLIN);
	if (rc == 0)
		rc = start(r);
	if (rc == 0)
		*out = r;
	else
		ring_close(r);
	return rc;
}

void ring_lock(struct ring *r)
{
	atomic_fetch_add(&r->wanted, 1);
	pthread_mutex_lock(&r->lock);
	atomic_fetch_sub(&r->wanted, 1);
	drain(r);
}

void ring_unlock(struct ring *r)
{
	pthread_mutex_unlock(&r->lock);
}

void ring_close(struct ring *r)
{
	if (!r)
		return;
	if (r->started) {
		eventfd_write(r->ending, 1);
		pthread_join(r->thread, NULL);
	}
	ring_buffer__free(r->buffer);
	if (r->epoll >= 0)
		close(r->epoll);
	if (r->ending >= 0)
		close(r->ending);
	pthread_mutex_destroy(&r->lock);
	free(r);
}
