/* SPDX-License-Identifier: MIT */
/* Suspension: a cell that is held handles no messages, and neither does anything below it.
 *
 * A cell is held for its own failure (HELD_SELF) or because its parent is held (HELD_ABOVE), and
 * suspended as long as any reason is left: an actor whose failure is settled stays suspended while
 * one above it is not. Children on other loops follow by their bonds. HELD_BY_HAND is a reason
 * beside these, of this one cell: supervision neither sees it nor takes it away. The cell's loop. */
#ifndef ACTOR_HOLD_H
#define ACTOR_HOLD_H

#include "family.h"

/* Adds a reason, or takes it away; without any the cell asks for a turn. */
void actor__hold(struct actor__cell *cell, enum actor__hold reason);
void actor__release(struct actor__cell *cell, enum actor__hold reason);

#endif
