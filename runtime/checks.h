/* SPDX-License-Identifier: MIT */
/* What a system keeps for its health checks; used by health.c alone. */
#ifndef ACTOR_CHECKS_H
#define ACTOR_CHECKS_H

#include "actor.h"

#include <pthread.h>
#include <stdatomic.h>

struct actor__check {
	struct actor__check *next; /* in the order they were added */
	enum actor_health_kind kind;
	actor_health_cb cb;
	void *data;
	uint64_t failed; /* times that it could not tell */
	char name[ACTOR_NAME_BYTES + 1];
};

struct actor__health {
	pthread_mutex_t lock; /* of the list, and held while checks run */
	struct actor__check *checks;
	_Atomic uintptr_t inside; /* pthread_self() of the thread whose checks run; 0: none */
};

#endif
