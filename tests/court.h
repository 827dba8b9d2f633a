/* SPDX-License-Identifier: MIT */
/* Several systems on one loop, each with two actors on an immediate dispatcher that keep a ball in
 * the air. */
#ifndef TESTS_COURT_H
#define TESTS_COURT_H

#include "tests/workload.h"

#define SIDES 4

/* A system on the lab's loop, with two players that hit a ball to and fro. */
struct side {
	struct lab *lab;
	struct actor_system *system;
	actor_ref players[2];
	uint32_t hits;
	bool stop;   /* the ball rests */
	bool closing, closed;
	int (*on_hit)(struct side *side);
};

/* The lab's own system has nothing to do: it is there as one without immediate dispatchers. */
extern struct lab lab;
extern struct side sides[SIDES];
extern struct actor_dispatcher_spec immediate; /* the sides' default */

/* Opens the lab and so many sides; closes them, if they are not closed yet, and the lab. */
void court_open(uint32_t count);
void court_close(uint32_t count);

void side_open(struct side *side, int64_t drain_ms);
void side_close(struct side *side); /* may be called again, to revive what somebody walked over */

/* Makes two players; the first hit is told from outside. */
void side_play(struct side *side);

/* One more ball. */
void side_serve(struct side *side);

/* Queues jobs[from ... to-1] on the immediate dispatcher. */
void side_queue(struct side *side, uint32_t from, uint32_t to);

/* Runs so many passes of the loop, without blocking. */
void passes_run(uint32_t count);

void hits_reset(uint32_t count);

/* Each pass that was counted, but the first look, ran so many units. */
void assert_each_pass(uint32_t units, const char *what);

#endif
