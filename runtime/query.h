/* SPDX-License-Identifier: MIT */
/* Asks from outside that do not block: a callback gets the answer on the asked actor's loop.
 *
 * A query is known by its number like a thread that waits (asks.h); whoever takes it out of that
 * table calls it, once. Its time-out is a deadline of the asked actor's loop, armed by a notice if
 * another thread asks, so a query is freed when both are through with it. */
#ifndef ACTOR_QUERY_H
#define ACTOR_QUERY_H

#include "core.h"

struct actor__query {
	struct actor__waiter waiter;
	struct actor__notice notice; /* arms the deadline */
	struct actor__deadline deadline;
	struct actor__loop *loop; /* of the asked actor */
	actor_ref stops; /* the asked actor, if its end is the answer; else 0 */
	uint64_t timeout_ms;
	bool timed;
	actor_answer_cb cb;
	void *data;
	_Atomic uint32_t holds; /* the table, and the deadline from before its notice is sent */
};

/* The notice has come. */
void actor__query_arm(struct actor__loop *loop, struct actor__notice *notice);

/* The loop ends: none of its queries is answered any more. */
void actor__queries_end(struct actor__loop *loop);

#endif
