/* SPDX-License-Identifier: MIT */
/* Who wants to hear of which events: the subscriptions of a system. Any thread, one lock.
 *
 * Each kind of event has an *audience*, the list of its subscriptions. Whoever publishes holds the
 * audience as it was when he began, without the lock: what comes later stands behind his end of the
 * list or in a larger one, and what goes meanwhile is marked and swept out when nobody holds it.
 * A subscription lives as long as a list that has it. So neither coming nor going waits for those
 * who publish, and going needs no memory. */
#ifndef ACTOR_SUBSCRIPTIONS_H
#define ACTOR_SUBSCRIPTIONS_H

#include "actor.h"
#include "index.h"

#include <pthread.h>
#include <stdatomic.h>

struct actor__subscription {
	struct actor__subscription *next; /* of the same actor; among those to be freed */
	actor_ref ref;
	uint32_t kind;  /* number of the type */
	uint32_t uses;  /* lists that have it; the lock */
	uint32_t place; /* in the newest of them; the lock */
	int (*predicate)(void *data, const struct actor_message *event);
	void (*release)(void *data);
	void *data;
	_Atomic uint32_t removed;    /* publishers step over it */
	_Atomic uint32_t complained; /* something was wrong with it, and was logged */
};

struct actor__audience {
	uint32_t uses; /* the kind itself, and whoever publishes; the lock */
	uint32_t count;
	uint32_t room;
	uint32_t removed; /* of them */
	struct actor__kind *kind;
	struct actor__subscription *at[];
};

struct actor__kind {
	struct actor__audience *audience; /* NULL: none yet */
	struct actor__kind *next;         /* of the system */
	uint32_t number;
};

struct actor__subscriptions {
	/* Bit n % 64 is set while a kind with the number n has subscriptions: a look without the
	 * lock may miss one that has just come. */
	_Atomic uint64_t mask;
	pthread_mutex_t lock; /* of what follows */
	struct actor__kind *kinds;
	struct actor__index by_kind; /* of struct actor__kind */
	struct actor__index by_ref;  /* of an actor's first struct actor__subscription */
	uint32_t counts[64];         /* subscriptions per bit of the mask */
};

void actor__subscriptions_init(struct actor__subscriptions *all);
void actor__subscriptions_fini(struct actor__subscriptions *all);

static inline bool actor__subscribed(const struct actor__subscriptions *all, uint32_t kind)
{
	return atomic_load_explicit(&all->mask, memory_order_relaxed) >> kind % 64 & 1;
}

/* Adds one. 0; -EALREADY: it has no predicate, and there is one like it; -ENOMEM. */
int actor__subscriptions_add(struct actor__subscriptions *all, actor_ref ref, uint32_t kind,
	const struct actor_subscription *subscription);

/* Removes an actor's subscriptions of one kind, or of all (0). Returns how many they were. */
int actor__subscriptions_remove(struct actor__subscriptions *all, actor_ref ref, uint32_t kind);

/* Holds the audience of a kind as it is now, and how many it has; NULL: nobody. It is to be given
 * back. */
struct actor__audience *actor__audience_take(
	struct actor__subscriptions *all, uint32_t kind, uint32_t *count);
void actor__audience_give(struct actor__subscriptions *all, struct actor__audience *audience);

#endif
