/* SPDX-License-Identifier: MIT */
/* What the runtime's tests share: a loop with a system, counted passes, logs and payloads. */
#ifndef TESTS_LAB_H
#define TESTS_LAB_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/actor.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define LAB_PASSES 4096

struct lab {
	uv_loop_t loop;
	struct actor_system *system;
	struct actor_system_options options;
	bool closed;
	/* what a prepare handle of the test's own sees: units run since it was called last */
	uv_prepare_t prepare;
	uint32_t units;
	uint32_t pass_units[LAB_PASSES];
	uint32_t passes;
	/* log */
	pthread_mutex_t lock;
	uint32_t logged;
	char last_log[1024];
	/* dead letters */
	_Atomic uint32_t dead_letters;
};

/* A loop, and a system on it. `change` may alter lab->options first; NULL is fine. */
void lab_open(struct lab *lab, const struct actor_dispatcher_spec *dispatcher);
void lab_open_with(struct lab *lab, void (*change)(struct actor_system_options *options));

/* Such a change: a clock that only actor_system_advance() moves. */
void lab_by_hand(struct actor_system_options *options);

/* The same without a loop of the caller: `loops` owned ones. */
void lab_open_owned(struct lab *lab, int loops);

/* Closes the system and the loop, and checks that nothing is left open. */
void lab_close(struct lab *lab);

/* Runs the loop until nothing keeps it alive. */
void lab_run(struct lab *lab);

/* Starts and stops counting units per pass; the handle keeps the loop alive meanwhile. */
void lab_count(struct lab *lab);
void lab_count_stop(struct lab *lab);

/* Passes that ran units: how many there were, and the n-th one's units. */
uint32_t lab_busy_passes(const struct lab *lab, uint32_t *units, uint32_t room);

struct actor_stats lab_stats(const struct lab *lab);

/* Waits until the system has ended `count` actors; false after ten seconds. */
bool lab_wait_terminated(struct lab *lab, uint64_t count);

/* A strategy for actors that a failure is to stop. */
extern const struct actor_strategy lab_stops;

/* ---- a payload that counts ---- */

struct counted {
	uint64_t value;
	char fill[56]; /* above what travels inside the envelope */
};

extern struct actor_type counted_type; /* struct counted by pointer */
extern struct actor_type token_type;   /* a uint64_t inside the envelope, also counted */
extern struct actor_type plain_type;   /* no destroy */
extern _Atomic int64_t counted_alive;  /* made and not destroyed */
extern _Atomic int64_t tokens_alive;

struct counted *counted_new(uint64_t value);
uint64_t token_new(uint64_t value);

/* ---- a heap that fails ---- */

extern _Atomic int64_t lab_heap_blocks; /* allocated and not freed since lab_heap_begin() */
extern _Atomic int64_t lab_heap_asked;  /* allocations since lab_heap_fail() */

/* Puts the counting heap below the runtime, and takes it away; no system is open. */
void lab_heap_begin(void);
void lab_heap_end(void);

enum lab_heap_failure {
	LAB_FAIL_ONCE,
	LAB_FAIL_FROM_THEN_ON,
};

/* The n-th allocation from now on fails, of those with so many bytes at least; 0: none. */
void lab_heap_fail(int64_t n, enum lab_heap_failure how, size_t bytes);

/* ---- stderr ---- */

/* Keeps from now on what is written to stderr, up to 64 KiB, and gives it back as a string. */
void lab_stderr_catch(void);
void lab_stderr_release(char *text, size_t bytes);

/* ---- time ---- */

uint64_t now_ns(void);
void spin_ns(uint64_t ns);
void sleep_ms(unsigned int ms);

/* ---- random numbers from a seed (xorshift64*, Vigna 2016) ---- */

uint64_t random_next(uint64_t *state);
uint32_t random_below(uint64_t *state, uint32_t bound);

#endif
