/* SPDX-License-Identifier: MIT */
/* The ledger of a loop: filling it and handing it over. */
#include "observe.h"

#include "memory.h"

#include <string.h>

#define AGE_NS 10000000u /* a record waits at most this long for its hand-over */

/* The ledger's place in the root, for whoever looks. */
static void ledger_publish(struct actor__loop *loop)
{
	loop->abi->ledger_used = loop->observer.used;
}

static bool ledger_make(struct actor__loop *loop)
{
	struct actor__observer *o = &loop->observer;

	if (o->ledger)
		return true;
	o->ledger = actor__heap_zero(sizeof(*o->ledger));
	if (!o->ledger)
		return false;
	loop->abi->ledger_size = ACTOR__LEDGER_RECORDS;
	loop->abi->ledger = (uint64_t)(uintptr_t)o->ledger->records;
	return true;
}

/* The ledger holds `used` records, none of them a message; these are the loop's counters now. */
static void ledger_begin_at(
	struct actor__observer *o, uint32_t used, uint64_t delivered, uint64_t unstamped)
{
	o->used = used;
	o->messages = 0;
	o->delivered = delivered;
	o->unstamped = unstamped;
}

/* Empties the ledger; the counters of its next hand-over are given. */
static void ledger_begin(struct actor__observer *o, uint64_t delivered, uint64_t unstamped)
{
	ledger_begin_at(o, 0, delivered, unstamped);
}

static void hand_over(struct actor__loop *loop)
{
	struct actor__observer *o = &loop->observer;
	struct actor_abi_handover *h = &o->ledger->head;

	h->major = ACTOR_ABI_MAJOR;
	h->minor = ACTOR_ABI_MINOR;
	h->loop = (uint16_t)loop->id;
	h->count = o->used;
	h->sequence = o->handovers++;
	h->delivered = o->delivered;
	h->unstamped = o->unstamped;
	h->ticks = actor__ticks();
	h->monotonic_ns = actor__monotonic_ns();
	ledger_publish(loop);
	ACTOR__FIRE(ledger, (uint64_t)(uintptr_t)h,
		sizeof(*h) + (uint64_t)o->used * sizeof(struct actor_abi_record), loop->id,
		o->messages);
	o->stale = true;
	/* Not abi->delivered: inside a batch that counter is behind. */
	ledger_begin(o, o->delivered + o->messages, loop->abi->unstamped);
}

/* 10 ms in ticks, by the rate since the program's start. */
static uint64_t age_ticks(void)
{
	uint64_t second = 1000000000u;
	uint64_t ns = actor__ticks_to_ns(second); /* of a thousand million ticks */

	return ns ? (uint64_t)((double)second / (double)ns * AGE_NS) : AGE_NS;
}

/* Somebody listens. The first time after a pause the ledger begins empty. */
static bool listening(struct actor__loop *loop)
{
	struct actor__observer *o = &loop->observer;

	if (ACTOR__LIKELY(o->listening))
		return true;
	if (!ledger_make(loop))
		return false;
	ledger_begin(o, loop->abi->delivered, loop->abi->unstamped);
	o->others_count = 0;
	o->age_ticks = age_ticks();
	o->polled_at = o->polls_at = 0;
	o->stale = true;
	o->listening = true;
	return true;
}

/* Messages passed without a record since the ledger got its first one: the listener it was filled
 * for has gone and another one has come, without a look at the semaphores in between. What stands
 * there is not for him. Not inside a batch, where the loop's own counter is behind. */
static void listener_check(struct actor__loop *loop)
{
	struct actor__observer *o = &loop->observer;

	if (ACTOR__LIKELY(!o->used || o->delivered + o->messages == loop->abi->delivered))
		return;
	if (o->messages)
		o->used = 0;
	ledger_begin_at(o, o->used, loop->abi->delivered, loop->abi->unstamped);
}

/* Makes room for `records` more; what is there goes to the listener or is wanted by nobody. */
static void make_room(struct actor__loop *loop, uint32_t records)
{
	struct actor__observer *o = &loop->observer;

	if (ACTOR__LIKELY(o->used + records <= ACTOR__LEDGER_RECORDS))
		return;
	if (ACTOR__LISTENED(ledger))
		hand_over(loop);
	else
		ledger_begin(o, o->delivered + o->messages, loop->abi->unstamped);
}

static void hand_over_if_old(struct actor__loop *loop, uint64_t now)
{
	struct actor__observer *o = &loop->observer;

	if (o->used && now - o->first_at >= o->age_ticks && now > o->first_at)
		hand_over(loop);
}

