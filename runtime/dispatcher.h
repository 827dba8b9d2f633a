/* SPDX-License-Identifier: MIT */
/* Ready units and when they run: the four dispatchers, one instance per loop.
 *
 * All four keep one FIFO and are drained in the check phase only; they differ in how many units
 * they run there. `ran` counts units since the end of the last drain in check, which is the only
 * reset, so that units run by actor_system_drain() count too.
 *   hybrid       up to `budget`, those that become ready meanwhile included
 *   microtask    until none is ready
 *   throughput   up to `budget` of those that were ready when the pass's first drain began
 *   immediate    one, for all immediate dispatchers of the uv_loop_t together, see pass.h
 */
#ifndef ACTOR_DISPATCHER_H
#define ACTOR_DISPATCHER_H

#include "clock.h"
#include "handles.h"
#include "probes.h"

/* The loop's instance of a registered spec. 0 or a negative error. The loop's thread. */
int actor__dispatcher_open(struct actor__loop *loop, const struct actor_dispatcher_spec *spec,
	uint32_t number, struct actor_dispatcher **out);

/* An instance for units of the runtime's own: the loop's standard one, or if that is the program's,
 * one beside it. The loop's thread. */
struct actor_dispatcher *actor__dispatcher_plain(struct actor__loop *loop);

/* Closes and frees all instances of a loop; no unit is queued any more. */
void actor__dispatchers_close(struct actor__loop *loop);

/* Runs ready units within the budgets; returns their number. `pass_ends`: called in check, so
 * that the counts start anew. */
uint32_t actor__dispatchers_drain(struct actor__loop *loop, bool pass_ends);

/* Runs the first unit of a dispatcher that has one, whatever its budget. */
void actor__dispatcher_step(struct actor_dispatcher *dispatcher);

/* Units that are ready on the loop. */
uint32_t actor__dispatchers_ready(const struct actor__loop *loop);

/* Hands a unit to a dispatcher of the program's own. */
void actor__dispatcher_custom(struct actor_dispatcher *dispatcher, struct actor_unit *unit);

/* Reports a failed unit: once to the dispatcher's on_error or the log, and to the probe. */
void actor__dispatcher_error(struct actor_dispatcher *dispatcher, int code, actor_ref actor);

static inline void actor__dispatcher_push(
	struct actor_dispatcher *dispatcher, struct actor_unit *unit)
{
	unit->next = NULL;
	unit->state = ACTOR__UNIT_LISTED;
	*dispatcher->last = unit;
	dispatcher->last = &unit->next;
	dispatcher->ready++;
	actor__loop_wake(dispatcher->loop);
}

/* Queues a unit that is idle. `asked_ticks`: now, or 0 if nobody listens. */
static inline void actor__unit_queue(struct actor_unit *unit, uint64_t asked_ticks)
{
	struct actor_dispatcher *dispatcher = unit->dispatcher;

	unit->asked_ticks = asked_ticks;
	if (ACTOR__UNLIKELY(dispatcher->ops != NULL))
		actor__dispatcher_custom(dispatcher, unit);
	else
		actor__dispatcher_push(dispatcher, unit);
}

/* Asks for a turn if the cell has none and one would make progress. Returns whether it did. */
static inline bool actor__cell_ask(struct actor__cell *cell)
{
	if (cell->unit.state != ACTOR__UNIT_IDLE || !actor__cell_dispatchable(cell))
		return false;
	actor__unit_queue(&cell->unit, actor__probes_records() ? actor__ticks() : 0);
	return true;
}

/* Sets a signal and asks for a turn; a cell that has not arrived on its loop yet asks when it does. */
static inline void actor__cell_signal(struct actor__cell *cell, enum actor__signal signal)
{
	cell->signals |= (uint8_t)signal;
	actor__cell_ask(cell);
}

#endif
