/* SPDX-License-Identifier: MIT */
/* Decides what a failure leads to; it only decides, life.c acts. */
#ifndef ACTOR_SUPERVISION_H
#define ACTOR_SUPERVISION_H

#include "core.h"

enum actor__directive {
	ACTOR__STOP = 1, /* the only one so far */
};

/* The directive for a cell that failed with cell->failure. */
enum actor__directive actor__supervision_decide(const struct actor__cell *cell);

#endif
