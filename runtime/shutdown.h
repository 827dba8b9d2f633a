/* SPDX-License-Identifier: MIT */
/* Coordinated shutdown: the phases and their tasks, up to where closing begins (close.c).
 *
 * The tasks run on the first loop's thread, from the timer that closing looks by as well. Other
 * threads add tasks and complete them under the lock; the first loop sees it at its next look. */
#ifndef ACTOR_SHUTDOWN_H
#define ACTOR_SHUTDOWN_H

#include "core.h"

/* `timeout_ms`: of each phase. */
void actor__shutdown_init(struct actor__shutdown *shutdown, int64_t timeout_ms);
void actor__shutdown_fini(struct actor__shutdown *shutdown);

/* actor_system_shutdown(); `waited_for`: by actor_system_shutdown_wait(). */
int actor__shutdown_request(
	struct actor_system *system, actor_close_cb cb, void *data, bool waited_for);

/* Begins on the first loop's thread: the next look runs the first phase. */
void actor__shutdown_begin(struct actor_system *system);

/* One look: begins, waits for or gives up phases. True: all are over. The first loop. */
bool actor__shutdown_step(struct actor_system *system);

static inline bool actor__shutdown_begun(const struct actor_system *system)
{
	return atomic_load(&system->shutdown.begun) != 0;
}

#endif
