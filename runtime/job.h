/* SPDX-License-Identifier: MIT */
/* Jobs: what an actor has given to libuv's thread pool, until its result is back on the loop.
 *
 * A job either carries a message, which is told when it is done, or completes a pending handler. It
 * belongs to its actor's instance: when that ends, a job that has not begun is cancelled, and a
 * running one goes on without it. A loop does not end before its last job has. Everything but the
 * work itself runs on the loop's thread. */
#ifndef ACTOR_JOB_H
#define ACTOR_JOB_H

#include "core.h"

struct actor__job {
	uv_work_t request;
	struct actor__loop *loop;
	struct actor__cell *cell; /* NULL: its instance has ended */
	struct actor__job *next;  /* of the cell */
	struct actor__job *previous;
	/* carries a message */
	actor_work_cb work;
	struct actor__envelope envelope;
	struct actor__deadline again; /* there was no memory to deliver it */
	/* or completes a handler */
	actor_pending_work_cb pending;
	actor_complete_cb cb;
	void *data;
	int status;
	struct actor_token token;
};

/* A job of this cell, counted and listed, all else zero. NULL: no memory. */
struct actor__job *actor__job_new(struct actor__cell *cell);

/* Undoes one that was not handed to the pool. */
void actor__job_unmake(struct actor__job *job);

/* Hands it to the pool. */
void actor__job_begin(struct actor__job *job);

/* The cell's instance ends. */
void actor__jobs_clear(struct actor__cell *cell);

/* Does not run it if it has not begun; it is done soon in any case. */
void actor__job_cancel(struct actor__job *job);

#endif
