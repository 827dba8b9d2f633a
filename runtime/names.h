/* SPDX-License-Identifier: MIT */
/* The named actors of a system: unique among siblings, found by path. Any thread, one lock;
 * anonymous actors never come here. */
#ifndef ACTOR_NAMES_H
#define ACTOR_NAMES_H

#include "actor.h"

#include <pthread.h>

struct actor__name {
	struct actor__name *next; /* in its bucket */
	actor_ref parent;         /* 0 = top level */
	actor_ref ref;
	uint64_t hash;
	char text[];
};

struct actor__names {
	pthread_mutex_t lock;
	struct actor__name **buckets; /* NULL until the first name */
	size_t bucket_count;          /* power of two */
	size_t count;
};

void actor__names_init(struct actor__names *names);
void actor__names_fini(struct actor__names *names);

/* Takes a name for `ref`. 0, -EEXIST, -ENOMEM. */
int actor__names_add(struct actor__names *names, actor_ref parent, const char *text, actor_ref ref,
	struct actor__name **out);

/* Gives it back and frees it. NULL is fine. */
void actor__names_remove(struct actor__names *names, struct actor__name *name);

/* The ref of a child by the name text[0 ... bytes-1], or 0. */
actor_ref actor__names_find(
	struct actor__names *names, actor_ref parent, const char *text, size_t bytes);

#endif
