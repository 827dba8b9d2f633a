/* SPDX-License-Identifier: MIT */
/* Runs a turn: signals and batches of messages in alternation. */
#include "schedule.h"

#include "life.h"
#include "turn.h"

/* Signals first; false: there is nothing to handle now. The cell may be gone: *cell is NULL. */
static bool turn_goes_on(struct actor__cell **cell)
{
	if (ACTOR__UNLIKELY((*cell)->signals) && !actor__life_signals(*cell)) {
		*cell = NULL;
		return false;
	}
	return ACTOR__LIKELY((*cell)->state == ACTOR__RUNNING);
}

static uint32_t batch_size(uint32_t left, uint32_t room)
{
	return left < room ? left : room;
}

/* The rest of a turn while somebody listens; a batch is open. *cell is NULL if it is gone in the
 * end. */
static void run_observed(struct actor__loop *loop, struct actor__cell **cell,
	struct actor__turn *turn, uint32_t left)
{
	enum actor_abi_outcome outcome = ACTOR_ABI_STOP;
	uint32_t room = ACTOR__BATCH;
	bool signals = (*cell)->signals != 0;

	while (turn_goes_on(cell)) {
		uint32_t most = batch_size(left, room);
		uint32_t rest = most;

		if (signals)
			loop->observer.now = actor__ticks(); /* hooks are no handlers */
		outcome = actor__turn_observed(*cell, turn, &rest);
		left -= most - rest;
		room -= most - rest;
		turn->messages += most - rest;
		signals = outcome == ACTOR_ABI_STOP;
		if ((*cell)->signals & ACTOR__SIGNAL_FAILURE)
			outcome = ACTOR_ABI_FAILURE;
		if (outcome == ACTOR_ABI_EMPTY || (outcome == ACTOR_ABI_BUDGET && !left))
			break;
		if (outcome == ACTOR_ABI_BUDGET) {
			actor__observe_end(loop, turn, ACTOR_ABI_MORE);
			actor__observe_batch(loop);
			room = ACTOR__BATCH;
		}
	}
	actor__observe_end(loop, turn, outcome);
}

/* A turn that nobody listens to; if somebody begins to, its later messages are observed. */
static void run_plain(struct actor__loop *loop, struct actor__cell **cell, struct actor__turn *turn)
{
	uint32_t left = (*cell)->throughput;

	while (turn_goes_on(cell)) {
		uint32_t most = batch_size(left, ACTOR__BATCH);
		uint32_t rest = most;
		enum actor_abi_outcome outcome = actor__turn_plain(*cell, &rest);

		left -= most - rest;
		if (outcome == ACTOR_ABI_EMPTY || (outcome == ACTOR_ABI_BUDGET && !left))
			return;
		if (actor__probes_records() && actor__observe_batch(loop)) {
			actor__observe_who(*cell, turn);
			run_observed(loop, cell, turn, left);
			return;
		}
	}
}

/* A turn that begins while some probe is listened to. */
static void turn_observed(struct actor__loop *loop, struct actor__cell **cell)
{
	struct actor__turn turn;

	actor__observe_turn(loop, *cell, &turn);
	if (actor__probes_records() && actor__observe_batch(loop))
		run_observed(loop, cell, &turn, (*cell)->throughput);
	else
		run_plain(loop, cell, &turn);
	loop->abi->turn_since = 0;
}

int actor__schedule_run(struct actor_unit *unit)
{
	struct actor__cell *cell = (struct actor__cell *)unit;
	struct actor__loop *loop = cell->loop;
	struct actor__turn turn;

	unit->state = ACTOR__UNIT_RUNNING;
	loop->in_turn = true;
	loop->abi->actor = cell->self;
	__atomic_store_n(&loop->abi->turn, loop->abi->turn + 1, __ATOMIC_RELAXED);
	if (actor__probes_any())
		turn_observed(loop, &cell);
	else
		run_plain(loop, &cell, &turn);
	loop->abi->actor = 0;
	loop->in_turn = false;
	if (ACTOR__UNLIKELY(!cell))
		return 0;
	actor__mailbox_rest(&cell->mailbox, &loop->pool);
	unit->state = ACTOR__UNIT_IDLE;
	actor__cell_ask(cell);
	return 0;
}
