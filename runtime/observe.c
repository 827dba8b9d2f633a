/* SPDX-License-Identifier: MIT */
/* Records of messages and turns, handed over by turn_end. */
#include "observe.h"

#include "clock.h"
#include "probes.h"

void actor__observe_turn(struct actor__loop *loop, struct actor__turn *turn, uint32_t depth)
{
	uint64_t now = actor__ticks();
	uint64_t delay = ACTOR_ABI_UNKNOWN;

	turn->began_ticks = now;
	loop->abi->turn_since = now;
	if (ACTOR__LISTENED(turn_start) && turn->asked_ticks)
		delay = now > turn->asked_ticks ? actor__ticks_to_ns(now - turn->asked_ticks) : 0;
	ACTOR__FIRE(turn_start, turn->actor, turn->dispatcher, depth, delay, turn->class_id);
	(void)delay;
	(void)depth;
}

void actor__observe_batch(struct actor__loop *loop)
{
	struct actor__observer *o = &loop->observer;

	o->delivered = loop->abi->delivered;
	o->unstamped = loop->abi->unstamped;
	o->count = 1;
	o->now = actor__ticks();
}

/* A duration for a record: how far from `from` to `to`, and the flag if that is backwards. */
static uint64_t duration(uint64_t from, uint64_t to, uint32_t back, uint32_t *flags)
{
	if (to >= from)
		return to - from;
	*flags |= back;
	return from - to;
}

void actor__observe_message(struct actor__loop *loop, const struct actor__turn *turn,
	const struct actor__envelope *envelope, uint32_t depth, bool failed)
{
	struct actor__observer *o = &loop->observer;
	struct actor_abi_record *r = &o->records[o->count++];
	uint64_t end = actor__ticks();
	uint32_t flags = failed ? ACTOR_ABI_FAILED : 0;
	uint64_t wait = 0;
	uint64_t run;

	if (envelope->flags & ACTOR__FOREIGN)
		flags |= ACTOR_ABI_FOREIGN;
	if (!envelope->stamp) {
		flags |= ACTOR_ABI_UNSTAMPED;
		loop->abi->unstamped++;
	} else {
		wait = duration(envelope->stamp, o->now, ACTOR_ABI_FIRST_BACK, &flags);
	}
	run = duration(o->now, end, ACTOR_ABI_SECOND_BACK, &flags);
	r->meta = actor_abi_meta(
		ACTOR_ABI_MESSAGE, flags, envelope->type, turn->class_id, turn->dispatcher);
	r->who = turn->actor >> 32 << 32 | envelope->sender >> 32;
	r->first = actor_abi_pack(wait, depth);
	r->second = actor_abi_pack(run, turn->actor & 0xffff);
	o->now = end;
}

void actor__observe_end(
	struct actor__loop *loop, const struct actor__turn *turn, enum actor_abi_outcome outcome)
{
	struct actor__observer *o = &loop->observer;
	struct actor_abi_record *mark = &o->records[0];

	mark->meta = actor_abi_meta(ACTOR_ABI_MARK, 0, 0, 0, 0);
	mark->who = o->delivered;
	mark->first = o->unstamped;
	mark->second = actor_abi_pack(loop->abi->sequence++ & ACTOR_ABI_48, loop->id);
	if (outcome != ACTOR_ABI_MORE && turn->began_ticks) {
		struct actor_abi_record *r = &o->records[o->count++];
		uint32_t flags = turn->asked_ticks ? 0 : ACTOR_ABI_NO_DELAY;
		uint64_t delay = 0;
		uint64_t run = duration(
			turn->began_ticks, actor__ticks(), ACTOR_ABI_SECOND_BACK, &flags);

		if (turn->asked_ticks)
			delay = duration(turn->asked_ticks, turn->began_ticks, ACTOR_ABI_FIRST_BACK,
				&flags);
		r->meta = actor_abi_meta(
			ACTOR_ABI_TURN, flags, 0, turn->class_id, turn->dispatcher);
		r->who = turn->actor;
		r->first = actor_abi_pack(delay, turn->messages);
		r->second = actor_abi_pack(run, outcome);
	}
	ACTOR__FIRE(turn_end, turn->actor, turn->dispatcher, (uint64_t)(uintptr_t)o->records,
		o->count, outcome, turn->class_id);
}
