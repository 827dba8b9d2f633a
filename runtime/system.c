/* SPDX-License-Identifier: MIT */
/* Opens systems and answers what a program asks of them. */
#include "alarm.h"
#include "close.h"
#include "dispatcher.h"
#include "events.h"
#include "fork.h"
#include "health.h"
#include "log.h"
#include "loop.h"
#include "notice.h"
#include "options.h"
#include "registry.h"
#include "root.h"
#include "shutdown.h"
#include "signals.h"
#include "slots.h"
#include "spec.h"
#include "system.h"
#include "tuning.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define RING_SLOTS     1024  /* at first */
#define RING_SLOTS_WIDE 16384 /* after it was full twice */
#define RING_SLOTS_MAX (1 << 20)

/* Up to and with `ring_slots`: the first version. */
#define OPTIONS_LEAST (offsetof(struct actor_system_options, ring_slots) + sizeof(int))

static int options_check(struct actor_system_options *o, const struct actor_system_options *given)
{
	if (!given || !actor__options_read(o, sizeof(*o), given, OPTIONS_LEAST))
		return ACTOR_EOPTIONS;
	if (o->throughput < 0 || o->throughput > ACTOR_BUDGET_MAX)
		return ACTOR_EBUDGET;
	if (o->name && !actor__name_valid(o->name))
		return ACTOR_ENAME;
	if (o->loops < 0 || o->drain_ms < -1 || o->manual_ms < 0 || o->ring_slots < 0 ||
		o->ring_slots > RING_SLOTS_MAX || (o->ring_slots & (o->ring_slots - 1)))
		return ACTOR_EOPTIONS;
	return (unsigned int)o->loops >= ACTOR_ABI_LOOPS ? ACTOR_ELIMIT : 0;
}

static int system_init(struct actor_system *system, struct actor_system_options *o)
{
	struct actor_dispatcher_spec room;
	int rc;

	snprintf(system->name, sizeof(system->name), "%s", o->name ? o->name : "actor");
	actor__names_init(&system->names);
	actor__waiters_init(&system->waiters);
	actor__subscriptions_init(&system->subscriptions);
	pthread_mutex_init(&system->lock, NULL);
	actor__health_init(&system->health);
	actor__shutdown_init(&system->shutdown, ACTOR_PHASE_TIMEOUT_MS);
	rc = actor__tuning_open(system, o, &room);
	if (rc)
		return rc;
	system->throughput = o->throughput ? (uint32_t)o->throughput : ACTOR_THROUGHPUT;
	system->ring_slots = o->ring_slots ? (uint32_t)o->ring_slots : RING_SLOTS;
	system->ring_slots_most = o->ring_slots ? system->ring_slots : RING_SLOTS_WIDE;
	system->drain_ms = o->drain_ms ? o->drain_ms : ACTOR_DRAIN_MS;
	atomic_store(&system->manual_ms, (uint64_t)o->manual_ms);
	system->fork_count = actor__fork_count;
	system->embedded = o->loop != NULL;
	system->loop_count = (uint32_t)o->loops + system->embedded;
	if (!system->loop_count)
		system->loop_count = 1;
	if (o->dispatcher)
		system->standard = *o->dispatcher;
	else
		actor_dispatcher_hybrid(&system->standard, ACTOR_HYBRID_BUDGET, NULL);
	system->loops = actor__heap_zero(system->loop_count * sizeof(*system->loops));
	return system->loops ? 0 : -ENOMEM;
}

static int loops_open(struct actor_system *system, uv_loop_t *uv)
{
	struct actor__spec_list *standard;
	int rc = actor__spec_use(system, NULL, &standard);

	for (uint32_t i = 0; i < system->loop_count && !rc; i++) {
		rc = actor__loop_open(system, i, i == 0 ? uv : NULL);
		if (!rc)
			rc = actor__dispatcher_open(system->loops[i], &standard->spec,
				standard->number, &system->loops[i]->standard);
	}
	return rc;
}

/* Undoes a system that never got to work; the first `started` owned loops have threads. */
static void open_failed(struct actor_system *system, uint32_t started)
{
	system->failed = true;
	for (uint32_t i = 0; i < system->loop_count; i++) {
		struct actor__loop *loop = system->loops ? system->loops[i] : NULL;

		if (!loop || !loop->uv)
			continue;
		if (loop->owned && started && started--) {
			actor__order_send(loop, ACTOR__END);
			pthread_join(loop->owner, NULL);
			continue;
		}
		actor__dispatchers_close(loop);
		if (!loop->owned || !loop->handles)
			continue;
		if (i == 0)
			actor__signals_stop(system);
		actor__handles_close(loop);
		while (loop->handles_open)
			uv_run(loop->uv, UV_RUN_NOWAIT);
	}
	actor__system_free(system);
}

/* Starts the threads; the number of those that run, and the first error. */
static uint32_t loops_start(struct actor_system *system, int *rc)
{
	uint32_t started = 0;

	for (uint32_t i = system->embedded; i < system->loop_count; i++, started++) {
		*rc = actor__loop_start(system->loops[i]);
		if (*rc)
			break;
	}
	return started;
}

