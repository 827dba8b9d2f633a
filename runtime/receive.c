/* SPDX-License-Identifier: MIT */
/* Empties rings and inbox into the mailboxes. */
#include "receive.h"

#include "channel.h"
#include "deliver.h"
#include "life.h"
#include "spawn.h"

#define LETTERS_MOST 1024 /* of one pass */

actor__command_cb actor__receive_command;

static void command(struct actor__loop *loop, struct actor__envelope *e)
{
	struct actor__cell *cell = e->to ? actor__slot_find(loop, e->to) : NULL;

	switch (e->type) {
	case ACTOR__CREATE:
		actor__spawn_arrive(loop, e->to, e->pointer);
		break;
	case ACTOR__TERMINATE:
		if (cell)
			actor__life_signal(cell, ACTOR__SIGNAL_TERMINATE);
		break;
	case ACTOR__CHILD_GONE:
		if (cell)
			actor__life_child_gone(cell, e->sender);
		break;
	default:
		actor__receive_command(loop, e);
	}
}

/* False: no memory for the mailbox; the envelope stays where it is. */
static bool take_in(struct actor__loop *loop, struct actor__envelope *e)
{
	if (ACTOR__UNLIKELY(e->flags & ACTOR__CONTROL)) {
		command(loop, e);
		return true;
	}
	return actor__deliver(loop, e) == 0;
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
		if (!take_in(loop, e))
			break;
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

/* Takes in letters from an oldest one on, at most so many; returns the rest. */
static struct actor__letter *letters_take_in(
	struct actor__loop *loop, struct actor__letter *letter, uint32_t most, uint32_t *count)
{
	while (letter && *count < most) {
		struct actor__letter *next = letter->next;

		if (!take_in(loop, &letter->envelope))
			actor__dead_letter(loop, &letter->envelope);
		actor__letter_free(letter);
		letter = next;
		++*count;
	}
	return letter;
}

/* At most LETTERS_MOST, so that threads that never stop telling do not hold the loop here. What
 * was taken from the inbox and has to wait is older than anything that is still in it. */
static uint32_t receive_letters(struct actor__loop *loop)
{
	struct actor__letter *letter =
		atomic_load_explicit(&loop->letters, memory_order_relaxed);
	uint32_t count = 0;

	if (!letter)
		letter = actor__inbox_take(&loop->inbox);
	if (!letter)
		return 0;
	letter = letters_take_in(loop, letter, LETTERS_MOST, &count);
	atomic_store_explicit(&loop->letters, letter, memory_order_release);
	return count;
}

uint32_t actor__receive(struct actor__loop *loop)
{
	uint32_t count = 0;

	for (uint32_t word = 0; word < ACTOR_ABI_LOOPS / 64; word++) {
		uint64_t set = atomic_load_explicit(&loop->in_set[word], memory_order_acquire);

		for (; set; set &= set - 1) {
			uint32_t id = word * 64 + (uint32_t)__builtin_ctzll(set);

			count += receive_ring(
				loop, atomic_load_explicit(&loop->in[id], memory_order_acquire));
		}
	}
	return count + receive_letters(loop);
}

bool actor__receive_waiting(struct actor__loop *loop)
{
	if (!actor__inbox_empty(&loop->inbox) ||
		atomic_load_explicit(&loop->letters, memory_order_acquire))
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
	/* Closed first: nobody can keep the rest from ending. */
	struct actor__letter *last = actor__inbox_close(&loop->inbox);
	uint32_t count = 0;

	letters_take_in(loop, atomic_load_explicit(&loop->letters, memory_order_relaxed),
		UINT32_MAX, &count);
	atomic_store_explicit(&loop->letters, NULL, memory_order_release);
	count = 0;
	letters_take_in(loop, last, UINT32_MAX, &count);
	while (actor__receive(loop))
		;
}
