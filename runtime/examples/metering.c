/* SPDX-License-Identifier: MIT */
/* Wrap and delegate: counts around each turn. */
#include "metering.h"

#include <errno.h>
#include <stdlib.h>

/* One per loop. */
struct instance {
	struct metering *metering;
	struct actor_dispatcher *inner;
};

static void add(_Atomic uint64_t *count, uint64_t n)
{
	atomic_fetch_add_explicit(count, n, memory_order_relaxed);
}

/* Runs in place of the turn. After the turn the unit may be gone, with its actor. */
static int metered_run(struct actor_unit *unit)
{
	struct instance *self = actor_unit_unwrap(unit);
	struct metering *metering = self->metering;
	uint64_t began_ns = uv_hrtime();
	int rc = actor_unit_inner(unit);

	add(&metering->busy_ns, uv_hrtime() - began_ns);
	add(&metering->ran, 1);
	if (rc < 0)
		add(&metering->failed, 1);
	return rc;
}

static int metering_open(void **self, struct actor_dispatcher *dispatcher, void *data)
{
	struct instance *instance = calloc(1, sizeof(*instance));
	int rc = -ENOMEM;

	if (!instance)
		return rc;
	instance->metering = data;
	rc = actor_dispatcher_delegate(dispatcher, instance->metering->inner, &instance->inner);
	if (rc) {
		free(instance);
		return rc;
	}
	*self = instance;
	return 0;
}

static void metering_execute(void *self, struct actor_unit *unit)
{
	struct instance *instance = self;

	add(&instance->metering->asked, 1);
	/* A third wrapper finds no place in the unit; then `ran` stays behind `asked`. */
	actor_unit_wrap(unit, metered_run, instance);
	actor_dispatcher_execute(instance->inner, unit);
}

static const struct actor_dispatcher_ops ops = {
	.size = sizeof(ops),
	.open = metering_open,
	.execute = metering_execute,
	.close = free,
};

int metering_dispatcher(
	struct actor_dispatcher_spec *spec, struct metering *metering, const char *id)
{
	return actor_dispatcher_custom(spec, &ops, metering, id);
}

void metering_read(const struct metering *metering, struct metering_counts *counts)
{
	counts->asked = atomic_load_explicit(&metering->asked, memory_order_relaxed);
	counts->ran = atomic_load_explicit(&metering->ran, memory_order_relaxed);
	counts->failed = atomic_load_explicit(&metering->failed, memory_order_relaxed);
	counts->busy_ns = atomic_load_explicit(&metering->busy_ns, memory_order_relaxed);
}
