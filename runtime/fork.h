/* SPDX-License-Identifier: MIT */
/* A child of fork() has none of the threads; its calls are refused. */
#ifndef ACTOR_FORK_H
#define ACTOR_FORK_H

#include "core.h"

/* How many forks lie between the program's start and this process. */
extern uint32_t actor__fork_count;

/* Counts forks from now on. Any thread. */
void actor__fork_watch(void);

static inline bool actor__forked(const struct actor_system *system)
{
	return system->fork_count != actor__fork_count;
}

#endif
