/* SPDX-License-Identifier: MIT */
/* Mail to other loops: a ring per pair of loops, and behind it the sender's overflow list.
 *
 * Wake-up. The receiver sets `sleeping`, full fence, looks at its rings, polls. The sender
 * publishes, full fence, tests `sleeping`. Whoever is second sees the other. The sender fences
 * once per turn and channel (flush), not once per message; before that it looks without a fence,
 * so that a receiver that sleeps already is woken at once. */
#ifndef ACTOR_CHANNEL_H
#define ACTOR_CHANNEL_H

#include "handles.h"

/* Sends an envelope from a loop to a loop of the same system. The loop's thread. 0 or -ENOMEM. */
int actor__channel_send(
	struct actor__loop *from, struct actor__loop *to, const struct actor__envelope *envelope);

/* Puts a larger ring behind a full one; false: there is none larger, or no memory. */
bool actor__channel_widen(struct actor__loop *from, struct actor__channel *channel);

/* After a publish: the channel is flushed with the others, a sleeping receiver is woken at once. */
static inline void actor__channel_touched(struct actor__loop *from, struct actor__channel *channel)
{
	if (!channel->dirty) {
		channel->dirty = true;
		channel->next_dirty = from->dirty;
		from->dirty = channel;
	}
	if (ACTOR__UNLIKELY(atomic_load_explicit(&channel->to->sleeping, memory_order_relaxed)))
		actor__handles_signal(channel->to);
}

/* Moves what waits into the rings and wakes sleepers. Called after each unit if loop->dirty. */
void actor__channels_flush(struct actor__loop *loop);

/* Sends from any thread, by the inbox. ACTOR_ECLOSED, -ENOMEM. */
int actor__inbox_send(struct actor__loop *to, const struct actor__envelope *envelope);

/* Wakes `to` if it sleeps; after the mail was published with a full fence. */
static inline void actor__loop_rouse(struct actor__loop *to)
{
	if (atomic_load(&to->sleeping))
		actor__handles_signal(to);
}

#endif
