/* SPDX-License-Identifier: MIT */
/* Making, emptying and freeing of a cell's extra part. */
#include "extra.h"

struct actor__extra *actor__extra_of(struct actor__cell *cell)
{
	if (!cell->extra)
		cell->extra = actor__heap_zero(sizeof(*cell->extra));
	return cell->extra;
}

void actor__extra_clear(struct actor__cell *cell)
{
	cell->receive = cell->cls->on_message;
	if (!cell->extra)
		return;
	actor__behaviours_clear(&cell->extra->behaviours);
}

void actor__extra_free(struct actor__cell *cell)
{
	if (!cell->extra)
		return;
	actor__behaviours_clear(&cell->extra->behaviours);
	actor__heap_free(cell->extra);
	cell->extra = NULL;
}
