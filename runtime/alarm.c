/* SPDX-License-Identifier: MIT */
/* From the earliest deadline to the loop's timer and back. */
#include "alarm.h"

/* The timer may stand for a deadline that was cancelled: it then comes for nothing, once. */
static void timer_follow(struct actor__loop *loop)
{
	uint64_t at_ms = loop->deadlines.first->at_ms;

	/* 0 - 1: the timer is not armed */
	if (!loop->manual_ms && !loop->closed && at_ms - 1 < loop->handles->timer_at_ms - 1)
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

void actor__alarm_expire(struct actor__loop *loop)
{
	struct actor__deadlines *deadlines = &loop->deadlines;
	uint64_t order = deadlines->order; /* what callbacks arm is not for this pass */
	uint64_t now = actor__now_ms(loop);
	struct actor__deadline *due;

	while ((due = deadlines->first) && due->at_ms <= now && due->order < order) {
		actor__deadline_cancel(due);
		due->cb(loop, due);
	}
	if (due)
		timer_follow(loop);
}

uint64_t actor__alarm_next_ms(const struct actor__loop *loop)
{
	return loop->deadlines.first ? loop->deadlines.first->at_ms : UINT64_MAX;
}
