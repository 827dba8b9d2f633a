/* SPDX-License-Identifier: MIT */
/* Wrap and delegate: a span around each turn. */
#include "tracing.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

/* One per loop, so nothing of it is shared between threads. */
struct instance {
	const struct tracing *tracing;
	struct actor_dispatcher *inner;
};

static _Atomic uint64_t last_id;
static _Thread_local uint64_t current;

/* Runs in place of the turn. After the turn the unit may be gone, with its actor. */
static int span_run(struct actor_unit *unit)
{
	struct instance *self = actor_unit_unwrap(unit);
	struct tracing_span span = {
		.id = atomic_fetch_add(&last_id, 1) + 1,
		.began_ns = uv_hrtime(),
		.dispatcher = actor_dispatcher_id(self->inner),
	};

	current = span.id;
	span.rc = actor_unit_inner(unit);
	current = 0;
	span.ended_ns = uv_hrtime();
	if (self->tracing->on_span)
		self->tracing->on_span(self->tracing->data, &span);
	return span.rc;
}

static int tracing_open(void **self, struct actor_dispatcher *dispatcher, void *data)
{
	struct instance *instance = calloc(1, sizeof(*instance));
	int rc = -ENOMEM;

	if (!instance)
		return rc;
	instance->tracing = data;
	rc = actor_dispatcher_delegate(dispatcher, instance->tracing->inner, &instance->inner);
	if (rc) {
		free(instance);
		return rc;
	}
	*self = instance;
	return 0;
}

/* Must not run the unit: whoever told its actor something waits here. */
static void tracing_execute(void *self, struct actor_unit *unit)
{
	struct instance *instance = self;

	/* A third wrapper finds no place in the unit; the turn then runs without a span. */
	actor_unit_wrap(unit, span_run, instance);
	actor_dispatcher_execute(instance->inner, unit);
}

static const struct actor_dispatcher_ops ops = {
	.size = sizeof(ops),
	.open = tracing_open,
	.execute = tracing_execute,
	.close = free,
};

int tracing_dispatcher(
	struct actor_dispatcher_spec *spec, const struct tracing *tracing, const char *id)
{
	return actor_dispatcher_custom(spec, &ops, (void *)(uintptr_t)tracing, id);
}

uint64_t tracing_current(void)
{
	return current;
}
