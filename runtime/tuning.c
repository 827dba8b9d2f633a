/* SPDX-License-Identifier: MIT */
/* Joins the configuration file with what the program asks for. */
#define _GNU_SOURCE
#include "tuning.h"

#include "config.h"
#include "log.h"
#include "spec.h"

#include <inttypes.h>
#include <stdlib.h>

/* May the file's value take the place of the program's? `set`: the program has one. */
static bool file_decides(const struct actor__config *config, bool set)
{
	return !set || config->override;
}

static void replaced(struct actor_system *system, const char *key, int64_t by, int64_t what)
{
	if (by == what)
		return;
	/* An option of -1 means none. */
	actor__log(system, ACTOR_LOG_WARN,
		"%s: override: %s = %" PRId64 " instead of the program's %" PRId64,
		system->config->file, key, by < 0 ? 0 : by, what < 0 ? 0 : what);
}

/* `value`: the file's, as the option has it; ACTOR__UNSET: none. */
static void number_decide(
	struct actor_system *system, const char *key, int64_t *option, int64_t value, bool in_file)
{
	if (!in_file || !file_decides(system->config, *option != 0))
		return;
	if (*option)
		replaced(system, key, value, *option);
	*option = value;
}

/* The budget that the file has for a kind of dispatcher, or what there is without it. */
static int64_t budget_of(const struct actor__config *config, int64_t kind, int64_t otherwise)
{
	int64_t budget = kind == ACTOR_HYBRID		       ? config->hybrid_budget
			 : kind == ACTOR_THROUGHPUT_DISPATCHER ? config->dispatcher_throughput
							       : ACTOR__UNSET;

	return budget == ACTOR__UNSET ? otherwise : budget;
}

static int spec_make(struct actor_dispatcher_spec *spec, int64_t kind, int64_t budget)
{
	switch (kind) {
	case ACTOR_MICROTASK:
		return actor_dispatcher_microtask(spec, NULL);
	case ACTOR_IMMEDIATE:
		return actor_dispatcher_immediate(spec, NULL);
	case ACTOR_THROUGHPUT_DISPATCHER:
		return actor_dispatcher_throughput(spec, budget ? budget : ACTOR_THROUGHPUT, NULL);
	default:
		return actor_dispatcher_hybrid(spec, budget ? budget : ACTOR_HYBRID_BUDGET, NULL);
	}
}

static bool same(const struct actor_dispatcher_spec *a, const struct actor_dispatcher_spec *b)
{
	return a->kind == b->kind && a->budget == b->budget;
}

/* The system's dispatcher. */
static void dispatcher_decide(struct actor_system *system, struct actor_system_options *o,
	struct actor_dispatcher_spec *room)
{
	const struct actor__config *config = system->config;
	const struct actor_dispatcher_spec *own = o->dispatcher;
	int64_t own_kind = own ? (int64_t)own->kind : ACTOR_HYBRID;
	int64_t kind = config->dispatcher == ACTOR__UNSET ? own_kind : config->dispatcher;

	/* One that is no good is refused as without a file. */
	if (!file_decides(config, own != NULL) || (own && own->size < sizeof(*own)))
		return;
	if (config->dispatcher == ACTOR__UNSET && budget_of(config, kind, 0) == 0)
		return; /* the file says nothing about it */
	if (spec_make(
		    room, kind, budget_of(config, kind, own && own_kind == kind ? own->budget : 0)))
		return;
	if (own) {
		if (same(room, own))
			return;
		room->on_error = own->on_error;
		room->on_error_data = own->on_error_data;
		actor__log(system, ACTOR_LOG_WARN,
			"%s: override: dispatcher %s instead of the program's %.63s", config->file,
			room->id, own->id);
	}
	o->dispatcher = room;
}

int actor__tuning_open(struct actor_system *system, struct actor_system_options *options,
	struct actor_dispatcher_spec *room)
{
	struct actor__config_error error = {
		.file = options->config ? options->config : secure_getenv("ACTOR_CONFIG")};
	struct actor__config *config;
	int rc;

