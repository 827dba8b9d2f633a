/* SPDX-License-Identifier: MIT */
/* Holding and releasing whole subtrees, without recursion: they may be deep. */
#include "hold.h"

#include "observe.h"

/* True: it was or became free by this, so that what is below it changes, too. */
static bool reason_set(struct actor__cell *cell, uint8_t reason, bool on)
{
	uint8_t before = cell->holds;

	cell->holds = (uint8_t)(on ? before | reason : before & ~reason);
	/* Its failing start was left to those above, and they go on. */
	if (!on && reason == ACTOR__HELD_ABOVE && cell->flags & ACTOR__WANTED &&
		!(cell->flags & ACTOR__AWAITS))
		actor__cell_signal(cell, ACTOR__SIGNAL_RESTART);
	if (!before == !cell->holds)
		return false;
	if (on)
		cell->state |= ACTOR__SUSPENDED;
	else
		cell->state &= (uint8_t)~ACTOR__SUSPENDED;
	actor__observe_life(cell->loop, on ? ACTOR_ABI_LIFE_SUSPEND : ACTOR_ABI_LIFE_RESUME,
		cell->cls->id, cell->self, cell->parent, 0);
	if (!on)
		actor__cell_ask(cell);
	return true;
}

static void set(struct actor__cell *top, uint8_t reason, bool on)
{
	struct actor__cell *cell = top;
	bool changed = reason_set(top, reason, on);

	while (cell) {
		if (changed)
			actor__bonds_order(
				cell, on ? ACTOR__ORDER_HOLD : 0, on ? 0 : ACTOR__ORDER_HOLD);
		cell = actor__family_next(top, cell, changed);
		changed = cell && reason_set(cell, ACTOR__HELD_ABOVE, on);
	}
}

void actor__hold(struct actor__cell *cell, enum actor__hold reason)
{
	set(cell, reason, true);
}

void actor__release(struct actor__cell *cell, enum actor__hold reason)
{
	set(cell, reason, false);
}
