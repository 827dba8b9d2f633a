/* SPDX-License-Identifier: MIT */
/* Runs a turn: signals and batches of messages in alternation. */
#include "schedule.h"

#include "life.h"
#include "turn.h"

/* How many messages may be handled before the next look at the probes. */
static uint32_t batch_size(uint32_t left)
{
	return left < ACTOR__BATCH ? left : ACTOR__BATCH;
}

static void turn_begin(struct actor__loop *loop, struct actor__cell *cell, struct actor__turn *turn)
{
	turn->actor = cell->self;
	turn->dispatcher = cell->unit.dispatcher->number;
	turn->class_id = cell->cls->id;
	turn->messages = 0;
	turn->asked_ticks = cell->unit.asked_ticks;
	turn->began_ticks = 0;
	cell->unit.state = ACTOR__UNIT_RUNNING;
	loop->in_turn = true;
	loop->abi->actor = cell->self;
	loop->abi->turn++;
	loop->abi->turn_since = 0;
	if (actor__probes_any())
		actor__observe_turn(loop, turn, cell->mailbox.count);
}

/* Signals and messages until the outcome is known. `*observed`: the last batch is still open. */
static enum actor_abi_outcome turn_run(struct actor__loop *loop, struct actor__cell **cell,
	struct actor__turn *turn, bool *observed)
{
	uint32_t left = (*cell)->throughput;

	for (;;) {
		enum actor_abi_outcome outcome;
		uint32_t before = turn->messages;
		uint32_t most = batch_size(left);

		if ((*cell)->signals && !actor__life_signals(*cell)) {
			*cell = NULL;
			return ACTOR_ABI_STOP;
		}
		if ((*cell)->state != ACTOR__RUNNING)
			return ACTOR_ABI_STOP;
		if (*observed) {
			if (loop->observer.count + most > ACTOR_ABI_TURN_RECORDS - 1) {
				actor__observe_end(loop, turn, ACTOR_ABI_MORE);
				*observed = actor__probes_records();
				if (*observed)
					actor__observe_batch(loop);
			}
		} else if (actor__probes_records()) {
			*observed = true;
			actor__observe_batch(loop);
		}
		outcome = *observed ? actor__turn_observed(*cell, turn, most)
				    : actor__turn_plain(*cell, turn, most);
		left -= turn->messages - before;
		if (outcome == ACTOR_ABI_EMPTY || (outcome == ACTOR_ABI_BUDGET && !left))
			return outcome;
	}
}

int actor__schedule_run(struct actor_unit *unit)
{
	struct actor__cell *cell = (struct actor__cell *)unit;
	struct actor__loop *loop = cell->loop;
	enum actor_abi_outcome outcome;
	struct actor__turn turn;
	bool observed = false;

	turn_begin(loop, cell, &turn);
	outcome = turn_run(loop, &cell, &turn, &observed);
	if (ACTOR__UNLIKELY(observed))
		actor__observe_end(loop, &turn, outcome);
	loop->abi->actor = 0;
	loop->in_turn = false;
	if (!cell)
		return 0;
	actor__mailbox_rest(&cell->mailbox, &loop->pool);
	cell->unit.state = ACTOR__UNIT_IDLE;
	actor__cell_ask(cell);
	return 0;
}
