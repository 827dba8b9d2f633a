/* SPDX-License-Identifier: MIT */
/* A walk over all actors: loop by loop, each on its own thread, in units of a few actors.
 *
 * It goes by the loop's table, so that an actor that lives all the while is met exactly once,
 * whatever starts and stops in between. One walk has one unit and one notice, which go with it from
 * loop to loop; while a walk is under way the loops do not end. */
#ifndef ACTOR_WALK_H
#define ACTOR_WALK_H

#include "core.h"

/* A walk has come to this loop, in a notice. */
void actor__walk_arrive(struct actor__loop *loop, void *walk);

#endif
