/* SPDX-License-Identifier: MIT */
/* Adds up series and counters whose labels are equal: two ids may have one name. */
#ifndef PROBE_MERGE_H
#define PROBE_MERGE_H

#include "probe/aggregate.h"

/* Sorts series by metric, dispatcher, class, actor, and counters by family, dispatcher, class,
 * reason, and leaves each set of labels once. */
void merge_equals(struct aggregate *a);

/* Adds what another process has counted: sums are added, of moments the largest stays, series and
 * counters with equal names become one. `from` is empty afterwards. Without memory what does not
 * fit is lost, and the result is -ENOMEM. */
int merge_add(struct aggregate *to, struct aggregate *from);

#endif
