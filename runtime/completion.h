/* SPDX-License-Identifier: MIT */
/* Ends handlers that were pending, in a turn of their actor. The cell's loop. */
#ifndef ACTOR_COMPLETION_H
#define ACTOR_COMPLETION_H

#include "turn.h"

/* The signal COMPLETED is set: calls the completion's callback, then ends the handler and its
 * message. False: it goes on pending. `turn` NULL: not observed. */
bool actor__completion_run(struct actor__cell *cell, struct actor__turn *turn);

#endif
