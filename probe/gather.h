/* SPDX-License-Identifier: MIT */
/* Gathers what a diagnosis needs out of the ledger stream, record by record.
 *
 * Per class, dispatcher, loop and actor; bounded: actors beyond the cap count for their class only.
 * gather_batch() runs on the thread that drains the ring, the rest when nothing comes any more.
 */
#ifndef PROBE_GATHER_H
#define PROBE_GATHER_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/maps.h"
#include "probe/calibration.h"
#include "probe/evidence.h"
#include "probe/directory.h"

struct gather;

struct gather_blocked {
	uint64_t actor; /* whole id */
	int64_t call;
	bool blocked; /* else runnable */
	uint64_t ns;
	uint64_t max_ns;
};

/* NULL without memory. */
struct gather *gather_new(void);
void gather_free(struct gather *g);

/* Before the first batch. */
void gather_start(void *gather, const struct calibration *calibration);

/* Takes a batch; one that is not whole is passed over. */
void gather_batch(void *gather, const struct ring_batch *batch, size_t bytes);

/* Adds what the kernel says of an actor's turns to its class. */
void gather_blocked(struct gather *g, const struct gather_blocked *row);

/* The actors whose paths are wanted by gather_fill(), as wishes with `actor` and `mask` set; a heap
 * array. 0 or -ENOMEM. */
int gather_wishes(const struct gather *g, struct directory_wish **wishes, size_t *count);

/* Fills classes and dispatchers of `e`, and what the stream knows of loops; names by `d`, paths by
 * the resolved wishes. 0 or -ENOMEM. */
int gather_fill(const struct gather *g, const struct directory *d,
	const struct directory_wish *wishes, size_t count, struct evidence *e);

#endif
