/* SPDX-License-Identifier: MIT */
/* The multi-producer inbox of a loop. */
#include "inbox.h"

static struct actor__letter closed; /* only its address means something */

struct actor__letter *actor__letter_new(void)
{
	return actor__heap_alloc(sizeof(struct actor__letter));
}

void actor__letter_free(struct actor__letter *letter)
{
	actor__heap_free(letter);
}

int actor__inbox_push(struct actor__inbox *inbox, struct actor__letter *letter)
{
	struct actor__letter *newest = atomic_load_explicit(&inbox->newest, memory_order_relaxed);

	do {
		if (newest == &closed)
			return ACTOR_ECLOSED;
		letter->next = newest;
		/* seq_cst: the sleeping flag is read after the letter is visible (loop.c). */
	} while (!atomic_compare_exchange_weak(&inbox->newest, &newest, letter));
	return 0;
}

static struct actor__letter *turn_round(struct actor__letter *newest)
{
	struct actor__letter *oldest = NULL;

	if (newest == &closed)
		return NULL;
	while (newest) {
		struct actor__letter *next = newest->next;

		newest->next = oldest;
		oldest = newest;
		newest = next;
	}
	return oldest;
}

struct actor__letter *actor__inbox_take(struct actor__inbox *inbox)
{
	struct actor__letter *newest = atomic_load_explicit(&inbox->newest, memory_order_acquire);

	if (!newest || newest == &closed)
		return NULL;
	return turn_round(atomic_exchange(&inbox->newest, NULL));
}

struct actor__letter *actor__inbox_close(struct actor__inbox *inbox)
{
	return turn_round(atomic_exchange(&inbox->newest, &closed));
}

int actor__inbox_empty(struct actor__inbox *inbox)
{
	struct actor__letter *newest = atomic_load(&inbox->newest);

	return !newest || newest == &closed;
}
