/* SPDX-License-Identifier: MIT */
/* Making, emptying and freeing of a cell's extra part. */
#include "extra.h"

struct actor__extra *actor__extra_of(struct actor__cell *cell)
{
	if (!cell->extra)
		cell->extra = actor__heap_zero(sizeof(*cell->extra));
	return cell->extra;
}

void actor__extra_careful(struct actor__cell *cell)
{
	const struct actor__extra *extra = cell->extra;
	uint8_t before = cell->state;

	if (extra && actor__stash_replays(extra->stash))
		cell->state |= ACTOR__CAREFUL;
	else
		cell->state &= (uint8_t)~ACTOR__CAREFUL;
	if (cell->state != before && cell->unit.state == ACTOR__UNIT_RUNNING)
		cell->signals |= ACTOR__SIGNAL_LOOK;
}

void actor__extra_clear(struct actor__cell *cell)
{
	cell->receive = cell->cls->on_message;
	if (!cell->extra)
		return;
	actor__behaviours_clear(&cell->extra->behaviours);
	actor__stash_clear(cell->extra->stash, cell->loop);
}

void actor__extra_free(struct actor__cell *cell)
{
	if (!cell->extra)
		return;
	actor__behaviours_clear(&cell->extra->behaviours);
	actor__heap_free(cell->extra->stash);
	actor__heap_free(cell->extra);
	cell->extra = NULL;
}
