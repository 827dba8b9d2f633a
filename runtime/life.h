/* SPDX-License-Identifier: MIT */
/* The system lane of a cell: start, stop, family, and what a failure leads to. The cell's loop. */
#ifndef ACTOR_LIFE_H
#define ACTOR_LIFE_H

#include "deliver.h"

struct actor__bond;

/* Handles all signals that are set. False: the cell is gone. Called inside a turn. */
bool actor__life_signals(struct actor__cell *cell);

/* Sets a signal and asks for a turn. */
void actor__life_signal(struct actor__cell *cell, enum actor__signal signal);

/* Links a cell into its parent, or into the loop's top level. */
void actor__life_adopt(struct actor__loop *loop, struct actor__cell *parent, struct actor__cell *cell);

/* Notes a child on another loop. */
void actor__life_adopt_remote(struct actor__cell *parent, struct actor__bond *bond);

/* Notices that arrived: a child on another loop has gone; a parent there stops its child. */
void actor__life_child_gone(struct actor__loop *loop, struct actor__notice *up);
void actor__life_terminate(struct actor__loop *loop, struct actor__notice *down);

/* Frees a cell's memory: to the pool, or to the heap if it came from outside. */
void actor__life_free(struct actor__loop *loop, struct actor__cell *cell);

/* The number of actors of all loops that have been created and are not gone; exact when no
 * thread spawns. Any thread. */
uint64_t actor__life_count(const struct actor_system *system);

#endif
