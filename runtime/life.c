/* SPDX-License-Identifier: MIT */
/* Start and stop of actors: children first, then the hook, then what is left of the mail. */
#include "life.h"

#include "bond.h"
#include "event.h"
#include "log.h"
#include "observe.h"
#include "parts.h"
#include "path.h"
#include "queue.h"
#include "registry.h"
#include "supervision.h"


void actor__life_signal(struct actor__cell *cell, enum actor__signal signal)
{
	cell->signals |= (uint8_t)signal;
	actor__cell_ask(cell);
}

static void link_into(struct actor__cell **list, struct actor__cell *cell)
{
	cell->previous_sibling = NULL;
	cell->next_sibling = *list;
	if (*list)
		(*list)->previous_sibling = cell;
	*list = cell;
}

static void unlink_from(struct actor__cell **list, struct actor__cell *cell)
{
	if (cell->previous_sibling)
		cell->previous_sibling->next_sibling = cell->next_sibling;
	else
		*list = cell->next_sibling;
	if (cell->next_sibling)
		cell->next_sibling->previous_sibling = cell->previous_sibling;
}

void actor__life_adopt(struct actor__loop *loop, struct actor__cell *parent, struct actor__cell *cell)
{
	link_into(parent ? &parent->first_child : &loop->top, cell);
	if (parent)
		parent->children++;
}

void actor__life_adopt_remote(struct actor__cell *parent, struct actor__bond *bond)
{
	actor__tie_add(&parent->ties, &bond->parent);
	parent->children++;
}

static void child_counted_out(struct actor__cell *parent)
{
	if (--parent->children == 0 && actor__cell_life(parent) == ACTOR__TERMINATING)
		actor__life_signal(parent, ACTOR__SIGNAL_FINISH);
}

void actor__life_child_gone(struct actor__loop *loop, struct actor__notice *up)
{
	struct actor__bond *bond = actor__bond_of_up(up);
	struct actor__cell *parent = actor__slot_find(loop, up->to); /* it waits for this */

	actor__tie_remove(&parent->ties, &bond->parent);
	actor__bond_drop(bond);
	child_counted_out(parent);
}

void actor__life_terminate(struct actor__loop *loop, struct actor__notice *down)
{
	struct actor__cell *cell = actor__slot_find(loop, down->to);

	actor__bond_drop(actor__bond_of_down(down));
	if (cell)
		actor__life_signal(cell, ACTOR__SIGNAL_TERMINATE);
}

/* Makes the context ready for on_start or on_stop. */
static struct actor_ctx *hook_context(struct actor__cell *cell)
{
	struct actor_ctx *ctx = &cell->loop->ctx;

	ctx->cell = cell;
	ctx->envelope = NULL;
	ctx->message.sender = 0;
	ctx->failure = 0;
	ctx->aftermath = 0;
	ctx->text[0] = '\0';
	return ctx;
}

static void start(struct actor__cell *cell)
{
	struct actor_ctx *ctx = hook_context(cell);
	int rc = 0;

	actor__cell_live(cell, ACTOR__RUNNING);
	cell->started = 1;
	ACTOR__FIRE(spawn, cell->self, cell->parent, cell->cls->id, cell->unit.dispatcher->number);
	actor__observe_life(cell->loop, ACTOR_ABI_LIFE_SPAWN, cell->cls->id, cell->self,
		cell->parent, 0);
	if (cell->cls->on_start)
		rc = cell->cls->on_start(ctx);
	if (ctx->failure)
		rc = ctx->failure;
	ctx->aftermath = 0;
	if (rc < 0) {
		cell->failure = rc;
		cell->signals |= ACTOR__SIGNAL_FAILURE;
	} else {
		actor__event_life(cell, ACTOR_ABI_LIFE_SPAWN, 0);
	}
}

static void failure_decide(struct actor__cell *cell)
{
	struct actor_ctx *ctx = &cell->loop->ctx;
	enum actor__directive directive = actor__supervision_decide(cell);
	char path[ACTOR__PATH_BYTES];

	actor__counter_add(&cell->loop->failed, 1);
	ACTOR__FIRE(failure, cell->self, (uint64_t)(int64_t)cell->failure, directive, cell->cls->id);
	actor__observe_life(cell->loop, ACTOR_ABI_LIFE_FAILURE, cell->cls->id, cell->self, directive,
		cell->failure);
	actor__event_life(cell, ACTOR_ABI_LIFE_FAILURE, cell->failure);
	actor__path_text(cell->loop->system, cell->self, path, sizeof(path));
	actor__log(cell->loop->system, ACTOR_LOG_ERROR, "actor %s (%s) failed and is stopped: %s%s%s",
		path, cell->cls->name, actor_strerror(cell->failure), ctx->text[0] ? ": " : "",
		ctx->text);
	cell->signals |= ACTOR__SIGNAL_TERMINATE;
}

