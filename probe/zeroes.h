/* SPDX-License-Identifier: MIT */
/* Series that have not counted yet, as 0, so that their first count is seen as an increase. */
#ifndef PROBE_ZEROES_H
#define PROBE_ZEROES_H

#include "probe/aggregate.h"
#include "probe/directory.h"

/* Adds what the target has names for: of each pair of dispatcher and class that an actor had at the
 * attach the histograms, of each class, dispatcher and loop the counters; per metric no more than
 * bring it to `max_series`. What is there already stays as it is. 0 or -ENOMEM. */
int zeroes_fill(const struct directory *d, const struct directory_pairs *pairs, uint32_t max_series,
	struct aggregate *a);

#endif
