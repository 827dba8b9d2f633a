/* SPDX-License-Identifier: MIT */
/* Runs the tasks of a shutdown phase by phase. */
#include "shutdown.h"

#include "config.h"
#include "fork.h"
#include "handles.h"
#include "log.h"
#include "notice.h"
#include "registry.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LOOK_MOST_MS	25
#define TIMEOUT_MOST_MS 3600000

static const char *const names[ACTOR__PHASES + 1] = {
#define NAME(phase, text) [phase] = text,
	ACTOR_SHUTDOWN_PHASES(NAME)
#undef NAME
};

void actor__shutdown_init(struct actor__shutdown *shutdown, int64_t timeout_ms)
{
	pthread_mutex_init(&shutdown->lock, NULL);
	for (uint32_t i = 0; i <= ACTOR__PHASES; i++)
		shutdown->timeout_ms[i] = timeout_ms;
}

void actor__shutdown_fini(struct actor__shutdown *shutdown)
{
	while (shutdown->tasks) {
		struct actor__task *task = shutdown->tasks;

		shutdown->tasks = task->next;
		actor__heap_free(task);
	}
	pthread_mutex_destroy(&shutdown->lock);
}

/* ---- what a program does with tasks; any thread ---- */

static bool phase_valid(enum actor_shutdown_phase phase)
{
	return (uint32_t)phase >= 1 && (uint32_t)phase <= ACTOR__PHASES;
}

const char *actor_shutdown_phase_name(enum actor_shutdown_phase phase)
{
	return phase_valid(phase) ? names[phase] : NULL;
}

/* Appends a task whose number is not set yet; its number or an error. The lock is held. */
static int task_append(struct actor__shutdown *s, struct actor__task *task)
{
	struct actor__task **last = &s->tasks;

	if ((uint32_t)task->phase <= s->phase)
		return ACTOR_ECLOSED;
	if (s->last_number == INT32_MAX)
		return ACTOR_ELIMIT;
	for (; *last; last = &(*last)->next)
		if ((*last)->phase == task->phase && strcmp((*last)->name, task->name) == 0)
			return -EEXIST;
	task->number = ++s->last_number;
	*last = task;
	return task->number;
}

int actor_shutdown_add(struct actor_system *system, enum actor_shutdown_phase phase,
	const char *name, actor_shutdown_cb cb, void *data)
{
	struct actor__task *task;
	int rc;

	if (actor__forked(system))
		return actor__refusal(system);
	if (!phase_valid(phase) || !cb)
		return -EINVAL;
	if (!actor__name_valid(name))
		return ACTOR_ENAME;
	task = actor__heap_zero(sizeof(*task));
	if (!task)
		return -ENOMEM;
	task->phase = phase;
	task->cb = cb;
	task->data = data;
	snprintf(task->name, sizeof(task->name), "%s", name);
	pthread_mutex_lock(&system->shutdown.lock);
	rc = task_append(&system->shutdown, task);
	pthread_mutex_unlock(&system->shutdown.lock);
	if (rc < 0)
		actor__heap_free(task);
	return rc;
}

/* The lock is held. */
static struct actor__task **task_find(struct actor__shutdown *s, int number)
{
	struct actor__task **place = &s->tasks;

	while (*place && (*place)->number != number)
		place = &(*place)->next;
	return place;
}

int actor_shutdown_remove(struct actor_system *system, int number)
{
	struct actor__task **place, *task;
	struct actor__shutdown *s;
	int rc = 0;

	if (actor__forked(system))
		return actor__refusal(system);
	s = &system->shutdown;
	pthread_mutex_lock(&s->lock);
	place = task_find(s, number);
	task = *place;
	if (!task)
		rc = -ENOENT;
	else if (task->state != ACTOR__TASK_WAITS)
		rc = task->state == ACTOR__TASK_RUNS ? -EBUSY : -ESTALE;
	else
		*place = task->next;
	pthread_mutex_unlock(&s->lock);
	if (!rc)
		actor__heap_free(task);
	return rc;
}

int actor_shutdown_done(struct actor_system *system, int number, int status)
{
	struct actor__shutdown *s;
	struct actor__task *task;
	int rc = 0;

	if (actor__forked(system))
		return actor__refusal(system);
	s = &system->shutdown;
	pthread_mutex_lock(&s->lock);
	task = *task_find(s, number);
	if (!task)
		rc = -ENOENT;
	else if (task->state != ACTOR__TASK_RUNS)
		rc = task->state == ACTOR__TASK_WAITS ? -EINVAL : -ESTALE;
	if (!rc) {
		task->status = status < 0 ? status : 0;
		task->state = ACTOR__TASK_OVER;
	}
	pthread_mutex_unlock(&s->lock);
	return rc;
}

int actor_shutdown_timeout(
	struct actor_system *system, enum actor_shutdown_phase phase, int64_t timeout_ms)
{
	uint32_t first = phase ? (uint32_t)phase : 1;
	uint32_t last = phase ? (uint32_t)phase : ACTOR__PHASES;
	struct actor__shutdown *s;

	if (actor__forked(system))
		return actor__refusal(system);
	s = &system->shutdown;
	if ((phase && !phase_valid(phase)) || timeout_ms < 1 || timeout_ms > TIMEOUT_MOST_MS)
		return -EINVAL;
	if (system->config && system->config->override &&
		system->config->phase_timeout_ms != ACTOR__UNSET) {
		actor__log(system, ACTOR_LOG_WARN,
			"%s: override: shutdown.phase_timeout_ms = %" PRId64
			" instead of the program's %" PRId64,
			system->config->file, system->config->phase_timeout_ms, timeout_ms);
		return 0;
	}
	pthread_mutex_lock(&s->lock);
	for (uint32_t i = first; i <= last; i++)
		s->timeout_ms[i] = timeout_ms;
	pthread_mutex_unlock(&s->lock);
	return 0;
}

