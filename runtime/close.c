/* SPDX-License-Identifier: MIT */
/* Closing, step by step, on the first loop's thread.
 *
 * DRAINING  until all is quiet or the time is over. Quiet: every other loop sleeps with no mail in
 *           its rings and inbox, and did no work between two looks; this one has no ready unit.
 * STOPPING  every loop stops its top-level actors, children first; until no actor is left.
 * ENDING    the other loops close and their threads end; then the first one closes itself. */
#include "close.h"

#include "config.h"
#include "dispatcher.h"
#include "fault.h"
#include "fork.h"
#include "health.h"
#include "life.h"
#include "log.h"
#include "loop.h"
#include "notice.h"
#include "receive.h"
#include "shutdown.h"
#include "signals.h"
#include "spec.h"
#include "tuning.h"

#include <errno.h>

#define LOOK_MOST_MS 25

static bool loop_rests(struct actor__loop *loop, bool here)
{
	if (actor__receive_waiting(loop) || atomic_load(&loop->pendings.count) ||
		atomic_load(&loop->jobs))
		return false;
	for (uint32_t i = 0; i < ACTOR_ABI_LOOPS; i++) {
		struct actor__channel *channel =
			atomic_load_explicit(&loop->in[i], memory_order_acquire);

		if (channel && atomic_load_explicit(&channel->queued, memory_order_relaxed))
			return false;
	}
	return here || loop->system->driver ? actor__dispatchers_ready(loop) == 0
					    : atomic_load(&loop->sleeping) != 0;
}

static uint64_t worked(const struct actor_system *system)
{
	uint64_t sum = 0;

	for (uint32_t i = 1; i < system->loop_count; i++)
		sum += atomic_load(&system->loops[i]->worked);
	return sum;
}

static bool quiet(struct actor_system *system)
{
	uint64_t before = worked(system);

	for (int look = 0; look < 2; look++)
		for (uint32_t i = 0; i < system->loop_count; i++)
			if (!loop_rests(system->loops[i], i == 0))
				return false;
	return worked(system) == before;
}

static void look_later(struct actor_system *system)
{
	actor__handles_look(system->loops[0], system->close_wait_ms);
	if (system->close_wait_ms < LOOK_MOST_MS)
		system->close_wait_ms *= 2;
}

/* Goes on to a phase and gives its order to every loop but the first. */
static void phase_set(
	struct actor_system *system, enum actor__phase phase, enum actor__command order)
{
	atomic_store(&system->phase, phase);
	system->close_wait_ms = 1;
	for (uint32_t i = 1; i < system->loop_count; i++)
		actor__order_send(system->loops[i], order);
}

static bool others_exited(struct actor_system *system)
{
	for (uint32_t i = 1; i < system->loop_count; i++)
		if (!atomic_load(&system->loops[i]->exited))
			return false;
	return true;
}

/* Does every loop know? Then no thread of ours makes a top-level actor any more. */
static bool all_stopping(struct actor_system *system)
{
	for (uint32_t i = 0; i < system->loop_count; i++)
		if (atomic_load(&system->loops[i]->stopping) != ACTOR__STOPPING_CLOSED)
			return false;
	return true;
}

/* Work on the thread pool still uses the program's data. */
static bool jobs_done(const struct actor_system *system)
{
	for (uint32_t i = 0; i < system->loop_count; i++)
		if (atomic_load(&system->loops[i]->jobs))
			return false;
	return true;
}

static void end_self(struct actor_system *system)
{
	system->ended = true;
	for (uint32_t i = 1; i < system->loop_count && !system->driver; i++)
		pthread_join(system->loops[i]->owner, NULL);
	actor__loop_end(system->loops[0]);
}

