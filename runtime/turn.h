/* SPDX-License-Identifier: MIT */
/* Handles messages of one cell, one after the other; the caller applies the outcome. */
#ifndef ACTOR_TURN_H
#define ACTOR_TURN_H

#include "deliver.h"
#include "observe.h"

/* Handles messages while `*left` allows it, and counts it down. EMPTY: the mailbox is empty,
 * BUDGET: nothing is left, STOP: a signal is set, look at it before going on. The observed version
 * also makes a record of each message; the caller sees to it that there is room. */
enum actor_abi_outcome actor__turn_plain(struct actor__cell *cell, uint32_t *left);
enum actor_abi_outcome actor__turn_observed(
	struct actor__cell *cell, const struct actor__turn *turn, uint32_t *left);

#endif
