/* SPDX-License-Identifier: MIT */
/* Calls of a class's hooks. The cell's loop, inside its turn. */
#ifndef ACTOR_HOOK_H
#define ACTOR_HOOK_H

#include "core.h"

/* Each makes the context ready, calls the hook, and leaves the text of a failure in it. The result
 * is 0 or the code of the failure. */
int actor__hook_start(struct actor__cell *cell);
int actor__hook_post_restart(struct actor__cell *cell, int code);

/* A failure of these ends nothing; it is logged. */
void actor__hook_stop(struct actor__cell *cell);
void actor__hook_pre_restart(struct actor__cell *cell, int code);

/* Do its children outlive a restart? */
bool actor__hook_keeps_children(const struct actor__cell *cell);

#endif
