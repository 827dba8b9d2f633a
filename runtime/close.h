/* SPDX-License-Identifier: MIT */
/* The end of a system: drain, stop, end; led by its first loop. */
#ifndef ACTOR_CLOSE_H
#define ACTOR_CLOSE_H

#include "core.h"

/* Connects closing to the loops. Any thread. */
void actor__close_init(void);

/* Frees a system whose loops are gone or never started. */
void actor__system_free(struct actor_system *system);

#endif
