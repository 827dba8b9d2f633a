/* SPDX-License-Identifier: MIT */
/* Two dispatchers that share a loop: turns on the fast lane go before all that wait on the slow.
 *
 * For the few actors that keep a service alive (health, supervision, flow control) beside many that
 * do its work. A turn that runs is not interrupted, so a system actor waits for one turn of another
 * actor at most, however many are queued. How many turns run per pass is up to the dispatcher
 * below.
 *
 *   static struct actor_dispatcher_spec inner, system_actors, user_actors;
 *   static struct fastlane lane = {.inner = &inner};
 *
 *   actor_dispatcher_hybrid(&inner, ACTOR_HYBRID_BUDGET, "below");
 *   fastlane_dispatchers(&lane, &system_actors, "system", &user_actors, "user"); */
#ifndef FASTLANE_H
#define FASTLANE_H

#include <actor.h>

#define FASTLANE_PATIENCE 64

struct fastlane_loop;

struct fastlane {
	const struct actor_dispatcher_spec *inner; /* must outlive the system, as this does */
	/* After so many turns of the fast lane in a row, one of the slow lane runs if any waits;
	 * default FASTLANE_PATIENCE. */
	unsigned int patience;
	struct fastlane_loop *loops; /* its own */
};

/* Describes both dispatchers. A lane is for one system. Errors as actor_dispatcher_custom(). */
int fastlane_dispatchers(struct fastlane *lane, struct actor_dispatcher_spec *fast,
	const char *fast_id, struct actor_dispatcher_spec *slow, const char *slow_id);

#endif