static void step(struct actor_system *system)
{
	enum actor__phase phase = atomic_load(&system->phase);

	if (system->ended)
		return;
	actor__handles_ensure(system->loops[0]);
	if (phase == ACTOR__DRAINING &&
		(uv_hrtime() >= system->drain_until_ns || quiet(system))) {
		phase_set(system, phase = ACTOR__STOPPING, ACTOR__STOP_ALL);
		actor__loop_stop_all(system->loops[0], ACTOR__STOPPING_CLOSED);
	}
	if (phase == ACTOR__STOPPING && all_stopping(system) &&
		actor__life_count(system) == 0 && jobs_done(system) &&
		atomic_load(&system->vigils) == 0 &&
		atomic_load(&system->walks) == 0) {
		actor__waiters_cancel(&system->waiters);
		phase_set(system, phase = ACTOR__ENDING, ACTOR__END);
	}
	/* Without handles nothing would tell that they are closed: whoever closed them has to come
	 * by again, and there has to be memory for new ones. */
	if (phase == ACTOR__ENDING && others_exited(system) &&
		actor__handles_revive(system->loops[0]) == 0)
		end_self(system);
	else
		look_later(system);
}

static void begin(struct actor_system *system)
{
	struct actor__loop *first = system->loops[0];

	actor__handles_revive(first);
	actor__signals_stop(system);
	system->close_wait_ms = 1;
	system->drain_until_ns = system->drain_ms < 0
					 ? 0
					 : uv_hrtime() + (uint64_t)system->drain_ms * 1000000u;
	/* Not now: the caller may be inside a turn. */
	actor__handles_look(first, 0);
	system->closing_here = true;
}

/* Nobody is left to decide about a failure. Closing, which frees the system, stays the program's. */
static void halt(struct actor_system *system)
{
	uint32_t phase = ACTOR__OPEN;

	if (!atomic_compare_exchange_strong(&system->phase, &phase, ACTOR__HALTED))
		return;
	actor__log(system, ACTOR_LOG_ERROR,
		"a failure was escalated beyond the top: all actors are stopped");
	for (uint32_t i = 0; i < system->loop_count; i++) {
		struct actor__loop *loop = system->loops[i];

		if (actor__loop_here(loop))
			actor__loop_stop_all(loop, ACTOR__STOPPING_HALTED);
		else
			actor__notice_send(loop, &loop->halt, ACTOR__HALT, 0, NULL);
	}
}

static void on_passed(struct actor__loop *loop)
{
	struct actor_system *system = loop->system;

	actor__handles_ensure(loop);
	if (loop->index == 0) {
		if (system->closing_here && atomic_load(&system->phase) > ACTOR__DRAINING)
			step(system);
	} else if (loop->stopping && !loop->top) {
		actor__handles_signal(system->loops[0]);
	}
}

/* `shut_down`: after the last phase of a shutdown, during which nobody else closes. */
static int close_begin(
	struct actor_system *system, actor_close_cb cb, void *data, bool waited_for, bool shut_down)
{
	struct actor__loop *first = system->loops[0];
	bool here = actor__loop_here(first);
	int rc = 0;

	pthread_mutex_lock(&system->lock);
	if (atomic_load(&system->phase) > ACTOR__HALTED ||
		(actor__shutdown_begun(system) && !shut_down))
		rc = -EALREADY;
	else if (here)
		rc = actor__handles_revive(first); /* what closing waits by */
	if (!rc) {
		system->close_cb = cb;
		system->close_data = data;
		system->waited_for = waited_for;
		atomic_store(&system->phase, ACTOR__DRAINING);
		if (!here)
			actor__order_send(first, ACTOR__CLOSE);
	}
	pthread_mutex_unlock(&system->lock);
	/* On another thread the system may be gone by now. */
	if (here && !rc)
		begin(system);
	else if (here)
		actor__handles_ensure(first); /* somebody walked over the loop meanwhile */
	return rc;
}

/* The end of a shutdown's last phase. Without memory for handles the next look tries again. */
static void shutdown_over(struct actor_system *system)
{
	const struct actor__shutdown *s = &system->shutdown;

	if (close_begin(system, s->close_cb, s->close_data, s->waited_for, true))
		actor__handles_look(system->loops[0], LOOK_MOST_MS);
}

static void on_look(struct actor__loop *loop)
{
	if (atomic_load(&loop->system->phase) > ACTOR__HALTED)
		step(loop->system);
	else if (actor__shutdown_step(loop->system))
		shutdown_over(loop->system);
}

