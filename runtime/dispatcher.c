/* SPDX-License-Identifier: MIT */
/* Instances of dispatchers, and the drain that runs their units. */
#include "dispatcher.h"

#include "channel.h"
#include "event.h"
#include "log.h"
#include "observe.h"
#include "pass.h"
#include "registry.h"

#include <errno.h>
#include <stdio.h>

/* Where units run that a custom dispatcher tried to run at the wrong time. */
static int deferred_open(struct actor__loop *loop, struct actor_dispatcher **out)
{
	struct actor_dispatcher_spec spec;
	int number;

	actor_dispatcher_hybrid(&spec, ACTOR_HYBRID_BUDGET, "deferred");
	number = actor__dispatcher_register(spec.id, ACTOR_HYBRID, spec.budget);
	return number < 0 ? number : actor__dispatcher_open(loop, &spec, (uint32_t)number, out);
}

struct actor_dispatcher *actor__dispatcher_plain(struct actor__loop *loop)
{
	struct actor_dispatcher *d = loop->standard;

	return d->ops && deferred_open(loop, &d) ? loop->standard : d;
}

int actor__dispatcher_open(struct actor__loop *loop, const struct actor_dispatcher_spec *spec,
	uint32_t number, struct actor_dispatcher **out)
{
	struct actor_dispatcher **last;
	struct actor_dispatcher *d;
	int rc;

	for (d = loop->dispatchers; d; d = d->next) {
		if (d->number == number) {
			*out = d;
			return 0;
		}
	}
	if (loop->closed)
		return ACTOR_ECLOSED;
	rc = spec->kind == ACTOR_IMMEDIATE ? actor__pass_join(loop) : 0;
	if (spec->kind == ACTOR_CUSTOM)
		rc = deferred_open(loop, &d); /* beforehand: later there may be no memory for it */
	if (rc)
		return rc;
	d = actor__heap_zero(sizeof(*d));
	if (!d)
		return -ENOMEM;
	d->loop = loop;
	d->spec = *spec;
	d->kind = spec->kind;
	d->ops = spec->kind == ACTOR_CUSTOM ? spec->ops : NULL;
	d->budget = spec->kind == ACTOR_MICROTASK ? UINT32_MAX : spec->budget;
	d->number = number;
	d->last = &d->first;
	rc = d->ops && d->ops->open ? d->ops->open(&d->self, d, spec->data) : 0;
	if (!d->ops || !d->ops->open)
		d->self = spec->data;
	if (rc < 0) {
		actor__heap_free(d);
		return rc;
	}
	/* Only now: `open` may have opened what it delegates to. */
	for (last = &loop->dispatchers; *last; last = &(*last)->next)
		;
	*last = d;
	*out = d;
	return 0;
}

void actor__dispatchers_close(struct actor__loop *loop)
{
	/* The newest first: a wrapper goes before what it delegates to. */
	while (loop->dispatchers) {
		struct actor_dispatcher **last = &loop->dispatchers;
		struct actor_dispatcher *d;

		while ((*last)->next)
			last = &(*last)->next;
		d = *last;
		*last = NULL;
		if (d->ops && d->ops->close)
			d->ops->close(d->self);
		actor__heap_free(d);
	}
	actor__pass_leave(loop);
	loop->standard = NULL;
}

/* Nobody could be told: stderr gets the cause first, then why. */
static void error_last_resort(
	const struct actor_dispatcher *dispatcher, const char *cause, const char *what, int rc)
{
	char text[160];
	struct actor_log_record record = {.level = ACTOR_LOG_ERROR,
		.system = dispatcher->loop->system->name,
		.path = "",
		.text = cause};

	actor__log_now(&record);
	actor__log_last_resort(&record);
	snprintf(text, sizeof(text), "%s failed too: %s", what, actor_strerror(rc));
	record.text = text;
	actor__log_last_resort(&record);
}

static void error_report(struct actor_dispatcher *dispatcher, int code, actor_ref actor)
{
	const struct actor_dispatcher_spec *spec = &dispatcher->spec;
	char cause[ACTOR_NAME_BYTES + 160];
	int rc = 0;

	snprintf(cause, sizeof(cause), "dispatcher %s: a unit failed: %s", spec->id,
		actor_strerror(code));
	if (spec->on_error)
		rc = spec->on_error(spec->on_error_data, spec->id, code, actor);
	else
		actor__log_about(dispatcher->loop->system, ACTOR_LOG_ERROR, actor, "%s", cause);
	if (rc < 0)
		error_last_resort(dispatcher, cause, "on_error", rc);
	rc = spec->on_error && !actor ? 0 : actor__event_dispatcher_error(dispatcher, code, actor);
	if (rc < 0)
		error_last_resort(dispatcher, cause, "publishing this", rc);
}