static uint64_t delay_ns(const struct actor__turn *turn)
{
	if (!turn->asked_ticks)
		return ACTOR_ABI_UNKNOWN;
	return turn->began_ticks > turn->asked_ticks
		       ? actor__ticks_to_ns(turn->began_ticks - turn->asked_ticks)
		       : 0;
}

void actor__observe_turn(
	struct actor__loop *loop, const struct actor__cell *cell, struct actor__turn *turn)
{
	uint64_t now = actor__ticks();

	actor__observe_who(cell, turn);
	turn->asked_ticks = cell->unit.asked_ticks;
	turn->began_ticks = now;
	loop->abi->turn_since = now;
	loop->observer.now = now;
	loop->observer.stale = ACTOR__LISTENED(turn_start);
	ACTOR__FIRE(turn_start, turn->actor, turn->dispatcher, cell->mailbox.count, delay_ns(turn),
		turn->class_id);
}

bool actor__observe_batch(struct actor__loop *loop)
{
	struct actor__observer *o = &loop->observer;

	if (!listening(loop))
		return false;
	listener_check(loop);
	if (o->used + ACTOR_ABI_TURN_RECORDS > ACTOR__LEDGER_RECORDS) {
		make_room(loop, ACTOR_ABI_TURN_RECORDS);
		o->stale = true;
	}
	if (!o->used) {
		ledger_begin(o, loop->abi->delivered, loop->abi->unstamped);
		o->first_at = o->now;
	}
	o->batch = o->used;
	o->batch_delivered = loop->abi->delivered;
	o->batch_unstamped = loop->abi->unstamped;
	if (ACTOR__LISTENED(turn_end))
		o->used++; /* for the mark */
	o->marked = o->used != o->batch;
	return true;
}

static void turn_record(
	struct actor__loop *loop, const struct actor__turn *turn, enum actor_abi_outcome outcome)
{
	struct actor__observer *o = &loop->observer;
	struct actor_abi_record *r = &o->ledger->records[o->used++];
	uint32_t flags = turn->asked_ticks ? 0 : ACTOR_ABI_NO_DELAY;
	uint64_t run = actor__observe_duration(
		turn->began_ticks, o->now, ACTOR_ABI_SECOND_BACK, &flags);
	uint64_t delay = 0;

	if (turn->asked_ticks)
		delay = actor__observe_duration(
			turn->asked_ticks, turn->began_ticks, ACTOR_ABI_FIRST_BACK, &flags);
	r->meta = actor_abi_meta(ACTOR_ABI_TURN, flags, 0, turn->class_id, turn->dispatcher);
	r->who = turn->actor;
	r->first = actor_abi_pack(delay, turn->messages);
	r->second = actor_abi_pack(run, outcome);
}

static void mark_record(struct actor__loop *loop)
{
	struct actor__observer *o = &loop->observer;
	struct actor_abi_record *mark = &o->ledger->records[o->batch];

	mark->meta = actor_abi_meta(ACTOR_ABI_MARK, 0, 0, 0, 0);
	mark->who = o->batch_delivered;
	mark->first = o->batch_unstamped;
	mark->second = actor_abi_pack(loop->abi->sequence++ & ACTOR_ABI_48, loop->id);
}

static void others_flush(struct actor__loop *loop);

void actor__observe_end(
	struct actor__loop *loop, const struct actor__turn *turn, enum actor_abi_outcome outcome)
{
	struct actor__observer *o = &loop->observer;

	if (!turn->messages)
		o->now = actor__ticks(); /* signals only: no handler's end to go by */
	if (outcome != ACTOR_ABI_MORE && turn->began_ticks)
		turn_record(loop, turn, outcome);
	if (o->marked) {
		mark_record(loop);
		ACTOR__FIRE(turn_end, turn->actor, turn->dispatcher,
			(uint64_t)(uintptr_t)&o->ledger->records[o->batch], o->used - o->batch,
			outcome, turn->class_id);
		o->marked = false;
	}
	if (ACTOR__LISTENED(ledger)) {
		others_flush(loop);
		hand_over_if_old(loop, o->now);
	} else {
		o->used = 0;
	}
	o->stale = true;
}

void actor__observe_end_unusual(
	struct actor__loop *loop, const struct actor__turn *turn, enum actor_abi_outcome outcome)
{
	struct actor__observer *o = &loop->observer;

