/* SPDX-License-Identifier: MIT */
/* The steps of a restart. */
#include "restart.h"

#include "alarm.h"
#include "deliver.h"
#include "event.h"
#include "hook.h"
#include "observe.h"
#include "parts.h"

#include <string.h>

static void delay_over(struct actor__loop *loop, struct actor__deadline *deadline)
{
	struct actor__extra *extra =
		(struct actor__extra *)((char *)deadline - offsetof(struct actor__extra, delay));

	(void)loop;
	extra->cell->flags &= (uint8_t)~ACTOR__DELAYED;
	actor__cell_signal(extra->cell, ACTOR__SIGNAL_RESTART);
}

static bool delay(struct actor__cell *cell, uint32_t delay_ms)
{
	struct actor__extra *extra = actor__extra_of(cell);

	if (!extra)
		return false; /* no memory to wait in: at once */
	extra->cell = cell;
	cell->flags |= ACTOR__DELAYED;
	actor__deadline_arm(
		cell->loop, &extra->delay, actor__time_in(cell->loop, delay_ms), delay_over);
	return true;
}

void actor__restart(struct actor__cell *cell, int32_t cause, uint32_t delay_ms)
{
	if (actor__cell_life(cell) >= ACTOR__TERMINATING ||
		cell->flags & (ACTOR__DELAYED | ACTOR__PARKED))
		return;
	if (!cell->failure)
		cell->failure = cause;
	if (cell->flags & ACTOR__AWAITS) {
		cell->flags |= ACTOR__WANTED;
		return;
	}
	actor__hold(cell, ACTOR__HELD_SELF);
	if (!delay_ms || !delay(cell, delay_ms))
		actor__cell_signal(cell, ACTOR__SIGNAL_RESTART);
}

void actor__restart_cancel(struct actor__cell *cell)
{
	if (cell->flags & ACTOR__DELAYED)
		actor__deadline_cancel(&cell->extra->delay);
	cell->flags &= (uint8_t)~ACTOR__DELAYED;
}

void actor__asks_cancel(struct actor__cell *cell)
{
	struct actor__loop *loop = cell->loop;

	while (cell->asks)
		actor__asks_remove(&loop->asks, &loop->pool, &cell->asks, cell->asks);
}

static void state_renew(struct actor__cell *cell)
{
	if (cell->flags & ACTOR__KEEPS_INIT)
		memcpy(actor__cell_state(cell), actor__cell_init(cell), cell->cls->state_bytes);
	else
		memset(actor__cell_state(cell), 0, cell->cls->state_bytes);
}

static void succeeded(struct actor__cell *cell)
{
	struct actor__loop *loop = cell->loop;
	struct actor__extra *extra = actor__extra_of(cell);
	uint64_t restarts = extra ? ++extra->restarts : 0; /* 0: no memory to count in */
	int32_t code = cell->failure;

	cell->failure = 0;
	cell->flags |= ACTOR__READY;
	actor__counter_add(&loop->restarted, 1);
	ACTOR__FIRE(restart, cell->self, restarts, cell->cls->id);
	actor__observe_life(loop, ACTOR_ABI_LIFE_RESTART, cell->cls->id, cell->self, restarts, 0);
	actor__event_life(cell, ACTOR_ABI_LIFE_RESTART, code);
	actor__release(cell, ACTOR__HELD_SELF);
}

int actor__restart_rebuild(struct actor__cell *cell)
{
	int rc;

	if (actor__cell_life(cell) >= ACTOR__TERMINATING)
		return 0;
	cell->flags &= (uint8_t)~ACTOR__PARKED;
	actor__extra_clear(cell);
	state_renew(cell);
	rc = actor__hook_post_restart(cell, cell->failure);
	if (rc)
		return rc;
	succeeded(cell);
	return 0;
}

int actor__restart_begin(struct actor__cell *cell)
{
	if (actor__cell_life(cell) >= ACTOR__TERMINATING)
		return 0;
	cell->flags &= (uint8_t) ~(ACTOR__READY | ACTOR__WANTED);
	actor__restart_cancel(cell); /* a back-off of another failure */
	actor__asks_cancel(cell);
	actor__extra_clear(cell);
	actor__hook_pre_restart(cell, cell->failure);
	actor__asks_cancel(cell); /* of the hook's making */
	cell->flags |= ACTOR__PARKED;
	if (cell->signals & ACTOR__SIGNAL_TERMINATE)
		return 0; /* of the hook's making as well */
	if (cell->children && !actor__hook_keeps_children(cell)) {
		actor__family_terminate(cell);
		return 0;
	}
	return actor__restart_rebuild(cell);
}