static void warn_high(struct actor_system *system)
{
	if (system->throughput > ACTOR__WARN_ABOVE)
		actor__log(system, ACTOR_LOG_WARN,
			"throughput %u is above %u: one actor may hold its loop for long",
			system->throughput, ACTOR__WARN_ABOVE);
}

/* On a caller's loop nothing can be undone any more, so a failure is only said. */
static void signals_open(struct actor_system *system, const struct actor_system_options *options)
{
	int rc = actor__signals_open(system, options);

	if (rc)
		actor__log(system, ACTOR_LOG_ERROR, "SIGTERM and SIGINT will not begin a shutdown: %s",
			actor_strerror(rc));
}

int actor__system_open(struct actor_system **out, const struct actor_system_options *given,
	struct actor__driver *driver)
{
	struct actor_system_options options;
	int rc = out ? options_check(&options, given) : -EINVAL;
	struct actor_system *system;
	uint32_t started = 0;

	if (rc)
		return rc;
	actor__root_init();
	actor__fork_watch();
	actor__close_init();
	actor__events_init();
	system = actor__heap_zero(sizeof(*system));
	rc = system ? actor__logger_init(&system->logger, &options) : -ENOMEM;
	if (rc) {
		actor__heap_free(system);
		return rc;
	}
	system->driver = driver;
	rc = system_init(system, &options);
	if (!rc)
		rc = loops_open(system, options.loop);
	if (!rc && !system->embedded)
		signals_open(system, &options);
	if (!rc && !driver)
		started = loops_start(system, &rc);
	if (!rc && system->embedded)
		rc = actor__loop_listen(system->loops[0]);
	if (rc) {
		open_failed(system, started);
		return rc;
	}
	if (system->embedded)
		signals_open(system, &options);
	warn_high(system);
	*out = system;
	return 0;
}

int actor_system_open(struct actor_system **out, const struct actor_system_options *given)
{
	return actor__system_open(out, given, NULL);
}

int actor_system_loops(const struct actor_system *system)
{
	return system ? (int)system->loop_count : -EINVAL;
}

int actor_system_drain(struct actor_system *system)
{
	struct actor__loop *loop;

	if (actor__forked(system))
		return actor__refusal(system);
	loop = system->loops[0];
	if (!system->embedded || !actor__loop_here(loop))
		return ACTOR_ETHREAD;
	if (actor__in_turn(loop) || loop->in_drain)
		return -EBUSY;
	actor__handles_ensure(loop);
	return (int)actor__dispatchers_drain(loop, false);
}

int actor_system_advance(struct actor_system *system, uint64_t ms)
{
	if (actor__forked(system))
		return actor__refusal(system);
	if (!atomic_load(&system->manual_ms) || ms > ACTOR__TIME_MOST_MS)
		return -EINVAL;
	actor__alarm_advance(system, ms);
	return 0;
}

int actor_system_dispatcher(struct actor_system *system, int loop,
	const struct actor_dispatcher_spec *spec, struct actor_dispatcher **dispatcher)
{
	struct actor__spec_list *entry;
	int rc;

	if (!system || !dispatcher)
		return -EINVAL;
	if (loop < 1 || (uint32_t)loop > system->loop_count)
		return ACTOR_EOPTIONS;
	if (!actor__loop_here(system->loops[loop - 1]))
		return ACTOR_ETHREAD;
	rc = actor__spec_use(system, spec, &entry);
	return rc ? rc
		  : actor__dispatcher_open(
			    system->loops[loop - 1], &entry->spec, entry->number, dispatcher);
}

static void stats_sum(const struct actor_system *system, struct actor_stats *stats)
{
	stats->created = atomic_load(&system->outside_created);
	for (uint32_t i = 0; i < system->loop_count; i++) {
		struct actor__loop *loop = system->loops[i];

		stats->delivered += __atomic_load_n(&loop->abi->delivered, __ATOMIC_RELAXED) -
				    loop->delivered_before;
		stats->turns += __atomic_load_n(&loop->abi->turn, __ATOMIC_RELAXED) -
				loop->turns_before;
		stats->dead_letters += atomic_load(&loop->dead_letters);
		stats->dropped += atomic_load(&loop->dropped);
		stats->created += atomic_load(&loop->created);
		stats->terminated += atomic_load(&loop->terminated);
		stats->failed += atomic_load(&loop->failed);
		stats->dispatcher_errors += atomic_load(&loop->dispatcher_errors);
		stats->restarted += atomic_load(&loop->restarted);
	}
}

int actor_system_stats(const struct actor_system *system, struct actor_stats *out)
{
	struct actor_stats stats = {0};

	if (!system || !out)
		return -EINVAL;
	stats.size = out->size;
	if (stats.size < offsetof(struct actor_stats, dropped))
		return ACTOR_EOPTIONS;
	stats_sum(system, &stats);
	memcpy(out, &stats, stats.size < sizeof(stats) ? stats.size : sizeof(stats));
	return 0;
}

int actor_system_on_dead_letter(struct actor_system *system, actor_dead_letter_cb cb, void *data)
{
	if (!system)
		return -EINVAL;
	system->on_dead_letter_data = data;
	system->on_dead_letter = cb;
	return 0;
}
