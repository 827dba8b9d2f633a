/* SPDX-License-Identifier: MIT */
/* The floor of a wake-up: uv_async_send() to a loop that has slept for 2 ms -> its callback runs.
 *
 *   uv_wake REPETITIONS   prints "wake ns value value ...", a median of 100 each
 *
 * Two loops with a thread each, on CPUs 0 and 1; the other one answers in the same way.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

#define WAKES	 100
#define PAUSE_MS 2

static uv_loop_t near_loop, far_loop;
static uv_async_t near_async, far_async;
static uv_timer_t timer;
static uint64_t sent_ns, delays[WAKES];
static int count, laps, lap;

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void on_timer(uv_timer_t *handle)
{
	(void)handle;
	sent_ns = uv_hrtime();
	uv_async_send(&far_async);
}

static void on_far(uv_async_t *handle)
{
	(void)handle;
	delays[count++] = uv_hrtime() - sent_ns;
	uv_async_send(&near_async);
}

static void on_near(uv_async_t *handle)
{
	(void)handle;
	if (count == WAKES) {
		qsort(delays, WAKES, sizeof(delays[0]), by_value);
		if (lap++)
			printf(" %llu", (unsigned long long)delays[WAKES / 2]);
		if (lap > laps) {
			putchar('\n');
			fflush(stdout);
			_Exit(0);
		}
		count = 0;
	}
	uv_timer_start(&timer, on_timer, PAUSE_MS, 0);
}

static void *far_run(void *unused)
{
	pin(1);
	uv_run(&far_loop, UV_RUN_DEFAULT);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	laps = argc > 1 ? atoi(argv[1]) : 5;
	pin(0);
	uv_loop_init(&near_loop);
	uv_loop_init(&far_loop);
	uv_async_init(&near_loop, &near_async, on_near);
	uv_async_init(&far_loop, &far_async, on_far);
	uv_timer_init(&near_loop, &timer);
	if (pthread_create(&thread, NULL, far_run, NULL))
		return 1;
	printf("wake ns");
	uv_timer_start(&timer, on_timer, PAUSE_MS, 0);
	return uv_run(&near_loop, UV_RUN_DEFAULT);
}
