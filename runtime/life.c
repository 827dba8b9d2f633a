/* SPDX-License-Identifier: MIT */
/* Start and stop of actors: children first, then the hook, then what is left of the mail. */
#include "life.h"

#include "event.h"
#include "family.h"
#include "farewell.h"
#include "fault.h"
#include "hook.h"
#include "observe.h"
#include "parts.h"
#include "queue.h"
#include "restart.h"

static void failed(struct actor__cell *cell, int code)
{
	cell->failure = code;
	actor__fault_raise(cell, cell->loop->ctx.text);
}

/* Its handler has failed; or it was killed between two turns, which has no text, and which a restart
 * that began meanwhile settles. */
static void handler_failed(struct actor__cell *cell, uint8_t signals)
{
	bool killed = cell->flags & ACTOR__KILLED;

	cell->flags &= (uint8_t)~ACTOR__KILLED;
	if (!killed || !(signals & ACTOR__SIGNAL_RESTART))
		actor__fault_raise(cell, killed ? "" : cell->loop->ctx.text);
}

static void start(struct actor__cell *cell)
{
	int rc;

	actor__cell_live(cell, ACTOR__RUNNING);
	ACTOR__FIRE(spawn, cell->self, cell->parent, cell->cls->id, cell->unit.dispatcher->number);
	actor__observe_life(cell->loop, ACTOR_ABI_LIFE_SPAWN, cell->cls->id, cell->self,
		cell->parent, 0);
	rc = actor__hook_start(cell);
	if (rc) {
		failed(cell, rc);
		return;
	}
	cell->flags |= ACTOR__READY;
	actor__event_life(cell, ACTOR_ABI_LIFE_SPAWN, 0);
}

static void terminate(struct actor__cell *cell)
{
	if (actor__cell_life(cell) >= ACTOR__TERMINATING)
		return;
	actor__cell_live(cell, ACTOR__TERMINATING);
	actor__restart_cancel(cell);
	actor__family_terminate(cell);
	if (!cell->children)
		cell->signals |= ACTOR__SIGNAL_FINISH;
}

static void mail_to_dead_letters(struct actor__cell *cell)
{
	struct actor__envelope *e;

	while ((e = actor__queue_oldest(cell))) {
		if (e->flags & ACTOR__ENDED && !actor__watches_accept(cell, e))
			actor__envelope_release(e);
		else
			actor__dead_letter_of(cell->cls->id, cell->loop, e);
		actor__queue_done(cell, e);
	}
	actor__mailbox_rest(&cell->mailbox, &cell->loop->pool);
}

void actor__life_free(struct actor__loop *loop, struct actor__cell *cell)
{
	actor__extra_free(cell);
	if (cell->flags & ACTOR__FROM_HEAP)
		actor__heap_free(cell);
	else
		actor__pool_give(&loop->pool, cell,
			actor__cell_bytes(cell->cls, cell->flags & ACTOR__KEEPS_INIT));
}

static void finish(struct actor__cell *cell)
{
	struct actor__loop *loop = cell->loop;

	if (!(cell->flags & ACTOR__PARKED)) /* else its instance has ended */
		actor__hook_stop(cell);
	actor__extra_clear(cell);
	actor__asks_cancel(cell);
	actor__cell_live(cell, ACTOR__TERMINATED);
	/* First: its own last letters are no news to it. */
	if (ACTOR__UNLIKELY(actor__event_any(loop->system)))
		actor__subscriptions_remove(&loop->system->subscriptions, cell->self, 0);
	mail_to_dead_letters(cell);
	ACTOR__FIRE(stop, cell->self, (uint64_t)(int64_t)cell->failure, cell->cls->id);
	actor__observe_life(
		loop, ACTOR_ABI_LIFE_STOP, cell->cls->id, cell->self, cell->parent, cell->failure);
	actor__slot_free(loop->slots, cell->self, cell->flags & ACTOR__FROM_HEAP);
	actor__event_life(cell, ACTOR_ABI_LIFE_STOP, cell->failure);
	actor__names_remove(&loop->system->names, cell->name);
	actor__farewell_tell(cell);
	actor__farewell_unwatch_all(cell);
	actor__family_leave(cell);
	actor__life_free(loop, cell);
	/* Release: whoever counts the last end finds what this actor sent (close.c). */
	atomic_store_explicit(&loop->terminated,
		atomic_load_explicit(&loop->terminated, memory_order_relaxed) + 1,
		memory_order_release);
}

/* The signals of a restart; false: the next one has to wait for the next turn, so that an actor
 * whose start always fails does not hold the loop. */
static bool restart_signals(struct actor__cell *cell, uint8_t signals, bool *restarted)
{
	int rc;

	if (*restarted && signals & ACTOR__SIGNAL_RESTART) {
		cell->signals |= signals;
		return false;
	}
	*restarted = true;
	/* One that is parked has ended its instance already: whatever else wants a restart gets it by
	 * the one that is under way. */
	if (!(cell->flags & ACTOR__PARKED))
		rc = signals & ACTOR__SIGNAL_RESTART ? actor__restart_begin(cell) : 0;
	else
		rc = signals & ACTOR__SIGNAL_REBUILD ? actor__restart_rebuild(cell) : 0;
	if (rc)
		failed(cell, rc);
	return true;
}

bool actor__life_signals(struct actor__cell *cell)
{
	bool restarted = false;

	while (cell->signals && !(cell->state & ACTOR__PENDING) &&
		!(cell->signals & ACTOR__SIGNAL_COMPLETED)) {
		uint8_t signals = cell->signals;

		cell->signals = signals & ACTOR__SIGNAL_TERMINATE; /* a failure is told so */
		if (signals & ACTOR__SIGNAL_CREATE)
			start(cell);
		if (signals & ACTOR__SIGNAL_FAILURE)
			handler_failed(cell, signals);
		if (cell->signals & ACTOR__SIGNAL_TERMINATE) {
			cell->signals &= (uint8_t)~ACTOR__SIGNAL_TERMINATE;
			terminate(cell);
		}
		if (signals & ACTOR__SIGNAL_FINISH) {
			finish(cell);
			return false;
		}
		signals &= ACTOR__SIGNAL_RESTART | ACTOR__SIGNAL_REBUILD;
		if (signals && !restart_signals(cell, signals, &restarted))
			return true;
	}
	return true;
}

uint64_t actor__life_count(const struct actor_system *system)
{
	uint64_t created = 0;
	uint64_t terminated = 0;

	/* Ends first: what is counted as ended was counted as created before. */
	for (uint32_t i = 0; i < system->loop_count; i++)
		terminated += atomic_load(&system->loops[i]->terminated);
	for (uint32_t i = 0; i < system->loop_count; i++)
		created += atomic_load(&system->loops[i]->created);
	created += atomic_load(&system->outside_created);
	return created - terminated;
}
