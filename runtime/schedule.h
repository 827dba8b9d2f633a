/* SPDX-License-Identifier: MIT */
/* One turn of an actor from begin to end, and what comes after it. */
#ifndef ACTOR_SCHEDULE_H
#define ACTOR_SCHEDULE_H

#include "core.h"

/* The function of a cell's unit: signals, messages within the budget, signals; then the cell rests
 * or asks for its next turn. Returns 0 (a handler's failure is not the dispatcher's). */
int actor__schedule_run(struct actor_unit *unit);

#endif
