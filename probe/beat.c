/* SPDX-License-Identifier: MIT */
/* A thread that does one thing again and again. */
#include "probe/beat.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND_NS 1000000000ull

struct beat {
	pthread_t thread;
	pthread_mutex_t lock; /* of `stop` */
	pthread_cond_t woken; /* by the monotonic clock */
	bool stop;
	beat_deed *deed;
	void *context;
	uint64_t next_ns; /* of the thread */
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

/* Until the next time. False when it shall end. */
static bool sleep_until_next(struct beat *b)
{
	const struct timespec until = {.tv_sec = (time_t)(b->next_ns / SECOND_NS),
		.tv_nsec = (long)(b->next_ns % SECOND_NS)};
	bool go_on;

	pthread_mutex_lock(&b->lock);
	while (!b->stop && now_ns() < b->next_ns)
		pthread_cond_timedwait(&b->woken, &b->lock, &until);
	go_on = !b->stop;
	pthread_mutex_unlock(&b->lock);
	return go_on;
}

static void *run(void *context)
{
	struct beat *b = context;

	while (sleep_until_next(b))
		b->next_ns = now_ns() + b->deed(b->context);
	return NULL;
}

int beat_open(
	struct beat **out, beat_deed *deed, void *context, uint64_t first_ns, struct error *error)
{
	struct beat *b = calloc(1, sizeof(*b));
	pthread_condattr_t clock;
	int code;

	*out = NULL;
	if (!b)
		return error_set(error, EXIT_KERNEL, "out of memory; free some");
	b->deed = deed;
	b->context = context;
	b->next_ns = now_ns() + first_ns;
	pthread_mutex_init(&b->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&b->woken, &clock);
	pthread_condattr_destroy(&clock);
	code = pthread_create(&b->thread, NULL, run, b);
	if (code) {
		pthread_cond_destroy(&b->woken);
		pthread_mutex_destroy(&b->lock);
		free(b);
		return error_set(error, EXIT_KERNEL,
			"no thread to write from (%s); raise the limit with ulimit -u",
			strerror(code));
	}
	*out = b;
	return 0;
}

void beat_close(struct beat *b)
{
	if (!b)
		return;
	pthread_mutex_lock(&b->lock);
	b->stop = true;
	pthread_cond_signal(&b->woken);
	pthread_mutex_unlock(&b->lock);
	pthread_join(b->thread, NULL);
	pthread_cond_destroy(&b->woken);
	pthread_mutex_destroy(&b->lock);
	free(b);
}
