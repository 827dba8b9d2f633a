/* SPDX-License-Identifier: MIT */
/* Handles messages of one cell, one after the other; the caller applies the outcome. */
#ifndef ACTOR_TURN_H
#define ACTOR_TURN_H

#include "deliver.h"
#include "observe.h"

/* Handles up to `most` messages; adds them to turn->messages. EMPTY: the mailbox is empty, BUDGET:
 * `most` were handled, STOP: a signal is set, look at it before going on. The observed version
 * also makes a record of each message, so at most ACTOR__BATCH of them. */
enum actor_abi_outcome actor__turn_plain(
	struct actor__cell *cell, struct actor__turn *turn, uint32_t most);
enum actor_abi_outcome actor__turn_observed(
	struct actor__cell *cell, struct actor__turn *turn, uint32_t most);

#endif
