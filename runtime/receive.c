/* SPDX-License-Identifier: MIT */
/* Empties rings and inbox into the mailboxes, and obeys notices. */
#include "receive.h"

#include "channel.h"
#include "deliver.h"
#include "family.h"
#include "farewell.h"
#include "fault.h"
#include "later.h"
#include "notice.h"
#include "pending.h"
#include "query.h"
#include "spawn.h"
#include "walk.h"

#include <errno.h>

#define LETTERS_MOST 1024 /* of one pass; and as many notices */

actor__order_cb actor__receive_order;

static void notice_take_in(struct actor__loop *loop, struct actor__notice *notice)
{
	switch (notice->command) {
	case ACTOR__CREATE:
		actor__spawn_arrive(loop, notice);
		break;
	case ACTOR__ORDERS:
		actor__fault_orders(loop, notice);
		break;
	case ACTOR__CHILD_GONE:
		actor__family_child_gone(loop, notice);
		break;
	case ACTOR__FAULT:
		actor__fault_arrive(loop, notice);
		break;
	case ACTOR__DIRECTIVE:
		actor__fault_directive(loop, notice);
		break;
	case ACTOR__COMPLETED:
		actor__pending_arrive((struct actor__pending *)notice);
		break;
	case ACTOR__ASKED:
		actor__query_arm(loop, notice);
		break;
	case ACTOR__WATCH:
		actor__farewell_begun(loop, notice);
		break;
	case ACTOR__UNWATCH:
		actor__farewell_cancelled(loop, notice);
		break;
	case ACTOR__WALK:
		actor__walk_arrive(loop, notice->pointer);
		break;
	case ACTOR__HURRY:
		actor__farewell_hurried(loop, notice);
		break;
	default:
		actor__receive_order(loop, notice->command);
	}
}

/* At most LETTERS_MOST, but all when the loop ends: nobody sends one then, and none may be left. */
static uint32_t notices_take_in(struct actor__loop *loop, struct actor__link *link)
{
	bool some = link != NULL;
	uint32_t count = 0;

	while (link && (count < LETTERS_MOST || loop->closed)) {
		struct actor__link *next = link->next;

		notice_take_in(loop, (struct actor__notice *)link);
		link = next;
		count++;
	}
	if (some && link)
		actor__inbox_keep(&loop->notices, link);
	return count;
}

/* The ring to read now: a wider one, when the one before is empty for good. */
static struct actor__ring *ring_of(struct actor__channel *channel)
{
	struct actor__ring *ring = atomic_load_explicit(&channel->read, memory_order_relaxed);
	struct actor__ring *next = actor__ring_follow(ring);

	if (next != ring)
		atomic_store_explicit(&channel->read, next, memory_order_release);
	return next;
}

static uint32_t receive_ring(struct actor__loop *loop, struct actor__channel *channel)
{
	struct actor__ring *ring = ring_of(channel);
	struct actor__envelope *e;
	uint32_t count = 0;

	/* At most one ring's worth, so that a fast sender does not hold the loop here. */
	while (count < ring->slots && (e = actor__ring_peek(ring))) {
		if (actor__deliver(loop, e))
			break; /* no memory for the mailbox: it stays where it is */
		actor__ring_pop(ring);
		count++;
	}
	if (!count)
		return 0;
	/* Partner: actor__channels_flush() sets `waiting` before it looks for room. */
	actor__fence();
	if (atomic_load_explicit(&channel->waiting, memory_order_relaxed)) {
		atomic_store(&channel->waiting, 0);
		actor__handles_signal(channel->from);
	}
	return count;
}

/* No memory for the mailbox, and no time to wait for it, since others' mail is behind it. A stop
 * that was accepted is held, true; an ask is refused, which is its thread's to know; else it is a
 * dead letter. */
