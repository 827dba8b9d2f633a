/* SPDX-License-Identifier: MIT */
/* What the workloads after the Savina suite share: plays, the stage they are given on, reports.
 *
 * A play is one workload. For each repetition the driver spawns the play's master, which makes all
 * other actors, lets them work and ends with stage_report(). What it reports must be what `expect`
 * finds without any actor; else the program ends with an error. Then the driver stops the master,
 * and with it everybody else, and begins anew when all have ended. The time of a repetition runs
 * from before the master is spawned until its report arrives.
 *
 * On one loop everything runs on the caller's; on two the master is on the first and the others are
 * placed by turns, so that about every second message crosses.
 */
#ifndef SAVINA_H
#define SAVINA_H

#include <actor.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define STAGE_BYTES_MAX 4096 /* of a master's state */

/* How a repetition ended: its result, and how many operations it took. */
struct report {
	uint64_t result;
	uint64_t operations;
};

/* Begins the state of each actor that spawns others. */
struct stage {
	uint64_t n; /* how much there is to do; each play says of what */
	int loops;
	int turn; /* which loop is next */
};

struct play {
	const char *name;
	struct actor_class *master; /* its state begins with struct stage, on_stop is stage_end() */
	struct report (*expect)(uint64_t n);
};

extern const struct play play_ping_pong, play_counting, play_fork_join_throughput,
	play_fork_join_create, play_thread_ring, play_chameneos, play_big, play_bounded_buffer,
	play_philosophers, play_banking, play_sieve, play_fibonacci, play_nqueens;

/* Makes a child of the running actor on the loop whose turn it is. `init` may be NULL. */
int stage_spawn(struct actor_ctx *ctx, struct stage *stage, struct actor_class *cls,
	const void *init, actor_ref *ref);
/* The master's last word: ends the repetition. */
int stage_report(struct actor_ctx *ctx, uint64_t result, uint64_t operations);
/* The on_stop of each master. */
void stage_end(struct actor_ctx *ctx);
/* Says what was wrong and ends the program. */
int play_fail(const char *what, uint64_t got, uint64_t expected);

static inline uint64_t message_number(const struct actor_message *m)
{
	uint64_t n;

	memcpy(&n, m->payload, sizeof(n));
	return n;
}

/* 1 + 2 + ... + n */
static inline uint64_t sum_up_to(uint64_t n)
{
	return n * (n + 1) / 2;
}

/* The generator of Park and Miller, from a seed above 0: the same numbers in every language. */
static inline uint64_t random_next(uint64_t *state)
{
	*state = *state * 16807 % 2147483647;
	return *state;
}

#endif
