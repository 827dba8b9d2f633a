/* SPDX-License-Identifier: MIT */
/* A thread that does one thing again and again. */
#ifndef PROBE_BEAT_H
#define PROBE_BEAT_H

#include <stdint.h>

#include "probe/error.h"

struct beat;

/* Does it once, on the beat's thread. Returns after how many nanoseconds it is due again. */
typedef uint64_t beat_deed(void *context);

/* Starts the thread; the first time is after `first_ns`. 0 or an error. */
int beat_open(
	struct beat **out, beat_deed *deed, void *context, uint64_t first_ns, struct error *error);

/* Waits for a deed that is being done, and for the thread. NULL is fine. */
void beat_close(struct beat *b);

#endif
