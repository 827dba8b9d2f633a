/* SPDX-License-Identifier: MIT */
/* What a system keeps for its log; used by log.c alone. */
#ifndef ACTOR_LOGGER_H
#define ACTOR_LOGGER_H

#include "actor.h"

#include <pthread.h>
#include <stdatomic.h>

struct actor__sink {
	struct actor__sink *next;
	int id;
	struct actor_log_sink sink;
};

struct actor__logger {
	_Atomic uint32_t level; /* enum actor_log_level: the lowest that is logged */
	pthread_mutex_t lock;   /* of what follows */
	struct actor__sink *sinks; /* in the order they came; NULL: stderr */
	int last_id;
	actor_log_cb plain; /* of the system's options */
	void *plain_data;
};

#endif
