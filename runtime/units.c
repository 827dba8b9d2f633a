/* SPDX-License-Identifier: MIT */
/* Units and dispatchers as a program sees them: constructors, execute, wrap and delegate. */
#include "dispatcher.h"
#include "misuse.h"
#include "registry.h"
#include "spec.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int spec_init(struct actor_dispatcher_spec *spec, enum actor_dispatcher_kind kind,
	int64_t budget, int64_t usual, const char *id, const char *usual_id)
{
	if (!spec)
		return -EINVAL;
	memset(spec, 0, sizeof(*spec));
	if (budget < 1 || budget > ACTOR_BUDGET_MAX)
		return ACTOR_EBUDGET;
	if (id && !actor__name_valid(id))
		return ACTOR_ENAME;
	spec->size = sizeof(*spec);
	spec->kind = kind;
	spec->budget = (uint32_t)budget;
	if (!id && budget != usual)
		snprintf(spec->id, sizeof(spec->id), "%s-%u", usual_id, spec->budget);
	else
		snprintf(spec->id, sizeof(spec->id), "%s", id ? id : usual_id);
	return 0;
}

int actor_dispatcher_hybrid(struct actor_dispatcher_spec *spec, int64_t budget, const char *id)
{
	return spec_init(spec, ACTOR_HYBRID, budget, ACTOR_HYBRID_BUDGET, id, "hybrid");
}

int actor_dispatcher_throughput(struct actor_dispatcher_spec *spec, int64_t budget, const char *id)
{
	return spec_init(
		spec, ACTOR_THROUGHPUT_DISPATCHER, budget, ACTOR_THROUGHPUT, id, "throughput");
}

int actor_dispatcher_microtask(struct actor_dispatcher_spec *spec, const char *id)
{
	int rc = spec_init(spec, ACTOR_MICROTASK, 1, 1, id, "microtask");

	if (!rc)
		spec->budget = 0;
	return rc;
}

int actor_dispatcher_immediate(struct actor_dispatcher_spec *spec, const char *id)
{
	return spec_init(spec, ACTOR_IMMEDIATE, 1, 1, id, "immediate");
}

int actor_dispatcher_custom(struct actor_dispatcher_spec *spec,
	const struct actor_dispatcher_ops *ops, void *data, const char *id)
{
	int rc;

	if (!ops || ops->size < sizeof(*ops) || !ops->execute)
		return ACTOR_EOPTIONS;
	rc = spec_init(spec, ACTOR_CUSTOM, 1, 1, id, "custom");
	if (rc)
		return rc;
	spec->budget = 0;
	spec->ops = ops;
	spec->data = data;
	return rc;
}

int actor_dispatcher_delegate(struct actor_dispatcher *dispatcher,
	const struct actor_dispatcher_spec *spec, struct actor_dispatcher **to)
{
	struct actor__spec_list *entry;
	struct actor__loop *loop;
	int rc;

	if (!dispatcher || !spec || !to)
		return -EINVAL;
	loop = dispatcher->loop;
	/* 0: its thread has not begun, and whoever opens the system is alone with it. */
	if (atomic_load_explicit(&loop->thread, memory_order_relaxed) && !actor__loop_here(loop))
		return ACTOR_ETHREAD;
	rc = actor__spec_use(loop->system, spec, &entry);
	return rc ? rc : actor__dispatcher_open(loop, &entry->spec, entry->number, to);
}

struct actor_system *actor_dispatcher_system(const struct actor_dispatcher *dispatcher)
{
	return dispatcher ? dispatcher->loop->system : NULL;
}

const char *actor_dispatcher_id(const struct actor_dispatcher *dispatcher)
{
	return dispatcher ? dispatcher->spec.id : NULL;
}

uv_loop_t *actor_dispatcher_loop(const struct actor_dispatcher *dispatcher)
{
	return dispatcher ? dispatcher->loop->uv : NULL;
}

void actor_unit_init(struct actor_unit *unit, int (*run)(struct actor_unit *unit))
{
	if (!unit)
		return;
	memset(unit, 0, sizeof(*unit));
	unit->run = run;
}

int actor_dispatcher_execute(struct actor_dispatcher *dispatcher, struct actor_unit *unit)
{
	if (!dispatcher || !unit)
		return -EINVAL;
	if (!actor__loop_here(dispatcher->loop))
		return ACTOR_ETHREAD;
	if (!unit->run)
		return actor__misuse(dispatcher->loop->system, -EINVAL, "actor_dispatcher_execute",
			"the unit has no function");
	if (unit->state == ACTOR__UNIT_INSIDE || unit->state == ACTOR__UNIT_QUEUED) {
		/* A custom dispatcher hands on what it holds, at once or later. */
		if (dispatcher == unit->dispatcher)
			return -EALREADY;
		if (dispatcher->ops)
			dispatcher->ops->execute(dispatcher->self, unit);
		else
			actor__dispatcher_push(dispatcher, unit);
		return 0;
	}
	if (unit->state != ACTOR__UNIT_IDLE)
		return -EALREADY;
	unit->dispatcher = dispatcher;
	if (!dispatcher->loop->in_drain)
		actor__handles_ensure(dispatcher->loop);
	actor__unit_queue(unit, actor__probes_records() ? actor__ticks() : 0);
	return 0;
}

int actor_unit_wrap(struct actor_unit *unit, int (*run)(struct actor_unit *unit), void *data)
{
	if (!unit || !run)
		return -EINVAL;
	if (unit->depth >= sizeof(unit->wraps) / sizeof(unit->wraps[0]))
		return -ENOBUFS;
	unit->wraps[unit->depth].run = unit->run;
	unit->wraps[unit->depth].data = data;
	unit->depth++;
	unit->run = run;
	return 0;
}

void *actor_unit_unwrap(struct actor_unit *unit)
{
	if (!unit || !unit->depth)
		return NULL;
	unit->depth--;
	unit->run = unit->wraps[unit->depth].run;
	return unit->wraps[unit->depth].data;
}

int actor_unit_inner(struct actor_unit *unit)
{
	if (!unit || !unit->run)
		return -EINVAL;
	/* What the wrapper did meanwhile is no handler's time. */
	if (unit->dispatcher)
		unit->dispatcher->loop->observer.stale = true;
	return unit->run(unit);
}
