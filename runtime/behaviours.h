/* SPDX-License-Identifier: MIT */
/* A stack of behaviours below the present one. The cell's loop. */
#ifndef ACTOR_BEHAVIOURS_H
#define ACTOR_BEHAVIOURS_H

#include "actor.h"

struct actor__behaviours {
	actor_receive_cb *below; /* the oldest first */
	uint32_t count;
	uint32_t room;
};

/* 0 or -ENOMEM. */
int actor__behaviours_push(struct actor__behaviours *behaviours, actor_receive_cb receive);

/* The newest one, which is taken off, or NULL. */
actor_receive_cb actor__behaviours_pop(struct actor__behaviours *behaviours);

/* Forgets and frees all. */
void actor__behaviours_clear(struct actor__behaviours *behaviours);

#endif
