/* SPDX-License-Identifier: MIT */
/* Makes records of what a loop does, while somebody listens. The loop's thread.
 *
 * Records go into the loop's ledger. Those of one batch of a turn stand together, so that turn_end
 * can point at them (then a mark with the loop's counters comes first); the probe `ledger` hands
 * the whole over: when it is full, when it is 10 ms old at the end of a turn or pass, and before a
 * poll that may last longer than the rest of the 10 ms.
 *
 * Whether a batch is observed is decided at its beginning, so that a message is recorded wholly or
 * not at all; a message told before anybody listened has no stamp and is counted as unstamped. */
#ifndef ACTOR_OBSERVE_H
#define ACTOR_OBSERVE_H

#include "clock.h"
#include "core.h"
#include "probes.h"

/* Messages of one batch: the mark and the turn's own record need a place as well. */
#define ACTOR__BATCH (ACTOR_ABI_TURN_RECORDS - 2)

/* What the probes say of a turn; kept apart, since the cell may be gone when it ends. */
struct actor__turn {
	actor_ref actor;
	uint64_t meta; /* of its messages' records, but for type and flags */
	uint32_t dispatcher;
	uint32_t class_id;
	uint32_t messages;    /* handled so far */
	uint64_t asked_ticks; /* when the turn was asked for, 0 = unknown */
	uint64_t began_ticks; /* 0 = nobody listened then */
};

/* Whose turn it is. When it began is unknown so far. */
static inline void actor__observe_who(const struct actor__cell *cell, struct actor__turn *turn)
{
	turn->actor = cell->self;
	turn->dispatcher = cell->unit.dispatcher->number;
	turn->class_id = cell->cls->id;
	turn->meta = actor_abi_meta(
		ACTOR_ABI_MESSAGE, 0, 0, turn->class_id, turn->dispatcher);
	turn->messages = 0;
	turn->asked_ticks = 0;
	turn->began_ticks = 0;
}

/* A turn begins while some probe is listened to: fires turn_start. */
void actor__observe_turn(
	struct actor__loop *loop, const struct actor__cell *cell, struct actor__turn *turn);

/* A batch begins. False: no memory for a ledger, nothing can be observed. */
bool actor__observe_batch(struct actor__loop *loop);

/* A batch ends: fires turn_end; unless the outcome is MORE, the turn's own record is its last. */
void actor__observe_end(
	struct actor__loop *loop, const struct actor__turn *turn, enum actor_abi_outcome outcome);

/* Something else happened; only the ledger has it. */
void actor__observe_other(
	struct actor__loop *loop, uint64_t meta, uint64_t who, uint64_t first, uint64_t second);

/* The loop is about to poll, for `timeout_ms` at most (-1: for ever); and it has come back. */
void actor__observe_poll(struct actor__loop *loop, int timeout_ms);
void actor__observe_polled(struct actor__loop *loop);

/* A pass has ended: hands over what is old enough, forgets what nobody wants any more. */
void actor__observe_pass(struct actor__loop *loop);

/* No pass may follow for long: hands over what there is. Not inside a turn. */
void actor__observe_leave(struct actor__loop *loop);

/* Frees the ledger. */
void actor__observe_fini(struct actor__loop *loop);

/* A life event, if the ledger is listened to. `event`: enum actor_abi_life. */
static inline void actor__observe_life(struct actor__loop *loop, uint32_t event, uint32_t class_id,
	actor_ref actor, uint64_t other, int64_t code)
{
	if (ACTOR__LISTENED(ledger))
		actor__observe_other(loop, actor_abi_meta(ACTOR_ABI_LIFE, 0, event, class_id, 0),
			actor, other, (uint64_t)code);
}

/* Before handlers run: a trap or hook since the last look at the clock is none of their time. It
 * leaves caches and branch predictors cold, so that the way on from it may take some 300 ns more:
 * the clock is read only here, when all is done that can be, and the first message is at hand. */
static inline void actor__observe_resume(struct actor__loop *loop, const struct actor__cell *cell)
{
	struct actor__observer *o = &loop->observer;

	if (ACTOR__LIKELY(!o->stale))
		return;
	o->stale = false;
	if (cell->mailbox.count && cell->mailbox.first)
		(void)*(const volatile uint64_t *)&cell->mailbox.first->head;
	o->now = actor__ticks_ordered();
}

