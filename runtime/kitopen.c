/* SPDX-License-Identifier: MIT */
/* Opens and closes test kits, and answers what a test asks of one. */
#include "close.h"
#include "kitprobe.h"
#include "kitsteps.h"
#include "log.h"
#include "options.h"
#include "spec.h"
#include "system.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define OPTIONS_LEAST                                                                              \
	(offsetof(struct actor_test_options, on_step_data) + sizeof(void *)) /* the first version */
#define SYSTEM_OPTIONS_LEAST (offsetof(struct actor_system_options, ring_slots) + sizeof(int))


static int options_read(struct actor_test_options *o, const struct actor_test_options *given)
{
	if (given && !actor__options_read(o, sizeof(*o), given, OPTIONS_LEAST))
		return ACTOR_EOPTIONS;
	if (o->order < 0 || o->order > ACTOR_TEST_SEEDED || o->units < 0)
		return ACTOR_EOPTIONS;
	if (!o->order)
		o->order = ACTOR_TEST_IN_ORDER;
	if (!o->units)
		o->units = ACTOR_TEST_UNITS;
	return 0;
}

static int system_options_read(
	struct actor_system_options *o, const struct actor_test_options *options)
{
	if (options->system && !actor__options_read(o, sizeof(*o), options->system,
				       SYSTEM_OPTIONS_LEAST))
		return ACTOR_EOPTIONS;
	if (o->loop || o->shutdown_signals || (o->manual_ms && options->real_time))
		return ACTOR_EOPTIONS;
	o->size = sizeof(*o);
	if (!o->manual_ms && !options->real_time)
		o->manual_ms = 1;
	if (!o->name)
		o->name = "test";
	return 0;
}

static void seed_choose(struct actor_test *kit)
{
	kit->seed = kit->options.seed ? kit->options.seed : actor__kit_seed_wish();
	if (!kit->seed)
		kit->seed = uv_hrtime() % 1000000007u + 1;
	kit->random = actor__kit_spread(kit->seed);
	kit->trace = 0xcbf29ce484222325ull;
}

int actor_test_open(struct actor_test **out, const struct actor_test_options *given)
{
	struct actor_test_options options = {.size = sizeof(options)};
	struct actor_system_options system = {.size = sizeof(system)};
	int rc = out ? options_read(&options, given) : -EINVAL;
	struct actor_test *kit;

	if (!rc)
		rc = system_options_read(&system, &options);
	if (rc)
		return rc;
	kit = actor__heap_zero(sizeof(*kit));
	if (!kit)
		return -ENOMEM;
	kit->options = options;
	kit->options.system = NULL; /* it may go now */
	kit->driver.thread = (uintptr_t)pthread_self();
	kit->driver.told = actor__kit_told;
	seed_choose(kit);
	rc = actor__system_open(&kit->system, &system, &kit->driver);
	if (rc) {
		actor__heap_free(kit);
		return rc;
	}
	if (options.order == ACTOR_TEST_SEEDED)
		actor__log(kit->system, ACTOR_LOG_INFO,
			"test kit: seed %" PRIu64 "; ACTOR_TEST_SEED=%" PRIu64 " repeats its order",
			kit->seed, kit->seed);
	*out = kit;
	return 0;
}

int actor_test_close(struct actor_test *kit)
{
	int rc = actor__kit_check(kit, "actor_test_close");

	if (rc)
		return rc;
	if (!kit->gone)
		rc = actor_system_close(kit->system, NULL, NULL);
	if (rc && rc != -EALREADY)
		return rc;
	while (!kit->gone) {
		/* Something may go on for ever: closing has its own time for that. */
		for (int i = 0; i < 1000 && actor__kit_step(kit); i++)
			;
		actor__kit_pass(kit);
		if (!kit->gone)
			usleep(100);
	}
	actor__kit_probes_free(kit);
	actor__system_free(kit->system);
	actor__heap_free(kit);
	return 0;
}

struct actor_system *actor_test_system(struct actor_test *kit)
{
	return kit ? kit->system : NULL;
}

uv_loop_t *actor_test_loop(struct actor_test *kit, int loop)
{
	if (!kit || kit->gone || loop < 1 || (uint32_t)loop > kit->system->loop_count)
		return NULL;
	return kit->system->loops[loop - 1]->uv;
}

int actor_test_step(struct actor_test *kit)
{
	int rc = actor__kit_check(kit, "actor_test_step");
	int step = 2;

	if (rc)
		return rc;
	while (step == 2) {
		step = actor__kit_step(kit);
		if (!step) {
			actor__kit_pass(kit);
			step = actor__kit_step(kit);
		}
	}
	return step;
}

int64_t actor_test_run(struct actor_test *kit)
{
	int rc = actor__kit_check(kit, "actor_test_run");

	return rc ? rc : actor__kit_run(kit, NULL, NULL);
}

int64_t actor_test_advance(struct actor_test *kit, uint64_t ms)
{
	int rc = actor__kit_check(kit, "actor_test_advance");

	if (!rc && ms > (uint64_t)1 << 48)
		rc = -EINVAL;
	return rc ? rc : actor__kit_wait(kit, actor__kit_now(kit) + ms, NULL, NULL);
}

uint64_t actor_test_now(struct actor_test *kit)
{
	return kit ? actor__kit_now(kit) : 0;
}

uint64_t actor_test_seed(struct actor_test *kit)
{
	return kit ? kit->seed : 0;
}

uint64_t actor_test_trace(struct actor_test *kit)
{
	return kit ? kit->trace : 0;
}

int actor_test_seeds(uint64_t first, uint64_t count, int (*test)(uint64_t seed, void *data),
	void *data, uint64_t *failing)
{
	uint64_t wish = actor__kit_seed_wish();
	int rc = 0;

	if (!test || !first)
		return -EINVAL;
	for (uint64_t i = 0; i < (wish ? 1 : count) && !rc; i++) {
		uint64_t seed = wish ? wish : first + i;

		rc = test(seed, data);
		if (!rc)
			continue;
		if (failing)
			*failing = seed;
		fprintf(stderr, "test kit: it fails with seed %" PRIu64 "; ACTOR_TEST_SEED=%" PRIu64
				" repeats it\n", seed, seed);
	}
	return rc;
}

int actor_test_synchronous(struct actor_dispatcher_spec *spec, const char *id)
{
	int rc = spec ? actor_dispatcher_microtask(spec, id ? id : "synchronous") : -EINVAL;

	if (!rc)
		spec->ops = &actor__synchronous;
	return rc;
}
