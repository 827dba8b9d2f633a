/* SPDX-License-Identifier: MIT */
/* Time-outs of asks, called by the loop's timer. */
#ifndef ACTOR_ASK_H
#define ACTOR_ASK_H

#include "core.h"

/* Tells each asker whose time is over, and arms the timer for the next. The loop's thread. */
void actor__asks_expire(struct actor__loop *loop);

#endif
