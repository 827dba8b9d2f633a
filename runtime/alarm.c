/* SPDX-License-Identifier: MIT */
/* From the earliest deadline to the loop's timer and back. */
#include "alarm.h"

/* The timer may stand for a deadline that was cancelled: it then comes for nothing, once. */
static void timer_follow(struct actor__loop *loop)
{
	uint64_t at_ms = loop->deadlines.first->at_ms;

	if (loop->closed)
		return;
	if (ACTOR__UNLIKELY(loop->manual_ms)) {
		if (at_ms <= loop->manual_ms)
			actor__handles_signal(loop); /* due in the next pass */
		return;
	}
	/* 0 - 1: the timer is not armed */
	if (at_ms - 1 < loop->handles->timer_at_ms - 1)
		actor__handles_timer(loop, at_ms);
}

void actor__deadline_arm(struct actor__loop *loop, struct actor__deadline *deadline, uint64_t at_ms,
	actor__deadline_cb cb)
{
	uint64_t now = actor__now_ms(loop);

	actor__deadline_cancel(deadline);
	deadline->at_ms = at_ms > now ? at_ms : now;
	deadline->cb = cb;
	actor__deadlines_put(&loop->deadlines, deadline);
	if (loop->deadlines.first == deadline)
		timer_follow(loop);
}

/* Calls what is due now; false: something is left for another time. */
static bool due_call(struct actor__loop *loop)
{
	struct actor__deadlines *deadlines = &loop->deadlines;
	uint64_t order = deadlines->order; /* what callbacks arm is not for this pass */
	uint64_t now = actor__now_ms(loop);
	struct actor__deadline *due;

	while ((due = deadlines->first) && due->at_ms <= now && due->order < order) {
		actor__deadline_cancel(due);
		due->cb(loop, due);
	}
	return !due;
}

/* Instant after instant: what a callback arms is relative to its own time. */
static void manual_follow(struct actor__loop *loop)
{
	uint64_t to_ms = atomic_load(&loop->system->manual_ms);

	while (loop->deadlines.first && loop->deadlines.first->at_ms <= to_ms) {
		if (loop->deadlines.first->at_ms > loop->manual_ms)
			loop->manual_ms = loop->deadlines.first->at_ms;
		due_call(loop);
	}
	loop->manual_ms = to_ms;
}

void actor__alarm_expire(struct actor__loop *loop)
{
	if (ACTOR__UNLIKELY(loop->manual_ms))
		manual_follow(loop);
	else if (!due_call(loop))
		timer_follow(loop);
}

void actor__alarm_advance(struct actor_system *system, uint64_t by_ms)
{
	atomic_fetch_add(&system->manual_ms, by_ms);
	for (uint32_t i = 0; i < system->loop_count; i++) {
		struct actor__loop *loop = system->loops[i];

		if (!actor__loop_here(loop)) {
			actor__handles_signal(loop);
			continue;
		}
		actor__handles_ensure(loop);
		actor__alarm_expire(loop);
	}
}

uint64_t actor__alarm_next_ms(const struct actor__loop *loop)
{
	return loop->deadlines.first ? loop->deadlines.first->at_ms : UINT64_MAX;
}
