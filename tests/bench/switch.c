/* SPDX-License-Identifier: MIT */
/* Switch: two threads of a process that rests hand the CPU to and fro, no actor is involved. */
#include "bench.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int to, fro;

static void put(int fd)
{
	uint64_t one = 1;

	if (write(fd, &one, sizeof(one)) != sizeof(one))
		abort();
}

static uint64_t get(int fd)
{
	uint64_t n;

	if (read(fd, &n, sizeof(n)) != sizeof(n))
		abort();
	return n;
}

static void *partner(void *data)
{
	for (uint64_t i = *(uint64_t *)data; i > 0; i -= get(to), put(fro))
		;
	return NULL;
}

double switch_measure(uint64_t total)
{
	uint64_t rounds = total / 2, began;
	pthread_t thread;

	to = eventfd(0, EFD_CLOEXEC);
	fro = eventfd(0, EFD_CLOEXEC);
	if (to < 0 || fro < 0 || pthread_create(&thread, NULL, partner, &rounds))
		abort();
	began = uv_hrtime();
	for (uint64_t i = 0; i < rounds; i++) {
		put(to);
		get(fro);
	}
	began = uv_hrtime() - began;
	pthread_join(thread, NULL);
	close(to);
	close(fro);
	return (double)began / (double)(2 * rounds);
}