	if (!turn->messages)
		o->now = actor__ticks();
	turn_record(loop, turn, outcome);
	hand_over_if_old(loop, o->now);
}

void actor__observe_unusual(struct actor__loop *loop, const struct actor__turn *turn,
	const struct actor__envelope *envelope, uint32_t depth, bool failed, uint64_t end)
{
	struct actor__observer *o = &loop->observer;
	struct actor_abi_record *r = &o->ledger->records[o->used++];
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
	r->meta = turn->meta | (uint64_t)flags << 8 | (uint64_t)envelope->type << 16;
	r->who = turn->actor >> 32 << 32 | envelope->sender >> 32;
	r->first = actor_abi_pack(wait, depth);
	r->second = actor_abi_pack(run, turn->actor & 0xffff);
	o->now = end;
	o->messages++;
}

static void append(struct actor__loop *loop, const struct actor_abi_record *record)
{
	struct actor__observer *o = &loop->observer;

	/* An open batch keeps the room it was promised. */
	make_room(loop, ACTOR_ABI_TURN_RECORDS + 1);
	if (!o->used) {
		if (!actor__in_turn(loop))
			ledger_begin(o, loop->abi->delivered, loop->abi->unstamped);
		o->first_at = actor__ticks();
	}
	o->ledger->records[o->used++] = *record;
}

/* While a batch stands for turn_end nothing may come between its records. */
static void put_aside(struct actor__observer *o, const struct actor_abi_record *record)
{
	if (o->others_count == o->others_room) {
		uint32_t room = o->others_room ? o->others_room * 2 : 64;
		struct actor_abi_record *others = actor__heap_alloc(room * sizeof(*others));

		if (!others)
			return;
		if (o->others_count)
			memcpy(others, o->others, o->others_count * sizeof(*others));
		actor__heap_free(o->others);
		o->others = others;
		o->others_room = room;
	}
	o->others[o->others_count++] = *record;
}

static void others_flush(struct actor__loop *loop)
{
	struct actor__observer *o = &loop->observer;

	for (uint32_t i = 0; i < o->others_count; i++)
		append(loop, &o->others[i]);
	o->others_count = 0;
}

void actor__observe_other(
	struct actor__loop *loop, uint64_t meta, uint64_t who, uint64_t first, uint64_t second)
{
	const struct actor_abi_record record = {
		.meta = meta, .who = who, .first = first, .second = second};

	if (!listening(loop))
		return;
	if (loop->observer.marked)
		put_aside(&loop->observer, &record);
	else
		append(loop, &record);
}

void actor__observe_polled(struct actor__loop *loop)
{
	struct actor__observer *o = &loop->observer;

	if (ACTOR__LISTENED(ledger))
		o->polled_at = actor__ticks();
}

void actor__observe_poll(struct actor__loop *loop, int timeout_ms)
{
	struct actor__observer *o = &loop->observer;
	uint64_t now;

	if (!ACTOR__LISTENED(ledger) || !listening(loop))
		return;
	listener_check(loop);
	now = actor__ticks();
	if (o->polled_at && now > o->polled_at)
		actor__observe_other(loop,
			actor_abi_meta(ACTOR_ABI_LOOP, 0, 0, 0, 0), loop->id,
			actor_abi_pack(now - o->polled_at, 0),
			actor_abi_pack(o->polls_at && o->polled_at > o->polls_at
					       ? o->polled_at - o->polls_at
					       : 0,
				0));
	o->polls_at = now;
	if (timeout_ms && o->used &&
		(timeout_ms < 0 || (uint64_t)timeout_ms * (o->age_ticks / 10) + now >=
						   o->first_at + o->age_ticks))
		hand_over(loop);
}

void actor__observe_pass(struct actor__loop *loop)
{
	struct actor__observer *o = &loop->observer;

	if (!actor__probes_records())
		o->listening = false;
	if (!o->listening || !ACTOR__LISTENED(ledger) || !o->used)
		return;
	listener_check(loop);
	hand_over_if_old(loop, actor__ticks());
}

void actor__observe_leave(struct actor__loop *loop)
{
	struct actor__observer *o = &loop->observer;

	if (!ACTOR__LISTENED(ledger) || !o->listening)
		return;
	listener_check(loop);
	others_flush(loop);
	if (o->used)
		hand_over(loop);
}

void actor__observe_fini(struct actor__loop *loop)
{
	loop->abi->ledger = 0;
	actor__heap_free(loop->observer.ledger);
	actor__heap_free(loop->observer.others);
}
