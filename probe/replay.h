/* SPDX-License-Identifier: MIT */
/* What a recording holds, as the aggregate that its observation gave, and on the way every batch
 * for who wants it. Hostile bytes give wrong numbers, never more. */
#ifndef PROBE_REPLAY_H
#define PROBE_REPLAY_H

#include "probe/aggregate.h"
#include "probe/recording.h"

/* Names and paths found so far. */
struct replay_names {
	struct directory directory; /* its tables only */
	struct pathbook paths;
	char systems[ACTOR_ABI_LOOPS][ACTOR_ABI_NAME_BYTES]; /* of the loops */
};

struct replay_options {
	bool by_actor;
	uint32_t max_series;
	/* Called for each batch, in the order of the file. May be NULL. */
	void (*batch)(void *data, const struct replay_names *names,
		const struct calibration *calibration, const struct ring_batch *batch);
	void *data;
};

struct replay_result {
	struct aggregate aggregate;
	struct recording_head head;
	struct recording_end end; /* zeros if there is none */
	bool complete;		  /* it has its end, and nothing is wrong before it */
	bool damaged;		  /* bytes at the end of what could be read were not ours */
};

/* Reads it all. 0, or an error; then `result` is empty. */
int replay(struct replay_result *result, const char *path, const struct replay_options *options,
	struct error *error);

#endif
