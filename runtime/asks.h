/* SPDX-License-Identifier: MIT */
/* What waits for an answer: asks of actors (per loop) and of threads outside (per system).
 *
 * An ask has a 32-bit number, unique among the pending ones of its loop and not used again for
 * four billion asks. */
#ifndef ACTOR_ASKS_H
#define ACTOR_ASKS_H

#include "actor.h"
#include "deadlines.h"
#include "index.h"
#include "memory.h"

#include <pthread.h>
#include <stdbool.h>

struct actor__cell;
struct actor__loop;

struct actor__ask {
	struct actor__deadline deadline; /* not armed: none, or it has passed */
	uint32_t number;
	struct actor__cell *cell;
	struct actor__ask *next; /* of the cell */
	struct actor__ask *previous;
	actor_reply_cb cb;
	void *data;
	actor_ref stops; /* of stopwait.c: who is to end until then */
};

/* One loop's; used by its thread only. */
struct actor__asks {
	struct actor__index by_number;
	uint32_t last_number;
};

/* Adds an ask with a fresh number and links it to the head of *list. NULL: no memory. */
struct actor__ask *actor__asks_add(
	struct actor__asks *asks, struct actor__pool *pool, struct actor__ask **list);

/* The ask with this number, or NULL. */
static inline struct actor__ask *actor__asks_find(const struct actor__asks *asks, uint32_t number)
{
	return (struct actor__ask *)actor__index_find(&asks->by_number, number);
}

/* Unlinks and frees it; its deadline is cancelled. */
void actor__asks_remove(struct actor__asks *asks, struct actor__pool *pool,
	struct actor__ask **list, struct actor__ask *ask);

/* Who waits outside for an answer: a thread, or a query (query.h). */
struct actor__waiter {
	uint32_t number;
	/* a query's: gets the answer, on the thread that answers, and is out of the table then */
	void (*answered)(struct actor__waiter *waiter, const struct actor_message *reply);
	struct actor__loop *loop; /* of the asked actor */
	struct actor__waiter *next;
	/* a thread's */
	int status; /* 1 = still waiting */
	void *reply;
	size_t room;
	size_t bytes; /* true size of the answer */
	pthread_cond_t done;
};

struct actor__waiters {
	pthread_mutex_t lock;
	struct actor__index by_number;
	uint32_t last_number;
	bool closed;
};

void actor__waiters_init(struct actor__waiters *waiters);
void actor__waiters_fini(struct actor__waiters *waiters);

/* Adds a waiter. 0, -ECANCELED: the system has closed, -ENOMEM. Any thread. */
int actor__waiter_begin(struct actor__waiters *waiters, struct actor__waiter *waiter);

/* Blocks until it is completed, or -ETIMEDOUT; timeout_ms < 0: for ever. */
int actor__waiter_wait(
	struct actor__waiters *waiters, struct actor__waiter *waiter, int64_t timeout_ms);

/* Ends a thread's waiter. The system is not freed before that. */
void actor__waiter_leave(struct actor__waiters *waiters, struct actor__waiter *waiter);

/* Both. */
int actor__waiter_end(
	struct actor__waiters *waiters, struct actor__waiter *waiter, int64_t timeout_ms);

/* Hands an answer to a waiter that may have left. A query, which it returns, is only taken out; it
 * is to be told. Any thread. */
struct actor__waiter *actor__waiter_complete(
	struct actor__waiters *waiters, uint32_t number, const void *payload, size_t bytes);

/* Is a query in the table? Takes it out; false: it was not there. Any thread. */
bool actor__waiter_waits(struct actor__waiters *waiters, const struct actor__waiter *waiter);
bool actor__waiter_take(struct actor__waiters *waiters, struct actor__waiter *waiter);

/* Takes all queries to actors of this loop out; a list by `next`. */
struct actor__waiter *actor__waiters_take_all(
	struct actor__waiters *waiters, const struct actor__loop *loop);

/* Completes a thread with an error; false: it has left, or is a query. Any thread. */
bool actor__waiter_refuse(struct actor__waiters *waiters, uint32_t number, int status);

/* Completes all threads with -ECANCELED and refuses new waiters. */
void actor__waiters_cancel(struct actor__waiters *waiters);

/* Returns when every waiter has left; after actor__waiters_cancel(). */
void actor__waiters_rest(struct actor__waiters *waiters);

#endif
