/* SPDX-License-Identifier: MIT */
/* One message after the other, each with what belongs before and behind it. */
#include "careful.h"

#include "parts.h"
#include "queue.h"
#include "throttle.h"
#include "timeout.h"

/* May the next message be handled? Without a token it is not: it waits with the actor, or it is
 * dropped. */
static bool admitted(struct actor__cell *cell)
{
	struct actor__throttle *throttle = cell->extra ? cell->extra->throttle : NULL;
	const struct actor__envelope *ahead;

	if (!actor__throttle_on(throttle))
		return true;
	ahead = actor__queue_ahead(cell);
	if (!ahead || actor__envelope_kept(ahead) || actor__throttle_take(throttle))
		return true;
	if (throttle->mode == ACTOR_THROTTLE_PAUSE) {
		actor__throttle_pause(throttle);
	} else {
		struct actor__envelope *e = actor__queue_pop(cell);

		actor__drop(cell, e, ACTOR_ABI_DROP_THROTTLE);
		actor__queue_done(cell, e);
	}
	return false;
}

/* Something was handled; did it go well? */
static void went(struct actor__cell *cell)
{
	struct actor__timeout *timeout = cell->extra ? cell->extra->timeout : NULL;

	if (actor__timeout_on(timeout) && !(cell->signals & ACTOR__SIGNAL_FAILURE))
		actor__timeout_reset(timeout);
}

enum actor_abi_outcome actor__careful_run(
	struct actor__cell *cell, const struct actor__turn *turn, uint32_t *left)
{
	struct actor__loop *loop = cell->loop;
	enum actor_abi_outcome outcome = ACTOR_ABI_STOP;
	const uint32_t most = *left;
	uint32_t handled = 0;
	uint32_t dropped = 0;

	loop->ctx.cell = cell;
	while (!cell->signals) {
		bool due = cell->extra && actor__timeout_due(cell->extra->timeout);
		uint32_t depth = cell->mailbox.count + due;

		if (!depth || handled == most) {
			outcome = depth ? ACTOR_ABI_BUDGET : ACTOR_ABI_EMPTY;
			break;
		}
		if (!due && !admitted(cell)) {
			if (!(cell->state & ACTOR__PAUSED) && ++dropped < most)
				continue;
			outcome = ACTOR_ABI_THROTTLE;
			break;
		}
		loop->ctx.envelope =
			due ? actor__timeout_take(cell->extra->timeout) : actor__queue_pop(cell);
		if (!loop->ctx.envelope)
			continue; /* a mailbox that has lost what it counted */
		if (actor__turn_special(&loop->ctx, cell, loop->ctx.envelope, turn, depth)) {
			handled++;
			went(cell);
		}
	}
	if (outcome == ACTOR_ABI_BUDGET && !cell->mailbox.count)
		cell->signals |= ACTOR__SIGNAL_LOOK; /* a time-out is due: the next turn */
	actor__extra_careful(cell);
	*left = most - handled;
	__atomic_store_n(&loop->abi->delivered, loop->abi->delivered + handled, __ATOMIC_RELAXED);
	return outcome;
}
