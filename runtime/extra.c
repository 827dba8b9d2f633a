/* SPDX-License-Identifier: MIT */
/* Making of a cell's extra part. */
#include "extra.h"

struct actor__extra *actor__extra_of(struct actor__cell *cell)
{
	if (!cell->extra)
		cell->extra = actor__heap_zero(sizeof(*cell->extra));
	return cell->extra;
}
