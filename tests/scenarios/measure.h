/* SPDX-License-Identifier: MIT */
/* The scenario's own clocks: what is true of the run, whatever a diagnosis says. */
#ifndef TESTS_MEASURE_H
#define TESTS_MEASURE_H

#include "tests/scenarios/scenario.h"

struct measure_moment {
	uint64_t wall_ns, cpu_ns;
};

uint64_t measure_now(void); /* CLOCK_MONOTONIC */
uint64_t measure_cpu(void); /* of this thread */

/* Around a handler's work; any loop. The CPU time is read for one handler of 16. */
struct measure_moment measure_begin(void);
void measure_end(const struct measure_moment *start);

/* The run begins on the first loop's thread; returns the time. */
uint64_t measure_start(void);

/* A timer of the first loop fired that should fire each `interval_ns`. */
void measure_pulse(uint64_t interval_ns);

void measure_stop(void);

/* One line of JSON. */
void measure_print(const struct scenario *s, uint32_t strength, uint64_t waiting);

#endif