static void on_order(struct actor__loop *loop, uint16_t order)
{
	switch (order) {
	case ACTOR__CLOSE:
		begin(loop->system);
		break;
	case ACTOR__SHUTDOWN:
		actor__shutdown_begin(loop->system);
		break;
	case ACTOR__STOP_ALL:
		actor__loop_stop_all(loop, ACTOR__STOPPING_CLOSED);
		break;
	case ACTOR__HALT:
		actor__loop_stop_all(loop, ACTOR__STOPPING_HALTED);
		break;
	case ACTOR__END:
		if (loop->index == 0) /* a system that never got to work */
			actor__signals_stop(loop->system);
		actor__loop_end(loop);
		break;
	default:
		break;
	}
}

void actor__system_free(struct actor_system *system)
{
	/* Whoever began to close may not have left the lock yet. */
	pthread_mutex_lock(&system->lock);
	pthread_mutex_unlock(&system->lock);
	for (uint32_t i = 0; system->loops && i < system->loop_count; i++)
		if (system->loops[i])
			actor__loop_free(system->loops[i]);
	actor__signals_free(system);
	actor__health_fini(&system->health);
	actor__shutdown_fini(&system->shutdown);
	actor__waiters_rest(&system->waiters);
	actor__specs_free(system);
	actor__config_free(system->config);
	actor__names_fini(&system->names);
	actor__waiters_fini(&system->waiters);
	actor__subscriptions_fini(&system->subscriptions);
	actor__logger_fini(&system->logger, !system->failed);
	pthread_mutex_destroy(&system->lock);
	actor__heap_free(system->loops);
	actor__heap_free(system);
}

/* The last letters come before the callback: the program's data may go with it. */
static void closed_tell(struct actor_system *system)
{
	for (uint32_t i = 0; i < system->loop_count; i++)
		actor__loop_channels_free(system->loops[i]);
	actor__tuning_close(system);
	if (system->close_cb)
		system->close_cb(system, system->close_data);
}

/* All handles of a loop are closed. A caller's loop is the last of its system. */
static void on_closed(struct actor__loop *loop)
{
	struct actor_system *system = loop->system;

	if (loop->owned || system->failed)
		return; /* its thread goes on when uv_run() returns */
	closed_tell(system);
	actor__system_free(system);
}

static void on_thread_ended(struct actor__loop *loop)
{
	struct actor_system *system = loop->system;

	if (loop->index) {
		struct actor__loop *first = system->loops[0];

		/* The first loop frees this one only after it has joined this thread. */
		atomic_store(&loop->exited, 1);
		if (!system->failed) /* else it has no handles, and nobody waits for it there */
			actor__handles_signal(first);
		return;
	}
	if (!system->failed)
		closed_tell(system);
	if (system->waited_for || system->failed || system->driver)
		return; /* actor_system_close_wait() joins and frees; a driver frees */
	pthread_detach(pthread_self());
	actor__system_free(system);
}

int actor_system_close(struct actor_system *system, actor_close_cb cb, void *data)
{
	return actor__forked(system) ? actor__refusal(system) : close_begin(system, cb, data, false, false);
}

/* May the calling thread wait for the end of the system's threads? */
static int wait_check(struct actor_system *system)
{
	if (actor__forked(system))
		return actor__refusal(system);
	if (system->embedded || system->driver)
		return -EINVAL;
	for (uint32_t i = 0; i < system->loop_count; i++)
		if (actor__loop_here(system->loops[i]))
			return ACTOR_ETHREAD;
	return 0;
}

static int wait_for(struct actor_system *system, int rc)
{
	if (rc)
		return rc;
	pthread_join(system->loops[0]->owner, NULL);
	actor__system_free(system);
	return 0;
}

int actor_system_close_wait(struct actor_system *system)
{
	int rc = wait_check(system);

	return wait_for(system, rc ? rc : close_begin(system, NULL, NULL, true, false));
}

int actor_system_shutdown_wait(struct actor_system *system)
{
	int rc = wait_check(system);

	return wait_for(system, rc ? rc : actor__shutdown_request(system, NULL, NULL, true));
}

static void hooks_set(void)
{
	actor__loop_hooks.passed = on_passed;
	actor__loop_hooks.look = on_look;
	actor__loop_hooks.order = on_order;
	actor__loop_hooks.closed = on_closed;
	actor__loop_hooks.thread_ended = on_thread_ended;
	actor__fault_unhandled = halt;
}

void actor__close_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, hooks_set);
}
