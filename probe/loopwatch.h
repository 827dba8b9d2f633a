/* SPDX-License-Identifier: MIT */
/* What each loop of the target is doing now, and for how long at least. */
#ifndef PROBE_LOOPWATCH_H
#define PROBE_LOOPWATCH_H

#include "probe/aggregate.h"
#include "probe/calibration.h"
#include "probe/directory.h"

/* An open turn is older than the first reading that found it. */
struct loopwatch {
	struct {
		uint64_t turn;
		uint64_t seen_ns; /* CLOCK_MONOTONIC; 0 = no turn was open */
	} last[ACTOR_ABI_LOOPS];
};

/* Adds the open loops of the directory to `a`. 0 or -ENOMEM. */
int loopwatch_fill(struct loopwatch *watch, const struct directory *d, struct remote *remote,
	const struct calibration *calibration, struct aggregate *a);

#endif
