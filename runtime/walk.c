/* SPDX-License-Identifier: MIT */
/* Walks over actors, for whoever wants to look inside. */
#include "walk.h"

#include "dispatcher.h"
#include "fork.h"
#include "notice.h"
#include "path.h"
#include "root.h"
#include "slots.h"

#include <errno.h>

#define ACTORS_MOST 64	 /* of one unit */
#define SLOTS_MOST  4096 /* that it looks at */

struct walk {
	struct actor_unit unit; /* first */
	struct actor__notice notice;
	struct actor_system *system;
	struct actor__loop *loop; /* where it is */
	uint32_t slot;		  /* the next one of that loop */
	int status;
	actor_walk_cb cb;
	actor_walk_done_cb done;
	void *data;
};

static const char *const stages[] = {
	[ACTOR_STAGE_STARTING] = "starting",
	[ACTOR_STAGE_RUNNING] = "running",
	[ACTOR_STAGE_SUSPENDED] = "suspended",
	[ACTOR_STAGE_THROTTLED] = "throttled",
	[ACTOR_STAGE_PENDING] = "pending",
	[ACTOR_STAGE_STOPPING] = "stopping",
};

const char *actor_stage_name(enum actor_stage stage)
{
	return (uint32_t)stage < sizeof(stages) / sizeof(stages[0]) ? stages[stage] : NULL;
}

static enum actor_stage stage_of(const struct actor__cell *cell)
{
	switch (actor__cell_life(cell)) {
	case ACTOR__CREATING:
		return ACTOR_STAGE_STARTING;
	case ACTOR__RUNNING:
		break;
	default:
		return ACTOR_STAGE_STOPPING;
	}
	switch (actor__cell_held(cell)) {
	case ACTOR_ABI_PENDING:
		return ACTOR_STAGE_PENDING;
	case ACTOR_ABI_SUSPEND:
		return ACTOR_STAGE_SUSPENDED;
	case ACTOR_ABI_THROTTLE:
		return ACTOR_STAGE_THROTTLED;
	default:
		return ACTOR_STAGE_RUNNING;
	}
}

/* A cell that has not arrived on its loop has no dispatcher instance yet, but the table knows. */
static const char *dispatcher_of(
	const struct actor__cell *cell, const struct actor_abi_actor *entry)
{
	const struct actor_abi_name *name;

	if (cell->unit.dispatcher)
		return cell->unit.dispatcher->spec.id;
	name = actor__table_at(&actor_root.dispatchers, entry->dispatcher);
	return name ? name->text : "";
}

static int visit(struct actor__loop *loop, const struct actor__cell *cell,
	const struct actor_abi_actor *entry, actor_walk_cb cb, void *data)
{
	char path[ACTOR__PATH_BYTES];
	struct actor_info info = {.size = sizeof(info),
		.ref = cell->self,
		.parent = cell->parent,
		.path = path,
		.class_name = cell->cls->name,
		.dispatcher = dispatcher_of(cell, entry),
		.stage = stage_of(cell),
		.loop = (int)loop->index + 1,
		.mailbox = cell->mailbox.count,
		.children = cell->children,
		.throughput = cell->throughput};

	actor__path_text(loop->system, cell->self, path, sizeof(path));
	return cb(&info, data);
}

/* Goes on from *slot, at most so many actors and slots. The callback's value if that is not 0; else
 * 0, with *slot behind the last one when the loop is done. */
static int slots_walk(struct actor__loop *loop, uint32_t *slot, uint32_t actors_most,
	uint32_t slots_most, actor_walk_cb cb, void *data)
{
	const struct actor_abi_table *table = &loop->abi->actors;
	uint32_t end = __atomic_load_n(&table->count, __ATOMIC_ACQUIRE);
	uint32_t actors = 0;
	int rc = 0;

	if (end - *slot > slots_most)
		end = *slot + slots_most;
	for (; *slot < end && actors < actors_most && !rc; ++*slot) {
		const struct actor_abi_actor *entry = actor__table_at(table, *slot);
		/* Acquire: one that another thread has just made is complete. */
		const struct actor__cell *cell =
			entry ? (const struct actor__cell *)(uintptr_t)__atomic_load_n(
					&entry->cell, __ATOMIC_ACQUIRE)
			      : NULL;

		if (!cell)
			continue;
		actors++;
		rc = visit(loop, cell, entry, cb, data);
	}
	return rc;
}

int actor_system_walk_here(struct actor_system *system, actor_walk_cb cb, void *data)
{
	struct actor__loop *loop = NULL;
	uint32_t slot = 0;

	if (actor__forked(system))
		return actor__refusal(system);
	if (!cb)
		return -EINVAL;
	for (uint32_t i = 0; i < system->loop_count; i++)
		if (actor__loop_here(system->loops[i]))
			loop = system->loops[i];
	return loop ? slots_walk(loop, &slot, UINT32_MAX, UINT32_MAX, cb, data) : ACTOR_ETHREAD;
}

