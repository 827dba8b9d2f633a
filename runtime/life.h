/* SPDX-License-Identifier: MIT */
/* The system lane of a cell: start, stop, family, and what a failure leads to. The cell's loop. */
#ifndef ACTOR_LIFE_H
#define ACTOR_LIFE_H

#include "deliver.h"

/* Handles all signals that are set. False: the cell is gone. Called inside a turn. */
bool actor__life_signals(struct actor__cell *cell);

/* Frees a cell's memory: to the pool, or to the heap if it came from outside. */
void actor__life_free(struct actor__loop *loop, struct actor__cell *cell);

/* The number of actors of all loops that have been created and are not gone; exact when no
 * thread spawns. Any thread. */
uint64_t actor__life_count(const struct actor_system *system);

#endif
