/* SPDX-License-Identifier: MIT */
/* The root's table of mailboxes with 10 000 messages or more. All loops share it: an entry is taken
 * by a compare-and-swap of its actor, and is that actor's loop's alone until it is 0 again. When the
 * table is full a mailbox is left out until it grows again. */
#ifndef ACTOR_DEEP_H
#define ACTOR_DEEP_H

#include <stdint.h>

#define ACTOR__DEEP 10000u /* messages that make a mailbox deep */

/* 1 + the entry taken for this actor, 0: there is none left. */
uint8_t actor__deep_enter(uint64_t actor);

/* What is true of it now; gives the entry up when the mailbox is deep no more. Returns `entry`, or
 * 0. `oldest`: stamp of the oldest message, 0 = unknown. */
uint8_t actor__deep_write(uint8_t entry, uint64_t depth, uint64_t oldest);

#endif
