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
	uint32_t dispatcher;
	uint32_t class_id;
	uint32_t messages;    /* handled so far */
	uint64_t asked_ticks; /* when the turn was asked for, 0 = unknown */
	uint64_t began_ticks; /* 0 = nobody listened then */
};

/* A turn that is noticed in its middle: when it began is unknown. */
void actor__observe_who(const struct actor__cell *cell, struct actor__turn *turn);

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

/* A handler has returned. `depth` counts the message itself. The batch has room for it. */
static inline void actor__observe_message(struct actor__loop *loop, const struct actor__turn *turn,
	const struct actor__envelope *envelope, uint32_t depth, bool failed)
{
	struct actor__observer *o = &loop->observer;
	struct actor_abi_record *r = &o->ledger->records[o->used++];
	uint64_t end = actor__ticks();
	uint32_t flags = failed ? ACTOR_ABI_FAILED : 0;
	uint64_t wait = 0;
	uint64_t run;

	if (envelope->flags & ACTOR__FOREIGN)
		flags |= ACTOR_ABI_FOREIGN;
	if (ACTOR__LIKELY(envelope->stamp != 0)) {
		wait = actor__observe_duration(
			envelope->stamp, o->now, ACTOR_ABI_FIRST_BACK, &flags);
	} else {
		flags |= ACTOR_ABI_UNSTAMPED;
		loop->abi->unstamped++;
	}
	run = actor__observe_duration(o->now, end, ACTOR_ABI_SECOND_BACK, &flags);
	r->meta = actor_abi_meta(
		ACTOR_ABI_MESSAGE, flags, envelope->type, turn->class_id, turn->dispatcher);
	r->who = turn->actor >> 32 << 32 | envelope->sender >> 32;
	r->first = actor_abi_pack(wait, depth);
	r->second = actor_abi_pack(run, turn->actor & 0xffff);
	o->now = end;
	o->messages++;
}

#endif