/* A duration for a record: how far from `from` to `to`, and the flag if that is backwards. */
static inline uint64_t actor__observe_duration(
	uint64_t from, uint64_t to, uint32_t back, uint32_t *flags)
{
	if (ACTOR__LIKELY(to >= from))
		return to - from;
	*flags |= back;
	return from - to;
}

/* The record of a message with something unusual about it. */
void actor__observe_unusual(struct actor__loop *loop, const struct actor__turn *turn,
	const struct actor__envelope *envelope, uint32_t depth, bool failed, uint64_t end);

/* A handler has returned. `depth` counts the message itself. The batch has room for it. */
static inline void actor__observe_message(struct actor__loop *loop, const struct actor__turn *turn,
	const struct actor__envelope *envelope, uint32_t depth, bool failed)
{
	struct actor__observer *o = &loop->observer;
	struct actor_abi_record *r = &o->ledger->records[o->used];
	uint64_t end = actor__ticks();
	uint64_t wait = o->now - envelope->stamp;
	uint64_t run = end - o->now;
	uint64_t flags = envelope->flags & ACTOR__FOREIGN ? ACTOR_ABI_FOREIGN << 8 : 0;

	/* No stamp, or not representable: a step backwards is a large number here. */
	if (ACTOR__UNLIKELY(failed || !envelope->stamp || ((wait | run) >> 48) || depth >> 16)) {
		actor__observe_unusual(loop, turn, envelope, depth, failed, end);
		return;
	}
	r->meta = turn->meta | flags | (envelope->head >> 32 & 0xffff) << 16;
	r->who = turn->actor >> 32 << 32 | envelope->sender >> 32;
	r->first = wait | (uint64_t)depth << 48;
	r->second = run | turn->actor << 48;
	o->now = end;
	o->used++;
	o->messages++;
}

/* Is the ledger all that is listened to, and has it begun, with room for a whole turn? Then a turn
 * needs no look at anything else. */
static inline bool actor__observe_simply(const struct actor__loop *loop)
{
	const struct actor__observer *o = &loop->observer;

	return actor__probes_ledger_only() && o->listening && o->used &&
	       o->used + ACTOR_ABI_TURN_RECORDS <= ACTOR__LEDGER_RECORDS &&
	       o->delivered + o->messages == loop->abi->delivered;
}

/* Such a turn begins, by the end of the handler before if that was just now; and ends, with what
 * it has handled. */
static inline void actor__observe_begin_simply(struct actor__loop *loop,
	const struct actor__cell *cell, struct actor__turn *turn)
{
	struct actor__observer *o = &loop->observer;

	actor__observe_who(cell, turn);
	if (ACTOR__UNLIKELY(o->stale)) {
		o->now = actor__ticks();
		o->stale = false;
	}
	turn->asked_ticks = cell->unit.asked_ticks;
	turn->began_ticks = o->now;
	loop->abi->turn_since = o->now;
}

/* The record of a turn that is unusual, and the hand-over of a ledger that is old. */
void actor__observe_end_unusual(
	struct actor__loop *loop, const struct actor__turn *turn, enum actor_abi_outcome outcome);

static inline void actor__observe_end_simply(
	struct actor__loop *loop, const struct actor__turn *turn, enum actor_abi_outcome outcome)
{
	struct actor__observer *o = &loop->observer;
	struct actor_abi_record *r = &o->ledger->records[o->used];
	uint64_t delay = turn->began_ticks - turn->asked_ticks;
	uint64_t run = o->now - turn->began_ticks;
	uint64_t age = o->now - o->first_at;

	if (ACTOR__UNLIKELY(!turn->asked_ticks || !turn->messages || ((delay | run) >> 48) ||
			    age >= o->age_ticks)) {
		actor__observe_end_unusual(loop, turn, outcome);
		return;
	}
	r->meta = turn->meta ^ ACTOR_ABI_MESSAGE ^ ACTOR_ABI_TURN;
	r->who = turn->actor;
	r->first = delay | (uint64_t)turn->messages << 48;
	r->second = run | (uint64_t)outcome << 48;
	o->used++;
}

#endif
