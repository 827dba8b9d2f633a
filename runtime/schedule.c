/* SPDX-License-Identifier: MIT */
/* Runs a turn: signals and batches of messages in alternation. */
#include "schedule.h"

#include "careful.h"
#include "completion.h"
#include "life.h"
#include "turn.h"

#define INLINE	 static inline __attribute__((always_inline))
#define NOINLINE static __attribute__((noinline))

/* Signals first, and what was set aside, which counts against `*left` as well. False: there is
 * nothing to handle now. The cell may be gone: *cell is NULL. */
INLINE bool turn_goes_on(struct actor__loop *loop, struct actor__cell **cell, uint32_t *left)
{
	if (ACTOR__UNLIKELY((*cell)->signals)) {
		*left -= *left < loop->aside ? *left : loop->aside;
		loop->aside = 0;
		if (!actor__life_signals(*cell)) {
			*cell = NULL;
			return false;
		}
	}
	return ACTOR__LIKELY(actor__cell_open(*cell));
}

/* A handler that was pending ends, before all else. False: the budget is used up, so it will end in
 * the next turn. */
INLINE bool turn_completes(struct actor__cell *cell, struct actor__turn *turn, uint32_t *left,
	uint32_t *room)
{
	while (ACTOR__UNLIKELY(cell->signals & ACTOR__SIGNAL_COMPLETED)) {
		if (!*left)
			return false;
		--*left;
		if (actor__completion_run(cell, turn))
			--*room;
	}
	return true;
}

static uint32_t batch_size(uint32_t left, uint32_t room)
{
	return left < room ? left : room;
}

/* A batch, the fast or the careful way. */
INLINE enum actor_abi_outcome turn_batch(struct actor__cell *cell, const struct actor__turn *turn,
	uint32_t *left, const bool observed)
{
	if (ACTOR__UNLIKELY(cell->state & ACTOR__CAREFUL))
		return actor__careful_run(cell, observed ? turn : NULL, left);
	return actor__turn_run(cell, turn, left, observed);
}

/* Is a batch with this outcome the turn's last one, whatever the cell's state is? */
INLINE bool turn_ends(enum actor_abi_outcome outcome, uint32_t left)
{
	return outcome == ACTOR_ABI_EMPTY || outcome == ACTOR_ABI_THROTTLE ||
	       (outcome == ACTOR_ABI_BUDGET && !left);
}

/* The rest of a turn while somebody listens; a batch is open, with room for so many. *cell is NULL if it is gone in the
 * end. */
static void run_observed(struct actor__loop *loop, struct actor__cell **cell,
	struct actor__turn *turn, uint32_t left, uint32_t room)
{
	enum actor_abi_outcome outcome = ACTOR_ABI_STOP;

	if ((*cell)->signals)
		loop->observer.stale = true;
	for (;;) {
		uint32_t most, rest;

		if (!turn_completes(*cell, turn, &left, &room)) {
			outcome = ACTOR_ABI_BUDGET;
			break;
		}
		if ((*cell)->signals & ACTOR__SIGNAL_FAILURE)
			outcome = ACTOR_ABI_FAILURE;
		if (!turn_goes_on(loop, cell, &left))
			break;
		most = rest = batch_size(left, room);
		actor__observe_resume(loop, *cell);
		outcome = turn_batch(*cell, turn, &rest, true);
		left -= most - rest;
		room -= most - rest;
		turn->messages += most - rest;
		if (outcome == ACTOR_ABI_STOP)
			loop->observer.stale = true; /* hooks are no handlers */
		if (turn_ends(outcome, left))
			break;
		if (outcome == ACTOR_ABI_BUDGET) {
			actor__observe_end(loop, turn, ACTOR_ABI_MORE);
			actor__observe_batch(loop);
			room = ACTOR__BATCH;
		}
	}
	if (outcome == ACTOR_ABI_STOP && *cell)
		outcome = actor__cell_held(*cell);
	actor__observe_end(loop, turn, outcome);
}

INLINE void turn_open(struct actor__loop *loop, struct actor__cell *cell)
{
	cell->unit.state = ACTOR__UNIT_RUNNING;
	loop->abi->actor = cell->self;
	/* One writer; stats and observers read it. */
	__atomic_store_n(&loop->abi->turn, loop->abi->turn + 1, __ATOMIC_RELAXED);
}

NOINLINE int turn_again(struct actor__loop *loop, struct actor__cell *cell)
{
	uint64_t now = 0;

	/* Not before the end of the last handler, by which the next turn may begin. */
	if (actor__probes_records())
		now = loop->observer.stale ? actor__ticks() : loop->observer.now;
	actor__unit_queue(&cell->unit, now);
	return 0;
}

