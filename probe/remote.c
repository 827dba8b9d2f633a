/* SPDX-License-Identifier: MIT */
/* One thread that reads foreign memory, and the deadline with which it is waited for. */
#define _GNU_SOURCE
#include "probe/remote.h"

#include "probe/capability.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

struct remote {
	int fd;		      /* set before the thread starts; -1: read by `pid` */
	pid_t pid;	      /* the same */
	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t changed;
	int (*job)(struct remote *, void *); /* NULL = none */
	void *argument;
	void (*drop)(void *);
	bool done;	/* the job has run, `result` holds */
	bool abandoned; /* nobody waits for the job any more */
	bool closing;	/* the thread ends, and frees everything */
	int result;
};

static void remote_free(struct remote *r)
{
	if (r->fd >= 0)
		close(r->fd);
	pthread_cond_destroy(&r->changed);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

static void run_job(struct remote *r)
{
	int (*job)(struct remote *, void *) = r->job;
	void *argument = r->argument;
	int result;

	pthread_mutex_unlock(&r->lock);
	result = job(r, argument);
	pthread_mutex_lock(&r->lock);
	r->job = NULL;
	if (r->abandoned && r->drop)
		r->drop(argument);
	r->done = !r->abandoned;
	r->abandoned = false;
	r->result = result;
	pthread_cond_broadcast(&r->changed);
}

static void *thread_main(void *argument)
{
	struct remote *r = argument;

	if (r->fd >= 0)
		capability_drop_all(); /* the descriptor is all it needs */
	else
		capability_drop_others(CAPABILITY_SYS_PTRACE);
	pthread_mutex_lock(&r->lock);
	while (!r->closing) {
		if (r->job && !r->done)
			run_job(r);
		else
			pthread_cond_wait(&r->changed, &r->lock);
	}
	pthread_mutex_unlock(&r->lock);
	remote_free(r);
	return NULL;
}

static int thread_start(struct remote *r)
{
	pthread_attr_t attributes;
	pthread_t thread;
	sigset_t all, before;
	int error;

	sigfillset(&all); /* signals are for the caller's threads */
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&thread, &attributes, thread_main, r);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return -error;
}

static int remote_new(struct remote **out, int fd, pid_t pid)
{
	struct remote *r = calloc(1, sizeof(*r));
	pthread_condattr_t attributes;
	int error;

	if (!r) {
		if (fd >= 0)
			close(fd);
		return -ENOMEM;
	}
	r->fd = fd;
	r->pid = pid;
	pthread_mutex_init(&r->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&r->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	error = thread_start(r);
	if (error < 0) {
		remote_free(r);
		return error;
	}
	*out = r;
	return 0;
}

int remote_wrap(struct remote **out, int fd)
{
	return remote_new(out, fd, 0);
}

static ssize_t read_by_pid(pid_t pid, uint64_t address, void *to, size_t bytes)
{
	struct iovec here = {to, bytes}, there = {(void *)(uintptr_t)address, bytes};

	return process_vm_readv(pid, &here, 1, &there, 1, 0);
}

/* The file of another user's memory needs CAP_DAC_OVERRIDE as well; reading by pid does not, but
 * it asks for the capability at each call. */
int remote_open(struct remote **out, pid_t pid, pid_t task)
{
	char path[64], byte;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/mem", pid, task);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		return remote_wrap(out, fd);
	if (errno != EACCES || (read_by_pid(task, 0, &byte, 1) < 0 && errno == EPERM))
		return -errno;
	return remote_new(out, -1, task);
}

int remote_run(
	struct remote *r, int (*job)(struct remote *, void *), void *argument, void (*drop)(void *))
{
	struct timespec until;
	int result = -EBUSY, late = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += REMOTE_DEADLINE_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&r->lock);
	if (!r->job) {
		r->job = job;
		r->argument = argument;
		r->drop = drop;
		r->done = false;
		pthread_cond_broadcast(&r->changed);
		while (!r->done && !late)
			late = pthread_cond_timedwait(&r->changed, &r->lock, &until);
		r->abandoned = !r->done;
		result = r->done ? r->result : -ETIMEDOUT;
		r->done = false;
	}
	pthread_mutex_unlock(&r->lock);
	return result;
}

int remote_copy(const struct remote *r, uint64_t address, void *to, size_t bytes)
{
	if (address > INT64_MAX || bytes > INT64_MAX - address)
		return -EFAULT;
	for (size_t done = 0; done < bytes;) {
		uint64_t at = address + done;
		ssize_t n = r->fd >= 0 ? pread(r->fd, (char *)to + done, bytes - done, (off_t)at)
				       : read_by_pid(r->pid, at, (char *)to + done, bytes - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EFAULT;
		done += (size_t)n;
	}
	return 0;
}

int remote_string(const struct remote *r, uint64_t address, char *to, size_t bytes)
{
	size_t used = 0;

	/* Small steps, none across a page: what follows the string may not be mapped. */
	while (used < bytes - 1) {
		size_t page = 4096 - ((address + used) & 4095), left = bytes - 1 - used;
		size_t step = page < left ? page : left;

		step = step < 64 ? step : 64;
		if (remote_copy(r, address + used, to + used, step) < 0)
			return -EFAULT;
		if (memchr(to + used, 0, step))
			return 0;
		used += step;
	}
	to[used] = '\0';
	return 0;
}

void remote_close(struct remote *r)
{
	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	r->closing = true;
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
}
