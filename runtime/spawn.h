/* SPDX-License-Identifier: MIT */
/* The second half of a spawn, on the new actor's loop. */
#ifndef ACTOR_SPAWN_H
#define ACTOR_SPAWN_H

#include "spec.h"

/* A cell that another thread made arrives on its loop: it gets its dispatcher and starts. */
void actor__spawn_arrive(struct actor__loop *loop, struct actor__notice *news);

#endif
