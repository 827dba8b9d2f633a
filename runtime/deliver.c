/* SPDX-License-Identifier: MIT */
/* Delivery on the receiver's loop, and dead letters. */
#include "deliver.h"

#include "observe.h"
#include "timers.h"

#include <errno.h>

void actor__dead_letter(struct actor__loop *loop, struct actor__envelope *e)
{
	struct actor_system *system = loop->system;

	if (e->flags & ACTOR__POISON || !e->type)
		return; /* stopping what is gone; an ask's own time-out */
	if (actor__envelope_timed(e)) {
		actor__envelope_release(e); /* the timer ends with its actor */
		return;
	}
	actor__counter_add(&loop->dead_letters, 1);
	ACTOR__FIRE(dead_letter, e->to, e->sender, e->type, 0);
	actor__observe_life(loop, ACTOR_ABI_LIFE_DEAD_LETTER, 0, e->to, e->sender, e->type);
	if (system->on_dead_letter) {
		struct actor_message message;

		actor__envelope_open(e, &message);
		system->on_dead_letter(system->on_dead_letter_data, e->to, &message);
	}
	actor__envelope_release(e);
}

void actor__observe_enqueue(
	const struct actor__cell *cell, const struct actor__envelope *e, bool asked)
{
	ACTOR__FIRE(enqueue, cell->self, e->sender, e->type, cell->mailbox.count, asked,
		cell->cls->id);
	(void)cell;
	(void)e;
	(void)asked;
}

void actor__drop(struct actor__cell *cell, struct actor__envelope *e, enum actor_abi_drop reason)
{
	actor__counter_add(&cell->loop->dropped, 1);
	ACTOR__FIRE(drop, cell->self, e->sender, e->type, reason, cell->cls->id);
	actor__observe_life(
		cell->loop, ACTOR_ABI_LIFE_DROP, cell->cls->id, cell->self, e->sender, reason);
	if (actor__envelope_timed(e))
		actor__timers_dropped(cell, e);
	actor__envelope_release(e);
}

/* No memory for the mailbox. A stop needs none if nothing is queued before it, and an actor that
 * is stopping would not handle mail anyhow. One that has not arrived yet has no dispatcher. */
static int deliver_without(
	struct actor__loop *loop, struct actor__cell *cell, struct actor__envelope *e)
{
	if (actor__cell_life(cell) >= ACTOR__TERMINATING) {
		actor__dead_letter(loop, e);
		return 0;
	}
	if (!(e->flags & ACTOR__POISON) || cell->mailbox.count || !cell->unit.dispatcher)
		return -ENOMEM;
	cell->signals |= ACTOR__SIGNAL_TERMINATE;
	actor__cell_ask(cell);
	return 0;
}

int actor__deliver(struct actor__loop *loop, struct actor__envelope *e)
{
	struct actor__cell *cell = actor__slot_find(loop, e->to);
	struct actor__envelope *place;
	bool asked;

	if (!cell) {
		actor__dead_letter(loop, e);
		return 0;
	}
	place = actor__mailbox_push(&cell->mailbox, &loop->pool);
	if (!place)
		return deliver_without(loop, cell, e);
	*place = *e;
	asked = actor__cell_ask(cell);
	if (ACTOR__LISTENED(enqueue) && !(e->flags & ACTOR__POISON))
		actor__observe_enqueue(cell, place, asked);
	return 0;
}
