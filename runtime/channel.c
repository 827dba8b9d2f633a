/* SPDX-License-Identifier: MIT */
/* The sending half of mail between loops. */
#include "channel.h"

#include <errno.h>

/* The channel to a loop, made on first use; NULL: no memory. */
static struct actor__channel *channel_to(struct actor__loop *from, struct actor__loop *to)
{
	struct actor__channel *channel = from->out[to->id];

	if (ACTOR__LIKELY(channel != NULL))
		return channel;
	channel = actor__heap_zero(sizeof(*channel));
	if (!channel)
		return NULL;
	channel->ring = actor__ring_new(from->system->ring_slots);
	if (!channel->ring) {
		actor__heap_free(channel);
		return NULL;
	}
	channel->first = channel->ring;
	atomic_store_explicit(&channel->read, channel->ring, memory_order_relaxed);
	channel->from = from;
	channel->to = to;
	from->out[to->id] = channel;
	/* Release: the receiver finds the ring complete. */
	atomic_store_explicit(&to->in[from->id], channel, memory_order_release);
	atomic_fetch_or(&to->in_set[from->id / 64], 1ull << from->id % 64);
	return channel;
}

static int overflow_push(struct actor__loop *from, struct actor__channel *channel,
	const struct actor__envelope *envelope)
{
	struct actor__envelope *place = actor__mailbox_push(&channel->overflow, &from->pool);

	if (!place)
		return -ENOMEM;
	*place = *envelope;
	atomic_store_explicit(&channel->queued, channel->overflow.count, memory_order_relaxed);
	return 0;
}

bool actor__channel_widen(struct actor__loop *from, struct actor__channel *channel)
{
	uint32_t slots = channel->ring->slots * 4;
	struct actor__ring *wider;

	if (channel->overflow.count || slots > from->system->ring_slots_most)
		return false;
	wider = actor__ring_new(slots);
	if (!wider)
		return false;
	atomic_store_explicit(&channel->ring->next, wider, memory_order_release);
	channel->ring = wider;
	return true;
}

int actor__channel_send(
	struct actor__loop *from, struct actor__loop *to, const struct actor__envelope *envelope)
{
	struct actor__channel *channel = channel_to(from, to);

	if (!channel)
		return -ENOMEM;
	if (ACTOR__UNLIKELY(channel->overflow.count) ||
		(!actor__ring_push(channel->ring, envelope) &&
			!(actor__channel_widen(from, channel) &&
				actor__ring_push(channel->ring, envelope)))) {
		int rc = overflow_push(from, channel, envelope);

		if (rc)
			return rc;
	}
	actor__channel_touched(from, channel);
	return 0;
}

static void overflow_drain(struct actor__loop *loop, struct actor__channel *channel)
{
	struct actor__mailbox *overflow = &channel->overflow;

	while (overflow->count) {
		if (!actor__ring_push(channel->ring, overflow->first))
			break;
		actor__mailbox_pop(overflow);
		actor__mailbox_done(overflow, &loop->pool);
	}
	actor__mailbox_rest(overflow, &loop->pool);
	atomic_store_explicit(&channel->queued, overflow->count, memory_order_relaxed);
}

void actor__channels_flush(struct actor__loop *loop)
{
	struct actor__channel *channel = loop->dirty;
	struct actor__channel *kept = NULL;

	loop->dirty = NULL;
	while (channel) {
		struct actor__channel *next = channel->next_dirty;

		if (channel->overflow.count && !atomic_load_explicit(&channel->waiting, memory_order_relaxed)) {
			/* Partner: receive.c clears it after it made room, and wakes us. */
			atomic_store(&channel->waiting, 1);
			overflow_drain(loop, channel);
		}
		/* Partner: the fence between `sleeping = 1` and the look at the rings (loop.c). */
		actor__fence();
		actor__loop_rouse(channel->to);
		if (channel->overflow.count) {
			channel->next_dirty = kept;
			kept = channel;
		} else {
			channel->dirty = false;
		}
		channel = next;
	}
	loop->dirty = kept;
}

int actor__inbox_send(struct actor__loop *to, const struct actor__envelope *envelope)
{
	struct actor__letter *letter = actor__letter_new();
	int rc;

	if (!letter)
		return -ENOMEM;
	letter->envelope = *envelope;
	rc = actor__inbox_push(&to->inbox, &letter->link);
	if (rc) {
		actor__letter_free(letter);
		return rc;
	}
	actor__loop_rouse(to); /* the push was a full fence */
	return 0;
}
