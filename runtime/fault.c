/* SPDX-License-Identifier: MIT */
/* From a failure to its directive, on one loop or two. */
#include "fault.h"

#include "alarm.h"
#include "deliver.h"
#include "event.h"
#include "extra.h"
#include "logging.h"
#include "notice.h"
#include "observe.h"
#include "path.h"
#include "restart.h"
#include "supervision.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define OUTCOME_BYTES 96

actor__fault_unhandled_cb actor__fault_unhandled;

/* A number that differs from actor to actor and from time to time (splitmix64's mixing function:
 * Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014). */
static uint64_t random_of(actor_ref ref)
{
	uint64_t z = uv_hrtime() + ref * 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* ---- what is said about it ---- */

static void outcome_text(char *text, const struct actor__verdict *v)
{
	static const char *const outcomes[] = {
		[ACTOR_DIRECTIVE_STOP] = "is stopped",
		[ACTOR_DIRECTIVE_RESTART] = "is restarted",
		[ACTOR_DIRECTIVE_RESUME] = "goes on",
		[ACTOR_DIRECTIVE_ESCALATE] = "its parent fails with it",
	};

	if (v->spent && v->window_ms == ACTOR__FOR_EVER)
		snprintf(text, OUTCOME_BYTES, "is stopped after %" PRIu32 " restarts", v->most);
	else if (v->spent)
		snprintf(text, OUTCOME_BYTES,
			"is stopped after %" PRIu32 " restarts within %" PRIu64 " ms", v->most,
			v->window_ms);
	else if (v->delay_ms)
		snprintf(text, OUTCOME_BYTES, "is restarted in %" PRIu32 " ms", v->delay_ms);
	else
		snprintf(text, OUTCOME_BYTES, "%s", outcomes[v->directive]);
}

/* Once per failure, where it is decided. */
static void report(
	struct actor__loop *loop, const struct actor__fault *fault, const struct actor__verdict *v)
{
	char outcome[OUTCOME_BYTES];
	char path[ACTOR__PATH_BYTES];

	actor__counter_add(&loop->failed, 1);
	ACTOR__FIRE(failure, fault->actor, (uint64_t)(int64_t)fault->code, v->directive,
		fault->cls->id);
	actor__observe_life(loop, ACTOR_ABI_LIFE_FAILURE, fault->cls->id, fault->actor,
		v->directive, fault->code);
	if (ACTOR__UNLIKELY(actor__event_any(loop->system)))
		actor__event_life_publish(loop, ACTOR_ABI_LIFE_FAILURE, fault->cls,
			&(struct actor_life_event){.actor = fault->actor,
				.parent = fault->parent,
				.code = fault->code});
	outcome_text(outcome, v);
	actor__path_text(loop->system, fault->actor, path, sizeof(path));
	actor__logging_failure(loop->system, fault->actor, fault->context,
		"actor %s (%s) failed and %s: %s%s%s", path, fault->cls->name, outcome,
		actor_strerror(fault->code), fault->text[0] ? ": " : "", fault->text);
}

/* ---- what is done about it ---- */

static void go_on(struct actor__cell *cell)
{
	cell->failure = 0;
	actor__release(cell, ACTOR__HELD_SELF);
}

/* The directive for a cell of this loop that is held for its failure. */
static void obey(struct actor__cell *cell, enum actor_directive directive, uint32_t delay_ms)
{
	if (cell->flags & ACTOR__WANTED && directive == ACTOR_DIRECTIVE_RESUME)
		directive = ACTOR_DIRECTIVE_RESTART;
	cell->flags &= (uint8_t) ~(ACTOR__AWAITS | ACTOR__WANTED);
	if (actor__cell_life(cell) >= ACTOR__TERMINATING)
		return;
	switch (directive) {
	case ACTOR_DIRECTIVE_RESTART:
		actor__restart(cell, cell->failure, delay_ms);
		break;
	case ACTOR_DIRECTIVE_STOP:
		actor__cell_signal(cell, ACTOR__SIGNAL_TERMINATE);
		break;
	case ACTOR_DIRECTIVE_ESCALATE: /* it is held from above by now */
		if (!(cell->flags & ACTOR__READY))
			cell->flags |= ACTOR__WANTED; /* should its parent be resumed */
		else
			go_on(cell);
		break;
	case ACTOR_DIRECTIVE_RESUME:
		go_on(cell);
		break;
	}
}

/* A verdict for all children of a parent; the one that failed gets it on its own way. */
static void siblings_obey(struct actor__cell *parent, const struct actor__fault *fault,
	const struct actor__verdict *v)
{
	bool stop = v->directive == ACTOR_DIRECTIVE_STOP;

	for (struct actor__cell *child = parent->first_child; child; child = child->next_sibling) {
		if (child->self == fault->actor)
			continue;
		if (stop)
			actor__cell_signal(child, ACTOR__SIGNAL_TERMINATE);
		else
			actor__restart(child, fault->code, v->delay_ms);
	}
	for (struct actor__tie *tie = parent->ties; tie; tie = tie->next) {
		struct actor__bond *bond = actor__bond_of_parent(tie);

		if (tie->role != ACTOR__AS_PARENT || bond->down.to == fault->actor)
			continue;
		atomic_store_explicit(&bond->cause, fault->code, memory_order_relaxed);
		atomic_store_explicit(&bond->delay_ms, v->delay_ms, memory_order_relaxed);
		actor__bond_order(parent->loop->system, bond,
			stop ? ACTOR__ORDER_TERMINATE : ACTOR__ORDER_RESTART, 0);
	}
}

/* The supervisor's part; `parent` NULL: top level. */
static enum actor_directive decide(struct actor__loop *loop, struct actor__cell *parent,
	const struct actor__fault *fault, const struct actor_strategy *own,
	struct actor__budget *budget, struct actor__verdict *v)
{
	struct actor__plan plan;

	if (parent && actor__cell_life(parent) >= ACTOR__TERMINATING) {
		/* It has told its children to stop already. */
		*v = (struct actor__verdict){.directive = ACTOR_DIRECTIVE_STOP};
	} else {
		actor__plan_init(&plan, actor__strategy_of(own, parent ? parent->cls : NULL));
		actor__supervision_decide(
			v, fault, &plan, budget, actor__now_ms(loop), random_of(fault->actor));
	}
	report(loop, fault, v);
	if (v->all && parent)
		siblings_obey(parent, fault, v);
	return v->directive;
}

/* What is known of a failure beside its code, on its way to another loop. */
struct details {
	struct actor__log_context *context;
	char text[];
};

/* NULL: there is nothing, or no memory for it. */
static struct details *details_of(const struct actor__fault *fault)
{
	size_t bytes = strlen(fault->text) + 1;
	struct details *details;

	if (bytes == 1 && !fault->context)
		return NULL;
	details = actor__heap_alloc(sizeof(*details) + bytes);
	if (!details)
		return NULL;
	details->context = fault->context ? actor__log_context_use(fault->context) : NULL;
	memcpy(details->text, fault->text, bytes);
	return details;
}

static void details_free(struct details *details)
{
	if (details)
		actor__log_context_unuse(details->context);
	actor__heap_free(details);
}

static void send_up(struct actor__cell *cell, const struct actor__fault *fault)
{
	struct actor__bond *bond = actor__bond_to_parent(cell);

	bond->fail_code = cell->failure;
	bond->fail_starting = !(cell->flags & ACTOR__READY);
	cell->flags |= ACTOR__AWAITS;
	atomic_fetch_add_explicit(&bond->holders, 1, memory_order_relaxed);
	actor__notice_send(actor__loop_of(cell->loop->system, cell->parent), &bond->fail,
		ACTOR__FAULT, cell->parent, details_of(fault));
}

/* The parent fails with its child's failure. NULL: it is stopping, or failed before; what comes of
 * that settles this as well. */
static struct actor__cell *escalate(struct actor__cell *parent, int code)
{
	if (actor__cell_life(parent) >= ACTOR__TERMINATING || parent->holds & ACTOR__HELD_SELF)
		return NULL;
	parent->failure = code;
	actor__hold(parent, ACTOR__HELD_SELF);
	return parent;
}

/* Decides about a cell that is held, or sends its failure to where that is done. Returns the
 * parent if it fails in turn, held. */
static struct actor__cell *settle(
	struct actor__cell *cell, const char *text, struct actor__log_context *context)
{
	struct actor__cell *parent = actor__family_parent(cell);
	struct actor__extra *extra = actor__extra_of(cell);
	struct actor__fault fault = {.actor = cell->self,
		.parent = cell->parent,
		.cls = cell->cls,
		.code = cell->failure,
		.text = text,
		.context = context,
		.starting = !(cell->flags & ACTOR__READY)};
	struct actor__verdict v = {.directive = ACTOR_DIRECTIVE_STOP};

	if (cell->signals & ACTOR__SIGNAL_TERMINATE) {
		report(cell->loop, &fault, &v); /* nothing is left to decide */
		return NULL;
	}
	if (cell->parent && !parent) {
		send_up(cell, &fault);
		return NULL;
	}
	if (decide(cell->loop, parent, &fault, extra ? extra->strategy : NULL,
		    extra ? &extra->budget : NULL, &v) != ACTOR_DIRECTIVE_ESCALATE) {
		obey(cell, v.directive, v.delay_ms);
		return NULL;
	}
	if (!parent) {
		actor__fault_unhandled(cell->loop->system);
		return NULL;
	}
	parent = escalate(parent, fault.code);
	obey(cell, ACTOR_DIRECTIVE_ESCALATE, 0);
	return parent;
}

void actor__fault_raise(struct actor__cell *cell, const char *text)
{
	struct actor__log_context *context = actor__logging_take(&cell->loop->ctx);

	if (actor__cell_life(cell) < ACTOR__TERMINATING) {
		actor__hold(cell, ACTOR__HELD_SELF);
		while (cell)
			cell = settle(cell, text, context);
	}
	actor__log_context_unuse(context);
}

/* ---- between loops ---- */

void actor__fault_arrive(struct actor__loop *loop, struct actor__notice *fail)
{
	struct actor__bond *bond = actor__bond_of_fail(fail);
	struct actor__cell *parent = actor__slot_find(loop, fail->to); /* it waits for its child */
	struct details *details = fail->pointer;
	struct actor__fault fault = {.actor = bond->down.to,
		.parent = fail->to,
		.cls = bond->cls,
		.code = bond->fail_code,
		.text = details ? details->text : "",
		.context = details ? details->context : NULL,
		.starting = bond->fail_starting};
	struct actor__verdict v;

	if (decide(loop, parent, &fault, bond->strategy, &bond->budget, &v) !=
		ACTOR_DIRECTIVE_ESCALATE)
		parent = NULL;
	else
		parent = escalate(parent, fault.code);
	/* After the hold that the child may get from its parent: it must not run in between. */
	bond->directive = v.directive;
	bond->directive_delay_ms = v.delay_ms;
	actor__notice_send(actor__loop_of(loop->system, fault.actor), fail, ACTOR__DIRECTIVE,
		fault.actor, NULL);
	while (parent)
		parent = settle(parent, fault.text, fault.context);
	details_free(details);
}

void actor__fault_directive(struct actor__loop *loop, struct actor__notice *fail)
{
	struct actor__bond *bond = actor__bond_of_fail(fail);
	struct actor__cell *cell = actor__slot_find(loop, fail->to);
	enum actor_directive directive = bond->directive;
	uint32_t delay_ms = bond->directive_delay_ms;

	actor__bond_drop(bond);
	if (cell)
		obey(cell, directive, delay_ms);
}

void actor__fault_orders(struct actor__loop *loop, struct actor__notice *down)
{
	struct actor__bond *bond = actor__bond_of_down(down);
	struct actor__cell *cell = actor__slot_find(loop, down->to);
	uint32_t orders = actor__bond_orders(bond);
	int32_t cause = atomic_load_explicit(&bond->cause, memory_order_relaxed);
	uint32_t delay_ms = atomic_load_explicit(&bond->delay_ms, memory_order_relaxed);

	actor__bond_drop(bond);
	if (!cell)
		return;
	if (orders & ACTOR__ORDER_HOLD)
		actor__hold(cell, ACTOR__HELD_ABOVE);
	else
		actor__release(cell, ACTOR__HELD_ABOVE);
	if (orders & ACTOR__ORDER_RESTART)
		actor__restart(cell, cause, delay_ms);
	if (orders & ACTOR__ORDER_TERMINATE)
		actor__cell_signal(cell, ACTOR__SIGNAL_TERMINATE);
}