static bool letter_held(struct actor__loop *loop, struct actor__letter *letter)
{
	struct actor__envelope *e = &letter->envelope;
	struct actor__link **last = &loop->held;

	if (e->flags & ACTOR__POISON) {
		while (*last)
			last = &(*last)->next;
		*last = &letter->link;
		letter->link.next = NULL;
		return true;
	}
	if (!(e->flags & ACTOR__WAITER) ||
		!actor__waiter_refuse(&loop->system->waiters, e->ask, -ENOMEM))
		actor__dead_letter(loop, e);
	else if (e->flags & ACTOR__COPY)
		actor__envelope_release(e); /* any other payload is the asker's again */
	return false;
}

/* Takes in letters from an oldest one on, at most so many; returns the rest. */
static struct actor__link *letters_take_in(
	struct actor__loop *loop, struct actor__link *link, uint32_t most, uint32_t *count)
{
	while (link && *count < most) {
		struct actor__letter *letter = (struct actor__letter *)link;

		link = link->next;
		++*count;
		if (letter->deadline.at_ms) {
			actor__later_arrive(loop, letter);
			continue;
		}
		if (!actor__deliver(loop, &letter->envelope) || !letter_held(loop, letter))
			actor__letter_free(letter);
	}
	return link;
}

void actor__receive_held(struct actor__loop *loop)
{
	struct actor__link *link = loop->held;
	uint32_t count = 0;

	loop->held = NULL;
	letters_take_in(loop, link, UINT32_MAX, &count);
}

/* At most LETTERS_MOST, so that threads that never stop telling do not hold the loop here. What
 * was taken from the inbox and has to wait is older than anything that is still in it. */
static uint32_t receive_letters(struct actor__loop *loop)
{
	struct actor__link *oldest = actor__inbox_take(&loop->inbox);
	uint32_t count = 0;

	if (!oldest)
		return 0;
	oldest = letters_take_in(loop, oldest, LETTERS_MOST, &count);
	if (oldest)
		actor__inbox_keep(&loop->inbox, oldest);
	return count;
}

uint32_t actor__receive(struct actor__loop *loop)
{
	/* Taken first and obeyed last: mail that was in a ring before a notice was sent is before it. */
	struct actor__link *notices = actor__inbox_take(&loop->notices);
	uint32_t count = 0;

	if (ACTOR__UNLIKELY(loop->held != NULL))
		actor__receive_held(loop); /* before what was told after it */
	for (uint32_t word = 0; word < ACTOR_ABI_LOOPS / 64; word++) {
		uint64_t set = atomic_load_explicit(&loop->in_set[word], memory_order_acquire);

		for (; set; set &= set - 1) {
			uint32_t id = word * 64 + (uint32_t)__builtin_ctzll(set);

			count += receive_ring(
				loop, atomic_load_explicit(&loop->in[id], memory_order_acquire));
		}
	}
	count += notices_take_in(loop, notices);
	return count + receive_letters(loop);
}

bool actor__receive_waiting(struct actor__loop *loop)
{
	if (!actor__inbox_empty(&loop->notices) || !actor__inbox_empty(&loop->inbox))
		return true;
	for (uint32_t word = 0; word < ACTOR_ABI_LOOPS / 64; word++) {
		uint64_t set = atomic_load_explicit(&loop->in_set[word], memory_order_acquire);

		for (; set; set &= set - 1) {
			uint32_t id = word * 64 + (uint32_t)__builtin_ctzll(set);
			struct actor__channel *channel =
				atomic_load_explicit(&loop->in[id], memory_order_acquire);

			struct actor__ring *ring =
				atomic_load_explicit(&channel->read, memory_order_acquire);

			if (!actor__ring_empty(ring) ||
				atomic_load_explicit(&ring->next, memory_order_acquire))
				return true;
		}
	}
	return false;
}

void actor__receive_close(struct actor__loop *loop)
{
	uint32_t count = 0;

	/* Closed first: nobody can keep the rest from ending. */
	letters_take_in(loop, actor__inbox_close(&loop->inbox), UINT32_MAX, &count);
	while (actor__receive(loop))
		;
}