void actor__dispatcher_error(struct actor_dispatcher *dispatcher, int code, actor_ref actor)
{
	struct actor__loop *loop = dispatcher->loop;

	atomic_store_explicit(&loop->dispatcher_errors,
		atomic_load_explicit(&loop->dispatcher_errors, memory_order_relaxed) + 1,
		memory_order_relaxed);
	ACTOR__FIRE(dispatcher_error, actor, dispatcher->number, (uint64_t)(int64_t)code);
	actor__observe_life(
		loop, ACTOR_ABI_LIFE_DISPATCHER_ERROR, 0, actor, dispatcher->number, code);
	error_report(dispatcher, code, actor);
}

static actor_ref unit_actor(const struct actor_unit *unit)
{
	return unit->flags & ACTOR__UNIT_CELL ? ((const struct actor__cell *)unit)->self : 0;
}

/* Runs a unit later that its own dispatcher tried to run at the wrong time. */
static void unit_defer(struct actor__loop *loop, struct actor_unit *unit)
{
	struct actor_dispatcher *d;

	if (deferred_open(loop, &d) == 0) /* it is there since the unit's own dispatcher is */
		actor__dispatcher_push(d, unit);
}

void actor__dispatcher_custom(struct actor_dispatcher *dispatcher, struct actor_unit *unit)
{
	struct actor__loop *loop = dispatcher->loop;

	unit->state = ACTOR__UNIT_INSIDE;
	dispatcher->ops->execute(dispatcher->self, unit);
	if (unit->state == ACTOR__UNIT_INSIDE) {
		unit->state = ACTOR__UNIT_QUEUED;
	} else if (unit->state == ACTOR__UNIT_DEFERRED) {
		/* It ran the unit on the caller's stack; that would nest turns. */
		unit_defer(loop, unit);
	}
}

/* Runs a unit that is queued. A cell's unit stays queued until its turn begins. */
static inline __attribute__((always_inline)) void unit_run(
	struct actor__loop *loop, struct actor_unit *unit)
{
	struct actor_dispatcher *dispatcher = unit->dispatcher;
	int rc;

	if (!(unit->flags & ACTOR__UNIT_CELL)) {
		unit->state = ACTOR__UNIT_IDLE;
		loop->observer.stale = true;
	}
	rc = unit->run(unit);
	if (ACTOR__UNLIKELY(rc < 0))
		actor__dispatcher_error(dispatcher, rc, 0);
	if (ACTOR__UNLIKELY(loop->dirty != NULL)) {
		actor__channels_flush(loop);
		loop->observer.stale = true;
	}
}

void actor_unit_run(struct actor_unit *unit)
{
	struct actor_dispatcher *dispatcher = unit ? unit->dispatcher : NULL;

	if (!dispatcher)
		return; /* it was never handed to a dispatcher */
	if (!actor__loop_here(dispatcher->loop)) {
		/* The counters and the probe are the loop's. */
		actor__log(dispatcher->loop->system, ACTOR_LOG_ERROR,
			"dispatcher %s: actor_unit_run: called on another thread than the loop's",
			dispatcher->spec.id);
		return;
	}
	dispatcher->loop->observer.stale = true;
	if (unit->state == ACTOR__UNIT_QUEUED && !actor__in_turn(dispatcher->loop)) {
		unit_run(dispatcher->loop, unit);
		return;
	}
	actor__dispatcher_error(dispatcher, ACTOR_EUNIT, unit_actor(unit));
	if (unit->state == ACTOR__UNIT_INSIDE)
		unit->state = ACTOR__UNIT_DEFERRED;
	else if (unit->state == ACTOR__UNIT_QUEUED)
		unit_defer(dispatcher->loop, unit);
}

/* A call of its own would cost each unit of a pass ten instructions. */
static inline __attribute__((always_inline)) void run_first(
	struct actor__loop *loop, struct actor_dispatcher *d)
{
	struct actor_unit *unit = d->first;

	d->first = unit->next;
	if (!d->first)
		d->last = &d->first;
	d->ready--;
	d->ran++;
	unit_run(loop, unit);
}

