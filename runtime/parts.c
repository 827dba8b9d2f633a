/* SPDX-License-Identifier: MIT */
/* Each feature's part is asked and emptied here. */
#include "parts.h"

#include "box.h"
#include "job.h"
#include "stash.h"
#include "throttle.h"
#include "timeout.h"
#include "timers.h"

void actor__extra_careful(struct actor__cell *cell)
{
	const struct actor__extra *extra = cell->extra;
	uint8_t before = cell->state;

	if (extra && (extra->box || actor__stash_replays(extra->stash) ||
			     actor__timeout_on(extra->timeout) || actor__throttle_on(extra->throttle)))
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
	actor__timers_clear(cell);
	actor__stash_clear(cell->extra->stash, cell);
	actor__jobs_clear(cell);
}

void actor__extra_free(struct actor__cell *cell)
{
	if (!cell->extra)
		return;
	actor__behaviours_clear(&cell->extra->behaviours);
	actor__box_free(cell->extra->box);
	actor__heap_free(cell->extra->stash);
	actor__timeout_free(cell->extra->timeout);
	actor__throttle_free(cell->extra->throttle);
	actor__budget_fini(&cell->extra->budget);
	actor__heap_free(cell->extra->strategy);
	actor__heap_free(cell->extra);
	cell->extra = NULL;
}
