/* SPDX-License-Identifier: MIT */
/* A dispatcher that counts and times turns for the program's own metrics, and leaves their order to
 * another dispatcher. (actorprobe needs nothing of this: it sees the turns of every dispatcher.)
 *
 *   static struct actor_dispatcher_spec inner, metered;
 *   static struct metering metering = {.inner = &inner};
 *
 *   actor_dispatcher_throughput(&inner, 32, "below");
 *   metering_dispatcher(&metered, &metering, "metering"); */
#ifndef METERING_H
#define METERING_H

#include <actor.h>
#include <stdatomic.h>

struct metering_counts {
	uint64_t asked;  /* turns that were asked for */
	uint64_t ran;    /* turns that were run */
	uint64_t failed; /* of them, with an error of the unit */
	uint64_t busy_ns;
};

struct metering {
	const struct actor_dispatcher_spec *inner; /* must outlive the system, as this does */
	/* Sums of all loops; only metering_read() looks at them. */
	_Atomic uint64_t asked, ran, failed, busy_ns;
};

/* Describes the dispatcher; errors as actor_dispatcher_custom(). */
int metering_dispatcher(
	struct actor_dispatcher_spec *spec, struct metering *metering, const char *id);

/* What has been counted so far. Any thread. */
void metering_read(const struct metering *metering, struct metering_counts *counts);

#endif
