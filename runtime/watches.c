/* SPDX-License-Identifier: MIT */
/* The table of an actor's watches. */
#include "watches.h"

#include <errno.h>

struct actor__watch *actor__watches_add(
	struct actor__cell *cell, actor_ref subject, const struct actor__envelope *message)
{
	struct actor__extra *extra = actor__extra_of(cell);
	struct actor__watch *watch = extra ? actor__heap_zero(sizeof(*watch)) : NULL;

	if (!watch)
		return NULL;
	if (actor__index_find(&extra->watches, subject))
		actor__index_remove(&extra->watches, subject); /* leaves room for one */
	if (!actor__index_add(&extra->watches, subject, watch)) {
		actor__heap_free(watch);
		return NULL;
	}
	actor__vigil_init(&watch->vigil, cell->self, subject, ++cell->loop->watch_number, 2);
	watch->message = *message;
	return watch;
}

void actor__watches_remove(struct actor__cell *cell, struct actor__watch *watch)
{
	struct actor__index *index = &cell->extra->watches;

	actor__index_remove(index, watch->vigil.subject);
	actor__index_rest(index);
}

/* The watch that an envelope is about, by subject and number. */
static struct actor__watch *watch_of(
	const struct actor__cell *cell, const struct actor__envelope *e)
{
	struct actor__watch *watch = actor__watches_find(cell, e->sender);

	return watch && watch->vigil.number == e->ask ? watch : NULL;
}

bool actor__watches_end(struct actor__cell *cell, const struct actor__envelope *word,
	struct actor__envelope *message)
{
	struct actor__watch *watch = watch_of(cell, word);

	if (!watch)
		return false;
	if (actor__cell_life(cell) >= ACTOR__TERMINATING) {
		watch->state = ACTOR__WATCH_OVER;
		return false;
	}
	watch->state = ACTOR__WATCH_QUEUED;
	*message = watch->message;
	message->ask = word->ask;
	message->stamp = word->stamp;
	message->flags |= (uint8_t)(ACTOR__ENDED | (word->flags & ACTOR__FOREIGN));
	if (watch->plain)
		((struct actor_termination *)(void *)message->inlined)->code = word->status;
	return true;
}

void actor__watches_unqueue(struct actor__cell *cell, const struct actor__envelope *message)
{
	watch_of(cell, message)->state = ACTOR__WATCHING;
}

bool actor__watches_accept(struct actor__cell *cell, struct actor__envelope *message)
{
	struct actor__watch *watch = watch_of(cell, message);

	message->ask = 0;
	message->flags &= (uint8_t)~ACTOR__ENDED;
	if (!watch)
		return false;
	actor__watches_remove(cell, watch);
	actor__vigil_drop(&watch->vigil);
	return true;
}