/* ---- running; the first loop ---- */

/* The first task of this phase in such a state, or NULL. The lock is held. */
static struct actor__task *task_in(
	struct actor__shutdown *s, uint32_t phase, enum actor__task_state state)
{
	struct actor__task *task = s->tasks;

	while (task && ((uint32_t)task->phase != phase || task->state != state))
		task = task->next;
	return task;
}

/* Begins all tasks of the phase. Running ones cannot be removed, so they stay while unlocked. */
static void tasks_begin(struct actor_system *system)
{
	struct actor__shutdown *s = &system->shutdown;
	struct actor__task *task;
	int rc;

	pthread_mutex_lock(&s->lock);
	while ((task = task_in(s, s->phase, ACTOR__TASK_WAITS))) {
		task->state = ACTOR__TASK_RUNS;
		pthread_mutex_unlock(&s->lock);
		rc = task->cb(system, task->number, task->data);
		pthread_mutex_lock(&s->lock);
		/* It may have said itself that it is done. */
		if (rc <= 0 && task->state == ACTOR__TASK_RUNS) {
			task->state = ACTOR__TASK_OVER;
			task->status = rc;
		}
	}
	pthread_mutex_unlock(&s->lock);
}

/* Is any task still running? If `late`, those that are have had their time. */
static bool tasks_run(struct actor_system *system, bool late)
{
	struct actor__shutdown *s = &system->shutdown;
	struct actor__task *task;

	pthread_mutex_lock(&s->lock);
	while ((task = task_in(s, s->phase, ACTOR__TASK_RUNS)) && late) {
		task->state = ACTOR__TASK_OVER;
		pthread_mutex_unlock(&s->lock);
		actor__log(system, ACTOR_LOG_WARN,
			"shutdown: the task %s of phase %s is not done after %" PRId64 " ms",
			task->name, names[s->phase], s->timeout_ms[s->phase]);
		pthread_mutex_lock(&s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	return task != NULL;
}

/* A task of this phase that failed, or NULL. The lock is held. */
static struct actor__task *task_failed(struct actor__shutdown *s)
{
	struct actor__task *task = s->tasks;

	while (task && ((uint32_t)task->phase != s->phase || !task->status))
		task = task->next;
	return task;
}

/* Tasks of a phase that is over stay in the list, so that a late one is told so. */
static void failures_log(struct actor_system *system)
{
	struct actor__shutdown *s = &system->shutdown;
	struct actor__task *task;

	pthread_mutex_lock(&s->lock);
	while ((task = task_failed(s))) {
		int status = task->status;

		task->status = 0;
		pthread_mutex_unlock(&s->lock);
		actor__log(system, ACTOR_LOG_WARN, "shutdown: the task %s of phase %s failed: %s",
			task->name, names[s->phase], actor_strerror(status));
		pthread_mutex_lock(&s->lock);
	}
	pthread_mutex_unlock(&s->lock);
}

/* Goes to the next phase. False: there is none. */
static bool phase_next(struct actor_system *system)
{
	struct actor__shutdown *s = &system->shutdown;
	bool some;

	if (s->phase == ACTOR__PHASES)
		return false;
	pthread_mutex_lock(&s->lock);
	s->phase++;
	s->deadline_ns = uv_hrtime() + (uint64_t)s->timeout_ms[s->phase] * 1000000u;
	some = task_in(s, s->phase, ACTOR__TASK_WAITS) != NULL;
	pthread_mutex_unlock(&s->lock);
	s->wait_ms = 1;
	if (some)
		actor__log(system, ACTOR_LOG_DEBUG, "shutdown: phase %s", names[s->phase]);
	tasks_begin(system);
	return true;
}

bool actor__shutdown_step(struct actor_system *system)
{
	struct actor__shutdown *s = &system->shutdown;

	while (!s->running || !tasks_run(system, uv_hrtime() >= s->deadline_ns)) {
		if (s->running)
			failures_log(system);
		s->running = true;
		if (!phase_next(system))
			return true;
	}
	actor__handles_ensure(system->loops[0]);
	actor__handles_look(system->loops[0], s->wait_ms);
	if (s->wait_ms < LOOK_MOST_MS)
		s->wait_ms *= 2;
	return false;
}

void actor__shutdown_begin(struct actor_system *system)
{
	actor__handles_revive(system->loops[0]);
	/* Not now: the caller may be inside a turn. */
	actor__handles_look(system->loops[0], 0);
}

int actor__shutdown_request(
	struct actor_system *system, actor_close_cb cb, void *data, bool waited_for)
{
	struct actor__shutdown *s = &system->shutdown;
	struct actor__loop *first = system->loops[0];
	bool here = actor__loop_here(first);
	int rc = 0;

	pthread_mutex_lock(&system->lock);
	if (atomic_load(&system->phase) > ACTOR__HALTED || actor__shutdown_begun(system))
		rc = -EALREADY;
	else if (here)
		rc = actor__handles_revive(first); /* what it waits by */
	if (!rc) {
		s->close_cb = cb;
		s->close_data = data;
		s->waited_for = waited_for;
		atomic_store(&s->begun, 1);
		if (!here)
			actor__notice_send(first, &s->notice, ACTOR__SHUTDOWN, 0, NULL);
	}
	pthread_mutex_unlock(&system->lock);
	if (here && !rc)
		actor__shutdown_begin(system);
	return rc;
}

int actor_system_shutdown(struct actor_system *system, actor_close_cb cb, void *data)
{
	return actor__forked(system) ? actor__refusal(system) : actor__shutdown_request(system, cb, data, false);
}
