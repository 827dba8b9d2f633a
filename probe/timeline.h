/* SPDX-License-Identifier: MIT */
/* A recording as a trace in the JSON format that Chrome's about:tracing and Perfetto read: loops
 * are threads, turns and the messages in them are slices, the way of a message from its sender's
 * loop is a flow.
 *
 * The stream holds durations; where they lie in time follows from the hand-over's own clock, back
 * from its end: what a loop did between its turns is counted to the time before them. Order and
 * durations are exact, positions within one pass of a loop are as good as that.
 */
#ifndef PROBE_TIMELINE_H
#define PROBE_TIMELINE_H

#include <stdio.h>

#include "probe/replay.h"

struct timeline;

/* Begins to write. NULL: no memory. File and head stay the caller's; the head may be filled until
 * the first batch comes. */
struct timeline *timeline_begin(FILE *out, const struct recording_head *head);

/* As the callback of a replay; `data` is the timeline. */
void timeline_batch(void *data, const struct replay_names *names,
	const struct calibration *calibration, const struct ring_batch *batch);

/* Writes the end and frees. 0, or -EIO if not all could be written. */
int timeline_end(struct timeline *t);

#endif
