/* SPDX-License-Identifier: MIT */
/* Prints the histograms of an aggregate for people, as bars of stars. */
#ifndef PROBE_HIST_TEXT_H
#define PROBE_HIST_TEXT_H

#include "probe/aggregate.h"
#include "probe/grouping.h"
#include "probe/text.h"

/* Appends mailbox wait, handler time and queue delay (`every` adds depth and turns), one histogram
 * per group, then the accounting line. GROUPING_FULL prints one histogram per metric. */
void hist_text_render(struct text *t, const struct aggregate *a, enum grouping by, bool every);

/* "delivered 7 = recorded 5 + unstamped 1 + lost 1 (copy 1)", without a newline. */
void hist_text_accounting(struct text *t, const struct aggregate *a);

#endif