/* Before any unit of this drain: what others queue meanwhile is not of this pass. */
static void quotas_set(struct actor__loop *loop)
{
	for (struct actor_dispatcher *d = loop->dispatchers; d; d = d->next) {
		if (d->kind != ACTOR_THROUGHPUT_DISPATCHER || d->quota_set || !d->ready)
			continue;
		d->quota = d->ready < d->budget ? d->ready : d->budget;
		d->quota_set = true;
	}
}

/* How many units this dispatcher may still run in this pass. */
static uint32_t allowance(const struct actor__loop *loop, const struct actor_dispatcher *d)
{
	uint32_t most = d->budget;

	if (d->kind == ACTOR_MICROTASK)
		return UINT32_MAX;
	if (d->kind == ACTOR_IMMEDIATE)
		return d->ready && actor__pass_allows(loop) ? 1 : 0;
	if (d->kind == ACTOR_THROUGHPUT_DISPATCHER)
		most = d->quota_set ? d->quota : 0;
	return most > d->ran ? most - d->ran : 0;
}

static uint32_t dispatcher_drain(struct actor__loop *loop, struct actor_dispatcher *d)
{
	uint32_t most = allowance(loop, d);
	uint32_t ran = 0;

	while (d->ready && ran < most) {
		if (d->kind == ACTOR_IMMEDIATE)
			actor__pass_spend(loop);
		run_first(loop, d);
		ran++;
	}
	return ran;
}

static void yield_observe(struct actor__loop *loop, const struct actor_dispatcher *d)
{
	uint64_t reason = d->ready ? ACTOR_ABI_YIELD_BUDGET : ACTOR_ABI_YIELD_IDLE;

	ACTOR__FIRE(dispatcher_yield, d->number, reason, d->ran, d->ready, loop->id);
	if (ACTOR__LISTENED(ledger))
		actor__observe_other(loop, actor_abi_meta(ACTOR_ABI_YIELD, 0, 0, 0, d->number),
			(uint64_t)d->ran << 32 | d->ready, reason, 0);
}

static void pass_end(struct actor__loop *loop)
{
	for (struct actor_dispatcher *d = loop->dispatchers; d; d = d->next) {
		if (ACTOR__UNLIKELY(actor__probes_yield()) && (d->ran || d->ready))
			yield_observe(loop, d);
		d->ran = 0;
		d->quota_set = false;
	}
	if (loop->pass)
		actor__pass_mark(loop);
}

/* The immediate dispatchers take turns over the passes: the one that ran goes to the list's end. */
static void immediate_rotate(struct actor__loop *loop, struct actor_dispatcher *d)
{
	struct actor_dispatcher **place = &loop->dispatchers;

	if (d->kind != ACTOR_IMMEDIATE || !d->next)
		return;
	while (*place != d)
		place = &(*place)->next;
	*place = d->next;
	while (*place)
		place = &(*place)->next;
	*place = d;
	d->next = NULL;
}

static void drain_end(struct actor__loop *loop)
{
	loop->abi->ready = actor__dispatchers_ready(loop);
	if (!loop->abi->ready)
		actor__handles_rest(loop);
	else
		actor__handles_ensure(loop); /* a handler may have walked over the loop */
	loop->in_drain = false;
}

uint32_t actor__dispatchers_drain(struct actor__loop *loop, bool pass_ends)
{
	struct actor_dispatcher *immediate = NULL;
	uint32_t total = 0;
	uint32_t ran;

	loop->in_drain = true;
	loop->observer.stale = true;
	quotas_set(loop);
	do {
		ran = 0;
		for (struct actor_dispatcher *d = loop->dispatchers; d; d = d->next) {
			uint32_t n = d->ops ? 0 : dispatcher_drain(loop, d);

			if (n && d->kind == ACTOR_IMMEDIATE)
				immediate = d;
			ran += n;
		}
		total += ran;
	} while (ran);
	if (pass_ends)
		pass_end(loop);
	if (immediate)
		immediate_rotate(loop, immediate);
	drain_end(loop);
	return total;
}

void actor__dispatcher_step(struct actor_dispatcher *dispatcher)
{
	struct actor__loop *loop = dispatcher->loop;

	loop->in_drain = true;
	loop->observer.stale = true;
	run_first(loop, dispatcher);
	dispatcher->ran = 0;
	drain_end(loop);
}

uint32_t actor__dispatchers_ready(const struct actor__loop *loop)
{
	uint32_t ready = 0;

	for (const struct actor_dispatcher *d = loop->dispatchers; d; d = d->next)
		ready += d->ready;
	return ready;
}
