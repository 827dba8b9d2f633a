/* SPDX-License-Identifier: MIT */
/* What is to happen at a time: a heap of one loop's deadlines, earliest first.
 *
 * A deadline is embedded in whatever waits for it, so that arming needs no memory and never fails.
 * The heap is a pairing heap (Fredman, Sedgewick, Sleator, Tarjan: The Pairing Heap, 1986): arming
 * is a comparison, cancelling one that lies below others is no more, taking the earliest is
 * O(log n) amortised. Equal times keep the order in which they were armed. Used by the loop's
 * thread only. */
#ifndef ACTOR_DEADLINES_H
#define ACTOR_DEADLINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct actor__loop;
struct actor__deadline;

/* The time has come; the deadline is no longer armed and may be armed again or freed. */
typedef void (*actor__deadline_cb)(struct actor__loop *loop, struct actor__deadline *deadline);

/* All zero: not armed. */
struct actor__deadline {
	uint64_t at_ms; /* of actor__now_ms() */
	uint64_t order; /* how many were armed before */
	actor__deadline_cb cb;
	struct actor__deadline *child;
	struct actor__deadline *next;
	struct actor__deadline **place; /* what points here; NULL: not armed */
};

struct actor__deadlines {
	struct actor__deadline *first; /* the earliest */
	uint64_t order;
};

static inline bool actor__deadline_armed(const struct actor__deadline *deadline)
{
	return deadline->place != NULL;
}

/* Puts in one that is not armed; `at_ms` and `cb` are set. */
void actor__deadlines_put(struct actor__deadlines *deadlines, struct actor__deadline *deadline);

/* Takes one out, whichever it is. Nothing happens if it is not armed. */
void actor__deadline_cancel(struct actor__deadline *deadline);

#endif