/* ---- over all loops ---- */

static void walk_end(struct walk *walk)
{
	struct actor_system *system = walk->system;

	walk->done(system, walk->status, walk->data);
	actor__heap_free(walk);
	/* The last: closing waits for it. */
	atomic_fetch_sub(&system->walks, 1);
}

static void walk_go_on(struct walk *walk)
{
	uint32_t next = walk->loop->index + 1;

	if (walk->status || next == walk->system->loop_count)
		walk_end(walk);
	else
		actor__notice_send(walk->system->loops[next], &walk->notice, ACTOR__WALK, 0, walk);
}

/* A unit of it. */
static int on_unit(struct actor_unit *unit)
{
	struct walk *walk = (struct walk *)unit;

	walk->status =
		slots_walk(walk->loop, &walk->slot, ACTORS_MOST, SLOTS_MOST, walk->cb, walk->data);
	if (!walk->status &&
		walk->slot < __atomic_load_n(&walk->loop->abi->actors.count, __ATOMIC_ACQUIRE))
		actor__unit_queue(unit, 0);
	else
		walk_go_on(walk);
	return 0;
}

void actor__walk_arrive(struct actor__loop *loop, void *data)
{
	struct walk *walk = data;

	walk->loop = loop;
	walk->slot = 0;
	actor_unit_init(&walk->unit, on_unit);
	walk->unit.dispatcher = actor__dispatcher_plain(loop);
	actor__unit_queue(&walk->unit, 0);
}

/* With the system's lock: closing has not begun, and now waits for the walk. */
static int walk_begin(struct actor_system *system, struct walk *walk)
{
	struct actor__loop *first = system->loops[0];
	bool here = actor__loop_here(first);
	int rc = 0;

	pthread_mutex_lock(&system->lock);
	if (atomic_load(&system->phase) != ACTOR__OPEN)
		rc = ACTOR_ECLOSED;
	else
		atomic_fetch_add(&system->walks, 1);
	pthread_mutex_unlock(&system->lock);
	if (rc)
		return rc;
	if (!here) {
		actor__notice_send(first, &walk->notice, ACTOR__WALK, 0, walk);
		return 0;
	}
	actor__handles_ensure(first);
	actor__walk_arrive(first, walk);
	return 0;
}

int actor_system_walk(
	struct actor_system *system, actor_walk_cb cb, actor_walk_done_cb done, void *data)
{
	struct walk *walk;
	int rc;

	if (actor__forked(system))
		return actor__refusal(system);
	if (!cb || !done)
		return -EINVAL;
	walk = actor__heap_zero(sizeof(*walk));
	if (!walk)
		return -ENOMEM;
	walk->system = system;
	walk->cb = cb;
	walk->done = done;
	walk->data = data;
	rc = walk_begin(system, walk);
	if (rc)
		actor__heap_free(walk);
	return rc;
}

/* ---- and wait ---- */

struct waiting {
	pthread_mutex_t lock;
	pthread_cond_t over;
	bool is_over;
	int status;
	actor_walk_cb cb;
	void *data;
};

static int waiting_visit(const struct actor_info *info, void *data)
{
	struct waiting *waiting = data;

	return waiting->cb(info, waiting->data);
}

static void waiting_done(struct actor_system *system, int status, void *data)
{
	struct waiting *waiting = data;

	pthread_mutex_lock(&waiting->lock);
	waiting->status = status;
	waiting->is_over = true;
	pthread_cond_signal(&waiting->over);
	pthread_mutex_unlock(&waiting->lock);
}

int actor_system_walk_wait(struct actor_system *system, actor_walk_cb cb, void *data)
{
	struct waiting waiting = {.cb = cb, .data = data};
	int rc;

	if (actor__forked(system))
		return actor__refusal(system);
	if (!cb)
		return -EINVAL;
	for (uint32_t i = 0; i < system->loop_count; i++)
		if (actor__loop_here(system->loops[i]))
			return -EDEADLK;
	pthread_mutex_init(&waiting.lock, NULL);
	pthread_cond_init(&waiting.over, NULL);
	rc = actor_system_walk(system, waiting_visit, waiting_done, &waiting);
	pthread_mutex_lock(&waiting.lock);
	while (!rc && !waiting.is_over)
		pthread_cond_wait(&waiting.over, &waiting.lock);
	pthread_mutex_unlock(&waiting.lock);
	pthread_cond_destroy(&waiting.over);
	pthread_mutex_destroy(&waiting.lock);
	return rc ? rc : waiting.status;
}
