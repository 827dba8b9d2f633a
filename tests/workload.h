/* SPDX-License-Identifier: MIT */
/* Units and actors that are counted per pass, for the tests of dispatchers. */
#ifndef TESTS_WORKLOAD_H
#define TESTS_WORKLOAD_H

#include "tests/lab.h"

#define UNITS 200

/* A unit of the test's own. */
struct job {
	struct actor_unit unit; /* first */
	struct lab *lab;
	uint32_t number;
	uint32_t again; /* times it queues itself */
};

extern struct job jobs[UNITS];
extern uint32_t order[4096]; /* numbers of the jobs as they ran */
extern uint32_t ordered;
extern actor_ref refs[UNITS];
extern uint32_t messages; /* that counters handled */
extern struct actor_class counter_class;

struct counter {
	struct lab *lab;
};

int job_run(struct actor_unit *unit);
struct actor_dispatcher *dispatcher_of(
	struct lab *lab, const struct actor_dispatcher_spec *spec);

/* Queues jobs[from ... to-1] on the dispatcher of a spec; NULL is the system's. */
void queue_on(struct lab *lab, const struct actor_dispatcher_spec *spec, uint32_t from,
	uint32_t to, uint32_t again);
void jobs_queue(struct lab *lab, uint32_t from, uint32_t to, uint32_t again);

/* Spawns actors into refs[], runs their starts; tells each of them `each` messages. */
void counters_spawn(struct lab *lab, uint32_t count);
void counters_tell(struct lab *lab, uint32_t count, uint32_t each);

enum which { IMMEDIATE, THROUGHPUT_16, THROUGHPUT_5, HYBRID_64, HYBRID_3, MICROTASK, KINDS };

struct kind {
	const char *name;
	uint32_t per_pass; /* units, if there are enough */
};
extern const struct kind kinds[KINDS];

void lab_open_kind(struct lab *lab, enum which kind);

/* Every busy pass ran `most` units, the last one the rest. */
void assert_passes(const struct lab *lab, uint32_t most, uint32_t total, const char *what);

/* Runs the loop while units are ready; the counting handle does not keep it alive. */
void run_counted(struct lab *lab);

#endif
