/* SPDX-License-Identifier: MIT */
/* The multi-producer inbox of a loop. */
#include "inbox.h"

static struct actor__link closed; /* only its address means something */

struct actor__letter *actor__letter_new(void)
{
	struct actor__letter *letter = actor__heap_alloc(sizeof(*letter));

	if (letter)
		letter->deadline.at_ms = 0;
	return letter;
}

void actor__letter_free(struct actor__letter *letter)
{
	actor__heap_free(letter);
}

int actor__inbox_push(struct actor__inbox *inbox, struct actor__link *link)
{
	struct actor__link *newest = atomic_load_explicit(&inbox->newest, memory_order_relaxed);

	do {
		if (newest == &closed)
			return ACTOR_ECLOSED;
		link->next = newest;
		/* seq_cst: the sleeping flag is read after the node is visible (loop.c). */
	} while (!atomic_compare_exchange_weak(&inbox->newest, &newest, link));
	return 0;
}

static struct actor__link *turn_round(struct actor__link *newest)
{
	struct actor__link *oldest = NULL;

	if (newest == &closed)
		return NULL;
	while (newest) {
		struct actor__link *next = newest->next;

		newest->next = oldest;
		oldest = newest;
		newest = next;
	}
	return oldest;
}

static struct actor__link *kept_take(struct actor__inbox *inbox)
{
	struct actor__link *kept = atomic_load_explicit(&inbox->kept, memory_order_relaxed);

	if (kept)
		actor__inbox_keep(inbox, NULL);
	return kept;
}

struct actor__link *actor__inbox_take(struct actor__inbox *inbox)
{
	struct actor__link *kept = kept_take(inbox);
	struct actor__link *newest;

	if (kept)
		return kept;
	newest = atomic_load_explicit(&inbox->newest, memory_order_acquire);
	if (!newest || newest == &closed)
		return NULL;
	return turn_round(atomic_exchange(&inbox->newest, NULL));
}

void actor__inbox_keep(struct actor__inbox *inbox, struct actor__link *rest)
{
	atomic_store_explicit(&inbox->kept, rest, memory_order_release);
}

struct actor__link *actor__inbox_close(struct actor__inbox *inbox)
{
	struct actor__link *newer = turn_round(atomic_exchange(&inbox->newest, &closed));
	struct actor__link *kept = kept_take(inbox);
	struct actor__link *last = kept;

	if (!kept)
		return newer;
	while (last->next)
		last = last->next;
	last->next = newer;
	return kept;
}

int actor__inbox_empty(struct actor__inbox *inbox)
{
	struct actor__link *newest = atomic_load(&inbox->newest);

	return (!newest || newest == &closed) &&
	       !atomic_load_explicit(&inbox->kept, memory_order_acquire);
}
