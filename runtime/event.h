/* SPDX-License-Identifier: MIT */
/* The runtime's own events, for those parts that have something to tell: a look whether anybody
 * has subscribed, and the way to events.c, which lies above them. A loop's thread. */
#ifndef ACTOR_EVENT_H
#define ACTOR_EVENT_H

#include "core.h"

/* Set by actor__events_init(). 0 or positive, or the first error. */
extern int (*actor__event_publish)(
	struct actor__loop *loop, struct actor_type *type, const void *payload, size_t bytes);

/* Does anybody want any event at all? */
static inline bool actor__event_any(const struct actor_system *system)
{
	return atomic_load_explicit(&system->subscriptions.mask, memory_order_relaxed) != 0;
}

/* An event of SPAWN (when on_start has succeeded), STOP, FAILURE or RESTART of an actor, which may
 * live on another loop. */
void actor__event_life_publish(struct actor__loop *loop, enum actor_abi_life life,
	const struct actor_class *cls, const struct actor_life_event *about);

/* The same of an actor of the loop. */
static inline void actor__event_life(
	const struct actor__cell *cell, enum actor_abi_life life, int32_t code)
{
	struct actor_life_event about = {.actor = cell->self, .parent = cell->parent, .code = code};

	if (ACTOR__UNLIKELY(actor__event_any(cell->loop->system)))
		actor__event_life_publish(cell->loop, life, cell->cls, &about);
}

/* Of a message that found no actor, which stays the caller's; and of a unit that failed, with the
 * first error of telling somebody. */
void actor__event_dead_letter(
	struct actor__loop *loop, actor_ref recipient, const struct actor_message *message);
int actor__event_dispatcher_error(
	const struct actor_dispatcher *dispatcher, int32_t code, actor_ref actor);

#endif