	if (!error.file || !error.file[0])
		return 0;
	rc = actor__config_read(&config, &error);
	if (rc) {
		if (error.text[0])
			actor__log(system, ACTOR_LOG_ERROR, "%s", error.text);
		return rc;
	}
	system->config = config;
	if (config->log_level != ACTOR__UNSET && file_decides(config, options->log_level != 0))
		atomic_store_explicit(
			&system->logger.level, (uint32_t)config->log_level, memory_order_relaxed);
	number_decide(system, "actor.throughput", &options->throughput, config->throughput,
		config->throughput != ACTOR__UNSET);
	/* An option of 0 is the default. */
	number_decide(system, "system.drain_ms", &options->drain_ms,
		config->drain_ms ? config->drain_ms : -1, config->drain_ms != ACTOR__UNSET);
	if (config->phase_timeout_ms != ACTOR__UNSET)
		for (uint32_t i = 1; i <= ACTOR__PHASES; i++)
			system->shutdown.timeout_ms[i] = config->phase_timeout_ms;
	dispatcher_decide(system, options, room);
	actor__log(system, ACTOR_LOG_INFO, "configured by %s", config->file);
	return 0;
}

/* ---- actors ---- */

static void spawn_replaced(struct actor_system *system, struct actor__config_class *cls)
{
	if (!atomic_exchange(&cls->replaced, 1))
		actor__log(system, ACTOR_LOG_WARN,
			"%s:%u: override: class %s runs with the file's settings instead of the "
			"program's",
			system->config->file, cls->line, cls->name);
}

/* The file's dispatcher for a class; NULL: the system's own. False: it cannot be used. */
static bool class_spec(struct actor_system *system, struct actor__config_class *cls,
	const struct actor_dispatcher_spec **out)
{
	struct actor_dispatcher_spec spec;
	struct actor__spec_list *entry;
	int64_t budget = cls->budget == ACTOR__UNSET ? budget_of(system->config, cls->dispatcher, 0)
						     : cls->budget;
	int rc = spec_make(&spec, cls->dispatcher, budget);

	*out = NULL;
	if (!rc && same(&spec, &system->standard))
		return true;
	if (!rc)
		rc = actor__spec_use(system, &spec, &entry);
	if (!rc) {
		*out = &entry->spec;
	} else if (!atomic_exchange(&cls->refused, 1)) {
		actor__log(system, ACTOR_LOG_WARN,
			"%s:%u: the dispatcher of class %s is not used: %s", system->config->file,
			cls->line, cls->name, actor_strerror(rc));
	}
	return rc == 0;
}

void actor__tuning_spawn(struct actor_system *system, const struct actor_class *cls,
	struct actor_spawn_options *options)
{
	struct actor__config_class *own = actor__config_class(system->config, cls->name);
	const struct actor_dispatcher_spec *spec;

	if (!own)
		return;
	if (!atomic_load_explicit(&own->used, memory_order_relaxed))
		atomic_store_explicit(&own->used, 1, memory_order_relaxed);
	if (own->throughput != ACTOR__UNSET &&
		file_decides(system->config, options->throughput != 0)) {
		if (options->throughput && options->throughput != own->throughput)
			spawn_replaced(system, own);
		options->throughput = own->throughput;
	}
	if (own->dispatcher != ACTOR__UNSET &&
		file_decides(system->config, options->dispatcher != NULL) &&
		class_spec(system, own, &spec)) {
		if (options->dispatcher)
			spawn_replaced(system, own);
		options->dispatcher = spec;
	}
}

void actor__tuning_close(struct actor_system *system)
{
	struct actor__config *config = system->config;

	for (uint32_t i = 0; config && i < config->class_count; i++)
		if (!atomic_load_explicit(&config->classes[i].used, memory_order_relaxed))
			actor__log(system, ACTOR_LOG_INFO,
				"%s:%u: there was no actor of class %s; is that its name?",
				config->file, config->classes[i].line, config->classes[i].name);
}
