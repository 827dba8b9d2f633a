/* SPDX-License-Identifier: MIT */
/* Two queues per loop, and a unit of our own on the dispatcher below that runs one turn of them. */
#include "fastlane.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

enum which { FAST, SLOW, LANES };

struct queue {
	struct actor_unit *first, **last;
};

/* What both dispatchers of one loop share. Used by the loop's thread. */
struct fastlane_loop {
	struct actor_unit pump; /* first: it is the structure */
	struct fastlane_loop *next;
	uv_loop_t *uv;
	struct actor_dispatcher *inner;
	struct queue queues[LANES];
	unsigned int in_a_row, patience;
	bool pumping; /* the pump is queued */
	unsigned int users; /* dispatchers that are open */
};

/* One dispatcher on one loop. */
struct instance {
	struct fastlane *lane;
	struct fastlane_loop *loop;
	enum which which;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all lists of loops */

/* A unit that waits with us is in no list of the runtime, so its `next` is ours. */
static void queue_push(struct queue *queue, struct actor_unit *unit)
{
	if (!queue->first)
		queue->last = &queue->first;
	unit->next = NULL;
	*queue->last = unit;
	queue->last = &unit->next;
}

static struct actor_unit *queue_pop(struct queue *queue)
{
	struct actor_unit *unit = queue->first;

	queue->first = unit->next;
	return unit;
}

static void pump_start(struct fastlane_loop *loop)
{
	if (!loop->pumping && (loop->queues[FAST].first || loop->queues[SLOW].first))
		loop->pumping = actor_dispatcher_execute(loop->inner, &loop->pump) == 0;
}

static enum which choose(struct fastlane_loop *loop)
{
	bool waits = loop->queues[SLOW].first != NULL;

	if (loop->queues[FAST].first && !(waits && loop->in_a_row >= loop->patience)) {
		loop->in_a_row += waits;
		return FAST;
	}
	loop->in_a_row = 0;
	return SLOW;
}

/* One turn. What it makes ready comes in by execute() meanwhile. */
static int pump_run(struct actor_unit *unit)
{
	struct fastlane_loop *loop = (struct fastlane_loop *)unit;

	loop->pumping = false;
	actor_unit_run(queue_pop(&loop->queues[choose(loop)]));
	pump_start(loop);
	return 0;
}

static void lane_execute(void *self, struct actor_unit *unit)
{
	struct instance *instance = self;

	queue_push(&instance->loop->queues[instance->which], unit);
	pump_start(instance->loop);
}

static struct fastlane_loop *loop_new(struct fastlane *lane, uv_loop_t *uv)
{
	struct fastlane_loop *loop = calloc(1, sizeof(*loop));

	if (!loop)
		return NULL;
	actor_unit_init(&loop->pump, pump_run);
	loop->uv = uv;
	loop->patience = lane->patience ? lane->patience : FASTLANE_PATIENCE;
	loop->next = lane->loops;
	lane->loops = loop;
	return loop;
}

/* The loop's structure, made by whichever of its two dispatchers is opened first. */
static struct fastlane_loop *loop_use(struct fastlane *lane, uv_loop_t *uv)
{
	struct fastlane_loop *loop;

	pthread_mutex_lock(&lock);
	for (loop = lane->loops; loop && loop->uv != uv; loop = loop->next)
		;
	if (!loop)
		loop = loop_new(lane, uv);
	if (loop)
		loop->users++;
	pthread_mutex_unlock(&lock);
	return loop;
}

static int lane_open(
	void **self, struct actor_dispatcher *dispatcher, struct fastlane *lane, enum which which)
{
	struct instance *instance = calloc(1, sizeof(*instance));
	struct actor_dispatcher *inner;
	int rc = -ENOMEM;

	if (!instance)
		return rc;
	rc = actor_dispatcher_delegate(dispatcher, lane->inner, &inner);
	if (!rc)
		instance->loop = loop_use(lane, actor_dispatcher_loop(dispatcher));
	if (!rc && !instance->loop)
		rc = -ENOMEM;
	if (rc) {
		free(instance);
		return rc;
	}
	instance->loop->inner = inner;
	instance->lane = lane;
	instance->which = which;
	*self = instance;
	return 0;
}

static int fast_open(void **self, struct actor_dispatcher *dispatcher, void *data)
{
	return lane_open(self, dispatcher, data, FAST);
}

static int slow_open(void **self, struct actor_dispatcher *dispatcher, void *data)
{
	return lane_open(self, dispatcher, data, SLOW);
}

/* The last of both frees what they share. */
static void lane_close(void *self)
{
	struct instance *instance = self;
	struct fastlane_loop *loop = instance->loop;
	struct fastlane_loop **place = &instance->lane->loops;

	pthread_mutex_lock(&lock);
	if (!--loop->users) {
		while (*place != loop)
			place = &(*place)->next;
		*place = loop->next;
		free(loop);
	}
	pthread_mutex_unlock(&lock);
	free(instance);
}

static const struct actor_dispatcher_ops fast_ops = {
	.size = sizeof(fast_ops),
	.open = fast_open,
	.execute = lane_execute,
	.close = lane_close,
};

static const struct actor_dispatcher_ops slow_ops = {
	.size = sizeof(slow_ops),
	.open = slow_open,
	.execute = lane_execute,
	.close = lane_close,
};

int fastlane_dispatchers(struct fastlane *lane, struct actor_dispatcher_spec *fast,
	const char *fast_id, struct actor_dispatcher_spec *slow, const char *slow_id)
{
	int rc = actor_dispatcher_custom(fast, &fast_ops, lane, fast_id);

	return rc ? rc : actor_dispatcher_custom(slow, &slow_ops, lane, slow_id);
}