/* The cell rests, or asks for its next turn; NULL: it is gone. */
INLINE int turn_close(struct actor__loop *loop, struct actor__cell *cell)
{
	loop->abi->actor = 0;
	if (ACTOR__UNLIKELY(!cell))
		return 0;
	actor__mailbox_rest(&cell->mailbox, &loop->pool);
	cell->unit.state = ACTOR__UNIT_IDLE;
	return actor__cell_dispatchable(cell) ? turn_again(loop, cell) : 0;
}

/* Somebody began to listen in the middle of a turn: its later messages are observed. */
NOINLINE int turn_noticed(struct actor__loop *loop, struct actor__cell *cell, uint32_t left)
{
	struct actor__turn turn;

	actor__observe_who(cell, &turn);
	loop->observer.stale = true; /* no clock was read before */
	run_observed(loop, &cell, &turn, left, ACTOR__BATCH);
	return turn_close(loop, cell);
}

/* A turn that nobody listens to, or the rest of one, with whatever is rare. */
NOINLINE int turn_on(struct actor__loop *loop, struct actor__cell *cell, uint32_t left)
{
	uint32_t room = 0; /* of no matter */

	for (;;) {
		enum actor_abi_outcome outcome;
		uint32_t most, rest;

		if (!turn_completes(cell, NULL, &left, &room) || !turn_goes_on(loop, &cell, &left))
			break;
		most = rest = batch_size(left, ACTOR__BATCH);
		outcome = turn_batch(cell, NULL, &rest, false);
		left -= most - rest;
		if (turn_ends(outcome, left))
			break;
		if (actor__probes_records() && actor__observe_batch(loop))
			return turn_noticed(loop, cell, left);
	}
	return turn_close(loop, cell);
}

/* The way of most turns: a batch that ends the turn. It saves no register for anything else. */
INLINE int turn_plain(struct actor__loop *loop, struct actor__cell *cell)
{
	uint32_t left = cell->throughput;

	if (ACTOR__UNLIKELY(cell->signals || cell->state != ACTOR__RUNNING || left > ACTOR__BATCH))
		return turn_on(loop, cell, left);
	if (ACTOR__LIKELY(actor__turn_run(cell, NULL, &left, false) != ACTOR_ABI_STOP))
		return turn_close(loop, cell);
	if (actor__probes_records() && actor__observe_batch(loop))
		return turn_noticed(loop, cell, left);
	return turn_on(loop, cell, left);
}

/* A turn that begins while some probe is listened to. */
NOINLINE int turn_observed(struct actor__loop *loop, struct actor__cell *cell)
{
	struct actor__turn turn;
	int rc;

	turn_open(loop, cell);
	actor__observe_turn(loop, cell, &turn);
	if (actor__probes_records() && actor__observe_batch(loop)) {
		run_observed(loop, &cell, &turn, cell->throughput, ACTOR__BATCH);
		rc = turn_close(loop, cell);
	} else {
		rc = turn_plain(loop, cell);
	}
	loop->abi->turn_since = 0;
	return rc;
}

/* A turn of one batch that only the ledger wants: the way of most turns while it is listened to. */
NOINLINE int turn_recorded(struct actor__loop *loop, struct actor__cell *cell)
{
	uint32_t left = cell->throughput;
	enum actor_abi_outcome outcome;
	struct actor__turn turn;

	turn_open(loop, cell);
	actor__observe_begin_simply(loop, cell, &turn);
	outcome = actor__turn_run(cell, &turn, &left, true);
	turn.messages = cell->throughput - left;
	if (ACTOR__UNLIKELY(outcome == ACTOR_ABI_STOP)) {
		run_observed(loop, &cell, &turn, left, ACTOR__BATCH - turn.messages);
	} else {
		actor__observe_end_simply(loop, &turn, outcome);
	}
	loop->abi->turn_since = 0;
	return turn_close(loop, cell);
}

/* Which way, while some probe is listened to? */
NOINLINE int turn_listened(struct actor__loop *loop, struct actor__cell *cell)
{
	if (actor__observe_simply(loop) && !cell->signals && cell->state == ACTOR__RUNNING &&
		cell->throughput <= ACTOR__BATCH)
		return turn_recorded(loop, cell);
	return turn_observed(loop, cell);
}

NOINLINE int turn_unheard(struct actor__loop *loop, struct actor__cell *cell)
{
	turn_open(loop, cell);
	return turn_plain(loop, cell);
}

/* Last calls only: each way saves the registers that it needs itself. */
int actor__schedule_run(struct actor_unit *unit)
{
	struct actor__cell *cell = (struct actor__cell *)unit;

	if (actor__probes_any())
		return turn_listened(cell->loop, cell);
	return turn_unheard(cell->loop, cell);
}
