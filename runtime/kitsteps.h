/* SPDX-License-Identifier: MIT */
/* Steps of the test kit: what is possible now, which of it is done, and how time goes on. */
#ifndef ACTOR_KITSTEPS_H
#define ACTOR_KITSTEPS_H

#include "kit.h"

/* Is what a test waits for there? */
typedef bool (*actor__kit_there)(const void *of);

/* One step. 1: a unit has run; 2: something else was done; 0: nothing is possible. */
int actor__kit_step(struct actor_test *kit);

/* One pass of each uv_loop_t, in which only the program's handles and closing do something. */
void actor__kit_pass(struct actor_test *kit);

/* Steps until all is quiet, or `there` (may be NULL). The number of units; -ELOOP, reported. */
int64_t actor__kit_run(struct actor_test *kit, actor__kit_there there, const void *of);

/* The same over the time until `until_ms`. */
int64_t actor__kit_wait(
	struct actor_test *kit, uint64_t until_ms, actor__kit_there there, const void *of);

/* Runs what synchronous dispatchers have, if there are any. For drivers. */
void actor__kit_told(struct actor__driver *driver);

#endif