static void terminate(struct actor__cell *cell)
{
	if (actor__cell_life(cell) >= ACTOR__TERMINATING)
		return;
	actor__cell_live(cell, ACTOR__TERMINATING);
	for (struct actor__cell *child = cell->first_child; child; child = child->next_sibling)
		actor__life_signal(child, ACTOR__SIGNAL_TERMINATE);
	actor__bonds_terminate(cell);
	if (!cell->children)
		cell->signals |= ACTOR__SIGNAL_FINISH;
}

static void mail_to_dead_letters(struct actor__cell *cell)
{
	struct actor__envelope *e;

	while ((e = actor__queue_oldest(cell))) {
		actor__dead_letter(cell->loop, e);
		actor__queue_done(cell, e);
	}
	actor__mailbox_rest(&cell->mailbox, &cell->loop->pool);
}

static void tell_parent(struct actor__cell *cell)
{
	struct actor__loop *loop = cell->loop;
	struct actor__cell *parent = NULL;

	if (cell->parent && actor__ref_loop(cell->parent) != loop->id) {
		unlink_from(&loop->top, cell);
		actor__bond_gone(cell);
		return;
	}
	if (cell->parent)
		parent = actor__slot_find(loop, cell->parent);
	unlink_from(parent ? &parent->first_child : &loop->top, cell);
	if (parent)
		child_counted_out(parent);
}

void actor__life_free(struct actor__loop *loop, struct actor__cell *cell)
{
	actor__extra_free(cell);
	if (cell->heap)
		actor__heap_free(cell);
	else
		actor__pool_give(&loop->pool, cell, actor__cell_bytes(cell->cls));
}

static void finish(struct actor__cell *cell)
{
	struct actor__loop *loop = cell->loop;

	if (cell->cls->on_stop)
		cell->cls->on_stop(hook_context(cell));
	actor__extra_clear(cell);
	loop->ctx.aftermath = 0; /* nobody decides about a failure while stopping */
	while (cell->asks)
		actor__asks_remove(&loop->asks, &loop->pool, &cell->asks, cell->asks);
	actor__cell_live(cell, ACTOR__TERMINATED);
	/* First: its own last letters are no news to it. */
	if (ACTOR__UNLIKELY(actor__event_any(loop->system)))
		actor__subscriptions_remove(&loop->system->subscriptions, cell->self, 0);
	mail_to_dead_letters(cell);
	ACTOR__FIRE(stop, cell->self, (uint64_t)(int64_t)cell->failure, cell->cls->id);
	actor__observe_life(
		loop, ACTOR_ABI_LIFE_STOP, cell->cls->id, cell->self, cell->parent, cell->failure);
	actor__slot_free(loop->slots, cell->self, cell->heap);
	actor__event_life(cell, ACTOR_ABI_LIFE_STOP, cell->failure);
	actor__names_remove(&loop->system->names, cell->name);
	tell_parent(cell);
	actor__life_free(loop, cell);
	/* Release: whoever counts the last end finds what this actor sent (close.c). */
	atomic_store_explicit(&loop->terminated,
		atomic_load_explicit(&loop->terminated, memory_order_relaxed) + 1,
		memory_order_release);
}

bool actor__life_signals(struct actor__cell *cell)
{
	while (cell->signals && !(cell->state & ACTOR__PENDING) &&
		!(cell->signals & ACTOR__SIGNAL_COMPLETED)) {
		uint8_t signals = cell->signals;

		cell->signals = 0;
		if (signals & ACTOR__SIGNAL_CREATE)
			start(cell);
		if (signals & ACTOR__SIGNAL_FAILURE)
			failure_decide(cell);
		if (signals & ACTOR__SIGNAL_TERMINATE)
			terminate(cell);
		if (signals & ACTOR__SIGNAL_FINISH) {
			finish(cell);
			return false;
		}
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
