/* SPDX-License-Identifier: MIT */
/* One message after the other, each with what belongs before and behind it. */
#include "careful.h"

enum actor_abi_outcome actor__careful_run(
	struct actor__cell *cell, const struct actor__turn *turn, uint32_t *left)
{
	struct actor__loop *loop = cell->loop;
	enum actor_abi_outcome outcome = ACTOR_ABI_STOP;
	const uint32_t most = *left;
	uint32_t handled = 0;

	loop->ctx.cell = cell;
	while (!cell->signals) {
		uint32_t depth = cell->mailbox.count;

		if (!depth || handled == most) {
			outcome = depth ? ACTOR_ABI_BUDGET : ACTOR_ABI_EMPTY;
			break;
		}
		loop->ctx.envelope = actor__mailbox_pop(&cell->mailbox);
		if (actor__turn_special(&loop->ctx, cell, loop->ctx.envelope, turn, depth))
			handled++;
	}
	*left = most - handled;
	__atomic_store_n(&loop->abi->delivered, loop->abi->delivered + handled, __ATOMIC_RELAXED);
	return outcome;
}
