/* SPDX-License-Identifier: MIT */
/* Restarts: an actor's instance ends and a new one takes its place. The cell's loop.
 *
 * A cell that is to be restarted is held and gets the signal RESTART, at once or when its back-off
 * is over (DELAYED). The signal ends the instance: asks, behaviours, the hook. Then its children
 * stop, unless the class keeps them; the cell is parked meanwhile (PARKED) and gets the signal
 * REBUILD from the last of them. Then the state and the hook are new, and the cell is released.
 * TERMINATE wins at each of these places. */
#ifndef ACTOR_RESTART_H
#define ACTOR_RESTART_H

#include "hold.h"

/* Restarts a cell after so many milliseconds, for this cause; one that is about to be is left. */
void actor__restart(struct actor__cell *cell, int32_t cause, uint32_t delay_ms);

/* The signals RESTART and REBUILD; inside a turn. 0, or the code with which the new instance's
 * start failed. */
int actor__restart_begin(struct actor__cell *cell);
int actor__restart_rebuild(struct actor__cell *cell);

/* Forgets a restart, since the cell stops. */
void actor__restart_cancel(struct actor__cell *cell);

/* Cancels an instance's asks, without a call. */
void actor__asks_cancel(struct actor__cell *cell);

#endif
