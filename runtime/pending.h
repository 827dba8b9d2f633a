/* SPDX-License-Identifier: MIT */
/* Handlers that go on after they have returned, until somebody completes them.
 *
 * A loop knows its pending handlers by a number; the table has a lock, since any thread may
 * complete one, once. Whoever finds it there takes it out and owns it until its notice
 * has arrived on the actor's loop, where the actor's next turn ends the handler (completion.h). Its
 * memory was there from the beginning, so completing cannot fail for want of it.
 *
 * Meanwhile the message stays where it is, in the mailbox's front, and counts there. */
#ifndef ACTOR_PENDING_H
#define ACTOR_PENDING_H

#include "core.h"

struct actor__pending {
	struct actor__notice notice; /* brings the completion to the actor's loop */
	struct actor__cell *cell;
	uint64_t number;
	struct actor__envelope *envelope; /* NULL: the handler has not returned yet */
	uint64_t began_ticks; /* the handler; 0: nobody listened */
	uint32_t depth;
	uint32_t timer; /* number of the timer whose message it is, 0 = none */
	int failure;    /* what the handler returned after it had been completed already */
	bool taken;     /* the payload is the handler's */
	bool here;      /* it was completed before it has returned, on its loop */
	bool abandoned; /* the system closes: nobody has completed it */
	bool closing;   /* the system closes: its job completes it, and a failure is none */
	struct actor__job *job; /* that completes it, or NULL */
	struct actor__pending *next; /* while being abandoned */
	/* written by whoever completes it */
	int status;
	actor_complete_cb cb;
	void *data;
};

void actor__pendings_init(struct actor__pendings *pendings);
void actor__pendings_fini(struct actor__pendings *pendings);

/* The running handler may go on after its return, or a completion's callback. 0, -ENOMEM. */
int actor__pending_register(struct actor__cell *cell);

/* The handler, or a completion's callback, has failed after it was registered. False: it has been
 * completed as well, or will be by its job, and stays pending until that has arrived. */
bool actor__pending_revoke(struct actor__cell *cell, int failure);

/* The handler has returned: its message is held. From now on nothing else of this actor runs. */
void actor__pending_hold(struct actor__cell *cell, struct actor__envelope *envelope, uint32_t depth,
	uint64_t began_ticks, bool taken);

/* A completion's callback was registered again and has returned: the same. One that was completed
 * meanwhile on the same loop does not wait. */
void actor__pending_go_on(struct actor__cell *cell);

/* Takes out what is known by a token, as completed; NULL: there is none. Any thread. */
struct actor__pending *actor__pending_take(
	struct actor__pendings *pendings, const struct actor_token *token);

/* It has been completed: its actor asks for a turn. */
void actor__pending_arrive(struct actor__pending *pending);

/* The loop's system closes: all that are not completed end with their actors; those that wait for
 * a job, when that is done. */
void actor__pendings_abandon(struct actor__pendings *pendings);

/* Frees what has ended. */
void actor__pending_free(struct actor__cell *cell);

#endif
