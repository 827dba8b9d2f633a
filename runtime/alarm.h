/* SPDX-License-Identifier: MIT */
/* Arms deadlines on a loop: one unreferenced uv_timer_t for the earliest, or a clock by hand.
 *
 * Callbacks run in the loop's timer phase, earliest first, equal times in the order of arming. They
 * only enqueue: no handler runs in them. One that is armed for now, or for the past, is due in the
 * next pass, so a callback must not arm itself for now. The loop's thread. */
#ifndef ACTOR_ALARM_H
#define ACTOR_ALARM_H

#include "handles.h"

#define ACTOR__TIME_MOST_MS ((uint64_t)1 << 48) /* longest wait; longer ones are as good as never */

/* The loop's time: of this pass, or the one set by hand. */
static inline uint64_t actor__now_ms(const struct actor__loop *loop)
{
	return ACTOR__UNLIKELY(loop->manual_ms) ? loop->manual_ms : uv_now(loop->uv);
}

/* The time at this moment, however long the pass has taken so far; the same clock as uv_now(). */
static inline uint64_t actor__fresh_ms(const struct actor__loop *loop)
{
	return ACTOR__UNLIKELY(loop->manual_ms) ? loop->manual_ms : uv_hrtime() / 1000000u;
}

/* When `after_ms` from this moment will have passed. */
static inline uint64_t actor__time_in(const struct actor__loop *loop, uint64_t after_ms)
{
	return actor__fresh_ms(loop) +
	       (after_ms < ACTOR__TIME_MOST_MS ? after_ms : ACTOR__TIME_MOST_MS);
}

/* Calls `cb` once at a time of the loop; an armed deadline is moved. It never fails. */
void actor__deadline_arm(struct actor__loop *loop, struct actor__deadline *deadline, uint64_t at_ms,
	actor__deadline_cb cb);

/* Moves the time of a system with a clock by hand on: on this thread's loop what is due is called at
 * once, instant after instant; other loops follow when they wake, which they are made to. Any
 * thread. */
void actor__alarm_advance(struct actor_system *system, uint64_t by_ms);

/* Calls what is due, and arms the timer for the rest. */
void actor__alarm_expire(struct actor__loop *loop);

/* When the earliest deadline is due; UINT64_MAX: there is none. */
uint64_t actor__alarm_next_ms(const struct actor__loop *loop);

#endif
