/* SPDX-License-Identifier: MIT */
/* The one unit per pass that all immediate dispatchers of a uv_loop_t share, whoever owns them.
 *
 * Several systems may live on one uv_loop_t, each with a loop structure and a check handle of its
 * own. Those of them that have an immediate dispatcher are *members* of one actor__pass, in the
 * order of their turns.
 *
 * When it ends. A member's check drain *marks* it. The pass is over at the end of the drain after
 * which every member with an active check handle has its mark; the count begins anew there, so
 * that what actor_system_drain() runs afterwards is of the next pass. That needs no order among the
 * check handles. A member may miss a check phase: its handle is of this phase, or was closed after
 * the others' marks. So a pass with marks is over at latest at the next prepare of any member,
 * where no check phase is under way; what was run by hand since the last mark then counts for the
 * pass that begins.
 *
 * Whose turn it is. The member that ran goes to the end of the line. A member leaves the unit to
 * one before it that has a unit ready and whose check is to come: n members that are always ready
 * get one pass in n each. One that was not there in the pass before is not waited for, so that
 * nobody waits for a member that never comes.
 *
 * All is of the uv_loop_t's thread, but the list of passes, which has a lock: taken when a member
 * joins or leaves. A loop without an immediate dispatcher is no member and pays nothing.
 */
#ifndef ACTOR_PASS_H
#define ACTOR_PASS_H

#include "core.h"

struct actor__pass {
	uv_loop_t *uv;
	struct actor__loop *first; /* member whose turn is next, the others behind it */
	uint64_t number;           /* of this pass; a member's mark is the number of its last one */
	uint32_t ran;              /* units in this pass */
	uint32_t ran_unmarked;     /* of them since the last mark */
	struct actor__pass *next;  /* of the process; under the lock */
};

/* Makes the loop a member; nothing if it is one. 0 or -ENOMEM. The loop's thread, or before that
 * runs. */
int actor__pass_join(struct actor__loop *loop);

/* Ends that; nothing if it is none. The last member frees the pass. */
void actor__pass_leave(struct actor__loop *loop);

/* May this member run a unit of an immediate dispatcher now? */
bool actor__pass_allows(const struct actor__loop *loop);

/* A member is about to run one. */
void actor__pass_spend(struct actor__loop *loop);

/* A member's prepare, and the end of its drain in check. */
void actor__pass_prepare(struct actor__loop *loop);
void actor__pass_mark(struct actor__loop *loop);

#endif
