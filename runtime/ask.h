/* SPDX-License-Identifier: MIT */
/* The end of an ask's time. */
#ifndef ACTOR_ASK_H
#define ACTOR_ASK_H

#include "core.h"

/* Of an ask's deadline: the asker is told by its own mailbox. The loop's thread. */
void actor__ask_expired(struct actor__loop *loop, struct actor__deadline *deadline);

/* Does the calling thread run, or drive, a loop of the system? Then it must not wait for an actor. */
static inline bool actor__ask_deadlocks(const struct actor_system *system)
{
	for (uint32_t i = 0; i < system->loop_count; i++)
		if (actor__loop_here(system->loops[i]))
			return true;
	return system->driver && system->driver->thread == (uintptr_t)pthread_self();
}

#endif
