/* SPDX-License-Identifier: MIT */
/* Parents and children: links on one loop, bonds between loops. The cell's loop. */
#ifndef ACTOR_FAMILY_H
#define ACTOR_FAMILY_H

#include "bond.h"
#include "dispatcher.h"
#include "slots.h"

/* The parent if it lives on the same loop, else NULL. */
struct actor__cell *actor__family_parent(const struct actor__cell *cell);

/* Links a cell into its parent, or into the loop's top level. */
void actor__family_adopt(
	struct actor__loop *loop, struct actor__cell *parent, struct actor__cell *cell);

/* Notes a child on another loop. */
void actor__family_adopt_remote(struct actor__cell *parent, struct actor__bond *bond);

/* A cell leaves: its parent is told, wherever it lives. */
void actor__family_leave(struct actor__cell *cell);

/* A notice that arrived: a child on another loop has gone. */
void actor__family_child_gone(struct actor__loop *loop, struct actor__notice *up);

/* Asks all children to stop. */
void actor__family_terminate(struct actor__cell *cell);

/* The cell after this one in the subtree below `top`, parents first; NULL: it was the last one on
 * this loop. Without `deeper` what is below `cell` is left out. */
struct actor__cell *actor__family_next(
	const struct actor__cell *top, struct actor__cell *cell, bool deeper);

#endif
