/* SPDX-License-Identifier: MIT */
/* Notices: what loops tell each other about actors and about closing.
 *
 * A message may be refused for want of memory, since its teller hears of it. Nobody hears of the
 * loss of a notice: a parent would wait for a child that has gone, and closing for both. So a
 * notice lies in memory that was reserved before there was anything to tell, and sending cannot
 * fail: those of a parent and its child on another loop in their bond (bond.h), orders to a loop in
 * the loop, the one to shut down in the system, the news of an actor from outside in a block that is made before the actor can be
 * found.
 *
 * Notices have an inbox of their own in each loop. Order: FIFO from one thread to one loop, so
 * CREATE comes before ORDERS. Between notices and mail there is none: a notice is taken in
 * after what had entered the loop's rings before, but overtakes what waits behind a full ring.
 *
 * A notice has one owner at a time: the cell (or loop) that may send it, then the inbox, then
 * whoever handles its command on the receiving loop. A new kind: a command here, its place in
 * the receiver's switch (receive.c), and a reserved place to send it from, made when the relation
 * begins that it belongs to: a field of the bond, or a struct of its own with a tie. */
#ifndef ACTOR_NOTICE_H
#define ACTOR_NOTICE_H

#include "core.h"

enum actor__command {
	ACTOR__CREATE = 1,     /* to: the new actor; pointer: its dispatcher's spec entry */
	ACTOR__ORDERS = 2,     /* to: the child; in the bond */
	ACTOR__CHILD_GONE = 3, /* to: the parent */
	ACTOR__COMPLETED = 20, /* a pending handler, whose it is */
	ACTOR__ASKED = 21,     /* a query from outside */
	ACTOR__WATCH = 22,     /* somebody waits for an actor's end, see vigil.h */
	ACTOR__UNWATCH = 23,   /* and no longer */
	ACTOR__WALK = 24,      /* pointer: a walk over actors, see walk.h */
	ACTOR__HURRY = 25,     /* a stop has taken too long: the actor is to end at once */
	/* orders to a loop */
	ACTOR__STOP_ALL = 4,
	ACTOR__END = 5,        /* close the loop */
	ACTOR__CLOSE = 6,      /* to the first loop: begin to close the system */
	ACTOR__SHUTDOWN = 7,   /* to the first loop: begin with the first phase */
	/* between the child and the parent, see bond.h */
	ACTOR__FAULT = 8,     /* to: the parent; pointer: the text, a heap block or NULL */
	ACTOR__DIRECTIVE = 9, /* to: the child */
	ACTOR__HALT = 10,     /* to a loop: stop all actors, the system is not closing yet */
};

/* Sends a notice that is the caller's; any thread, while the loop cannot have ended. */
void actor__notice_send(struct actor__loop *loop, struct actor__notice *notice,
	enum actor__command command, actor_ref to, void *pointer);

/* Sends an order by the loop's own notice: the order before it has been obeyed. */
void actor__order_send(struct actor__loop *loop, enum actor__command command);

#endif
