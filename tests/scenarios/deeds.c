/* SPDX-License-Identifier: MIT */
/* Computing is counted by the thread's own CPU time, so that who is starved computes for as long.
 */
#define _GNU_SOURCE
#include "tests/scenarios/deeds.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/scenarios/measure.h"

#define EXACT_NS 50000u /* shorter work is not worth a system call per look at the clock */

static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static int requests[2], answers[2], silent[2];
static uint64_t helper_end_ns;

static void sleep_until(uint64_t ns)
{
	struct timespec t = {
		.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

static void spin(uint64_t ns)
{
	uint64_t (*clock)(void) = ns < EXACT_NS ? measure_now : measure_cpu;
	uint64_t until = clock() + ns;

	while (clock() < until)
		;
}

/* Answers each request as late as it says. */
static void *answer(void *unused)
{
	uint64_t ns;

	while (read(requests[0], &ns, sizeof(ns)) == sizeof(ns)) {
		sleep_until(measure_now() + ns);
		if (write(answers[1], "", 1) != 1)
			break;
	}
	return unused;
}

/* Keeps the mutex, and the pipe silent, until the end. */
static void *hold(void *unused)
{
	pthread_mutex_lock(&held);
	sleep_until(helper_end_ns);
	pthread_mutex_unlock(&held);
	if (write(silent[1], "", 1) != 1)
		perror("write");
	return unused;
}

static void *compete(void *unused)
{
	while (measure_now() < helper_end_ns)
		;
	return unused;
}

static void thread_start(void *(*run)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, NULL) != 0)
		abort();
	pthread_detach(thread);
}

static void rivals_start(uint64_t rivals)
{
	cpu_set_t set;

	if (!rivals)
		return;
	CPU_ZERO(&set);
	CPU_SET((unsigned int)sched_getcpu(), &set);
	pthread_setaffinity_np(
		pthread_self(), sizeof(set), &set); /* threads made later inherit it */
	while (rivals--)
		thread_start(compete);
}

void deeds_start(uint64_t end_ns, uint64_t rivals)
{
	helper_end_ns = end_ns;
	if (pipe(requests) != 0 || pipe(answers) != 0 || pipe(silent) != 0)
		abort();
	thread_start(answer);
	thread_start(hold);
	rivals_start(rivals);
}

static void byte_read(int fd)
{
	char byte;

	while (read(fd, &byte, 1) < 0 && errno == EINTR)
		;
}

static void hang_in_lock(void)
{
	pthread_mutex_lock(&held);
	pthread_mutex_unlock(&held);
}

void deed_do(enum scenario_deed deed, uint64_t work_ns, uint64_t end_ns)
{
	switch (deed) {
	case DEED_SPIN:
		spin(work_ns);
		break;
	case DEED_SLEEP:
		sleep_until(measure_now() + work_ns);
		break;
	case DEED_READ:
		if (write(requests[1], &work_ns, sizeof(work_ns)) == sizeof(work_ns))
			byte_read(answers[0]);
		break;
	case DEED_LOCK:
		pthread_mutex_lock(&shared);
		spin(work_ns);
		pthread_mutex_unlock(&shared);
		break;
	case DEED_HANG_SPIN:
		while (measure_now() < end_ns)
			;
		break;
	case DEED_HANG_SLEEP:
		sleep_until(end_ns);
		break;
	case DEED_HANG_READ:
		byte_read(silent[0]);
		break;
	case DEED_HANG_LOCK:
		hang_in_lock();
		break;
	case DEED_FAIL:
		break;
	}
}
