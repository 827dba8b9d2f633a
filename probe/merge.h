/* SPDX-License-Identifier: MIT */
/* Adds up series and counters whose labels are equal: two ids may have one name. */
#ifndef PROBE_MERGE_H
#define PROBE_MERGE_H

#include "probe/aggregate.h"

/* Sorts series by metric, dispatcher, class, actor, and counters by family, dispatcher, class,
 * reason, and leaves each set of labels once. */
void merge_equals(struct aggregate *a);

#endif
