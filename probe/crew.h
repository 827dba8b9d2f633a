/* SPDX-License-Identifier: MIT */
/* Processes that are counted together under one value of the label `process`, and what those of
 * them that have ended had counted.
 *
 * Cumulative values must not go backwards when one of several leaves: its last state is added to
 * the crew's past, which stays as long as the crew has a living member and, after the last one's
 * end, for a time to live. What remains of a crew then is its name, so that it is still seen to
 * have ended. One thread at a time.
 */
#ifndef PROBE_CREW_H
#define PROBE_CREW_H

#include "probe/aggregate.h"

#define CREW_NAMES_MAX 256 /* of crews that are only names any more; the oldest are forgotten */

struct crew {
	char *name; /* NULL: the only one, without a label */
	size_t living;
	uint64_t start_unix_ns; /* since when it counts */
	uint64_t ended_ns;	/* CLOCK_MONOTONIC, when its last member left; 0 = some live */
	bool expired;		/* its past is gone */
	struct aggregate past;
};

struct crews {
	struct crew **list;
	size_t count;
	uint64_t ttl_ns;
};

/* The crew of this name, made if there is none, with one living member more. NULL without memory.
 */
struct crew *crews_join(struct crews *c, const char *name, uint64_t unix_ns);

/* A member leaves. Takes over its last state, which is empty afterwards. */
void crew_leave(struct crew *crew, struct aggregate *last, uint64_t now_ns);

/* Copies the past into `total` (zeroed), to which members are added by merge_add(). 0 or -ENOMEM.
 */
int crew_total(const struct crew *crew, struct aggregate *total);

/* Lets go of what is older than the time to live. */
void crews_expire(struct crews *c, uint64_t now_ns);

void crews_fini(struct crews *c);

#endif
