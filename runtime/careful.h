/* SPDX-License-Identifier: MIT */
/* The slow way through a turn, for actors with something before or behind each message: a mailbox
 * that is no plain FIFO, a throttle, a receive time-out. Their state has the bit ACTOR__CAREFUL.
 * The cell's loop. */
#ifndef ACTOR_CAREFUL_H
#define ACTOR_CAREFUL_H

#include "turn.h"

/* As actor__turn_run(). `turn` NULL: nobody listens. */
enum actor_abi_outcome actor__careful_run(
	struct actor__cell *cell, const struct actor__turn *turn, uint32_t *left);

#endif
