/* SPDX-License-Identifier: MIT */
/* Longest handlers, late timers, starved threads, by the program's own clocks. */
#define _GNU_SOURCE
#include "tests/scenarios/measure.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PULSES 100000u

static _Atomic uint64_t longest_cpu_ns, longest_off_ns;
static uint64_t late_ns[PULSES], last_pulse_ns;
static uint32_t pulses;
static uint64_t began_ns, lasted_ns, starved_before_ns, starved_ns, cpu_before_ns, cpu_ns;

static uint64_t read_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t measure_now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t measure_cpu(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

struct measure_moment measure_begin(void)
{
	static _Thread_local uint32_t count;

	return (struct measure_moment){measure_now(), count++ % 16 ? 0 : measure_cpu()};
}

static void raise_to(_Atomic uint64_t *most, uint64_t value)
{
	uint64_t now = atomic_load(most);

	while (now < value && !atomic_compare_exchange_weak(most, &now, value))
		;
}

void measure_end(const struct measure_moment *start)
{
	uint64_t wall, cpu;

	if (!start->cpu_ns)
		return;
	wall = measure_now() - start->wall_ns;
	cpu = measure_cpu() - start->cpu_ns;
	raise_to(&longest_cpu_ns, cpu);
	if (wall > cpu)
		raise_to(&longest_off_ns, wall - cpu);
}

static uint64_t starved_now(void)
{
	FILE *f = fopen("/proc/thread-self/schedstat", "re");
	uint64_t cpu = 0, starved = 0;

	if (f && fscanf(f, "%" SCNu64 " %" SCNu64, &cpu, &starved) != 2)
		starved = 0;
	if (f)
		fclose(f);
	return starved;
}

uint64_t measure_start(void)
{
	starved_before_ns = starved_now();
	cpu_before_ns = measure_cpu();
	began_ns = last_pulse_ns = measure_now();
	return began_ns;
}

void measure_pulse(uint64_t interval_ns)
{
	uint64_t now = measure_now(), took = now - last_pulse_ns;

	last_pulse_ns = now;
	if (pulses < PULSES)
		late_ns[pulses++] = took > interval_ns ? took - interval_ns : 0;
}

void measure_stop(void)
{
	measure_pulse(0); /* a timer that never fired was late as well */
	lasted_ns = measure_now() - began_ns;
	cpu_ns = measure_cpu() - cpu_before_ns;
	starved_ns = starved_now() - starved_before_ns;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static bool is_true(const struct scenario *s, uint64_t waiting)
{
	uint64_t most = pulses ? late_ns[pulses - 1] : 0, median = late_ns[pulses / 2];

	switch (s->truth) {
	case TRUTH_HANDLER_CPU:
		return longest_cpu_ns >= s->truth_least;
	case TRUTH_OFF_CPU:
		return longest_off_ns >= s->truth_least;
	case TRUTH_LATE:
		return most >= s->truth_least;
	case TRUTH_PROMPT:
		return median <= s->truth_least;
	case TRUTH_WAITING:
		return waiting >= s->truth_least;
	case TRUTH_STARVED:
		return starved_ns * 1000 >= s->truth_least * lasted_ns;
	case TRUTH_NONE:
		break;
	}
	return true;
}

static void name_print(const char *name)
{
	if (name)
		printf("\"%s\"", name);
	else
		printf("null");
}

void measure_print(const struct scenario *s, uint32_t strength, uint64_t waiting)
{
	qsort(late_ns, pulses, sizeof(late_ns[0]), compare);
	printf("{\"scenario\":\"%s\",\"strength\":%u,\"expected\":\"%s\",\"class\":", s->name,
		strength, s->expected);
	name_print(s->class_name);
	printf(",\"dispatcher\":");
	name_print(s->dispatcher);
	printf(",\"true\":%s,\"longest_cpu_ns\":%" PRIu64 ",\"longest_off_ns\":%" PRIu64
	       ",\"late_p50_ns\":%" PRIu64 ",\"late_max_ns\":%" PRIu64 ",\"waiting\":%" PRIu64
	       ",\"starved_share\":%.4f,\"starved_of_wanted\":%.4f}\n",
		is_true(s, waiting) ? "true" : "false", (uint64_t)longest_cpu_ns,
		(uint64_t)longest_off_ns, pulses ? late_ns[pulses / 2] : 0,
		pulses ? late_ns[pulses - 1] : 0, waiting,
		lasted_ns ? (double)starved_ns / (double)lasted_ns : 0,
		cpu_ns ? (double)starved_ns / (double)(starved_ns + cpu_ns) : 0);
}
