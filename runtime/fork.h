/* SPDX-License-Identifier: MIT */
/* Systems that no call may use: a child of fork() has none of the threads. */
#ifndef ACTOR_FORK_H
#define ACTOR_FORK_H

#include "core.h"

#include <errno.h>

/* How many forks lie between the program's start and this process. */
extern uint32_t actor__fork_count;

/* Counts forks from now on. Any thread. */
void actor__fork_watch(void);

/* May it not be used: it is none, or another process's? */
static inline bool actor__forked(const struct actor_system *system)
{
	return !system || system->fork_count != actor__fork_count;
}

/* Why not. */
static inline int actor__refusal(const struct actor_system *system)
{
	return system ? -ECHILD : -EINVAL;
}

#endif
