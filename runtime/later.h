/* SPDX-License-Identifier: MIT */
/* Letters for a later time, kept by the receiver's loop until then. */
#ifndef ACTOR_LATER_H
#define ACTOR_LATER_H

#include "core.h"

/* A letter whose deadline says when; the loop owns it from now on. The loop's thread. */
void actor__later_arrive(struct actor__loop *loop, struct actor__letter *letter);

/* The loop ends: what it keeps goes to the dead letters. */
void actor__later_end(struct actor__loop *loop);

#endif
