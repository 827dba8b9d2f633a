/* SPDX-License-Identifier: MIT */
/* A dispatcher that gives each turn a span, and leaves the order of turns to another dispatcher.
 *
 *   static struct actor_dispatcher_spec inner, traced;
 *   static struct tracing tracing = {.inner = &inner, .on_span = print};
 *
 *   actor_dispatcher_hybrid(&inner, ACTOR_HYBRID_BUDGET, "below");
 *   tracing_dispatcher(&traced, &tracing, "tracing");
 *
 * `traced` is then a dispatcher for actor_spawn_options or actor_system_options. While a turn runs,
 * its handlers find the span by tracing_current(), to put it into a log line or to hand it on. */
#ifndef TRACING_H
#define TRACING_H

#include <actor.h>

struct tracing_span {
	uint64_t id; /* unique in the process, never 0 */
	uint64_t began_ns, ended_ns; /* uv_hrtime() */
	const char *dispatcher;      /* that ran the turn */
	int rc;                      /* of the unit; negative: it failed */
};

struct tracing {
	const struct actor_dispatcher_spec *inner; /* must outlive the system, as this does */
	/* After each turn, on its loop's thread: several loops call it at once. May be NULL. */
	void (*on_span)(void *data, const struct tracing_span *span);
	void *data;
};

/* Describes the dispatcher; errors as actor_dispatcher_custom(). */
int tracing_dispatcher(
	struct actor_dispatcher_spec *spec, const struct tracing *tracing, const char *id);

/* The span of the turn that runs on this thread; 0: none. */
uint64_t tracing_current(void);

#endif
