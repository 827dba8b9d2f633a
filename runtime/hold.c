/* SPDX-License-Identifier: MIT */
/* Holding and releasing whole subtrees, without recursion: they may be deep. */
#include "hold.h"

#include "observe.h"

static void changed(struct actor__cell *cell, bool on)
{
	if (on)
		cell->state |= ACTOR__SUSPENDED;
	else
		cell->state &= (uint8_t)~ACTOR__SUSPENDED;
	/* In its own turn, which must not go on; and a time-out may be due that no message tells of. */
	if (cell->unit.state == ACTOR__UNIT_RUNNING || (!on && cell->state & ACTOR__CAREFUL))
		cell->signals |= ACTOR__SIGNAL_LOOK;
	actor__observe_life(cell->loop, on ? ACTOR_ABI_LIFE_SUSPEND : ACTOR_ABI_LIFE_RESUME,
		cell->cls->id, cell->self, cell->parent, 0);
	if (!on)
		actor__cell_ask(cell);
}

/* True: for what is below it this makes a difference. */
static bool reason_set(struct actor__cell *cell, uint8_t reason, bool on)
{
	uint8_t before = cell->holds;

	cell->holds = (uint8_t)(on ? before | reason : before & ~reason);
	/* Its failing start was left to those above, and they go on. */
	if (!on && reason == ACTOR__HELD_ABOVE && cell->flags & ACTOR__WANTED &&
		!(cell->flags & ACTOR__AWAITS))
		actor__cell_signal(cell, ACTOR__SIGNAL_RESTART);
	if (!before != !cell->holds)
		changed(cell, on);
	return !(before & ACTOR__HELD_SUBTREE) != !(cell->holds & ACTOR__HELD_SUBTREE);
}

static void set(struct actor__cell *top, uint8_t reason, bool on)
{
	struct actor__cell *cell = top;
	bool differs = reason_set(top, reason, on);

	while (cell) {
		if (differs)
			actor__bonds_order(
				cell, on ? ACTOR__ORDER_HOLD : 0, on ? 0 : ACTOR__ORDER_HOLD);
		cell = actor__family_next(top, cell, differs);
		differs = cell && reason_set(cell, ACTOR__HELD_ABOVE, on);
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
