/* SPDX-License-Identifier: MIT */
/* What a system keeps for its coordinated shutdown; used by shutdown.c. */
#ifndef ACTOR_PHASES_H
#define ACTOR_PHASES_H

#include "actor.h"
#include "inbox.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define ACTOR__PHASES 12u

enum actor__task_state {
	ACTOR__TASK_WAITS, /* for its phase */
	ACTOR__TASK_RUNS,
	ACTOR__TASK_OVER, /* done, failed or late */
};

struct actor__task {
	struct actor__task *next; /* in the order they were added */
	int number;
	enum actor_shutdown_phase phase;
	enum actor__task_state state;
	int status; /* what it failed with; logged by the first loop */
	actor_shutdown_cb cb;
	void *data;
	char name[ACTOR_NAME_BYTES + 1];
};

struct actor__shutdown {
	pthread_mutex_t lock; /* of the tasks and what is between here and `begun` */
	struct actor__task *tasks;
	int last_number;
	uint32_t phase; /* that runs or ran last; 0: none yet */
	int64_t timeout_ms[ACTOR__PHASES + 1];
	_Atomic uint32_t begun; /* written with the system's lock */
	/* with the system's lock, before it begins */
	actor_close_cb close_cb;
	void *close_data;
	bool waited_for;
	struct actor__notice notice; /* to the first loop */
	/* the first loop */
	bool running; /* the tasks of `phase` were begun */
	uint64_t deadline_ns;
	uint32_t wait_ms; /* until the next look */
};

#endif
