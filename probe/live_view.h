/* SPDX-License-Identifier: MIT */
/* One frame of the live view: who runs, who waits, for how long. */
#ifndef PROBE_LIVE_VIEW_H
#define PROBE_LIVE_VIEW_H

#include "probe/aggregate.h"
#include "probe/text.h"

struct live_view_style {
	unsigned int columns; /* lines are cut to this, 0 = never */
	bool colour;	      /* headings in bold */
};

/* Appends a frame: `now` is the state of the session, `recent` what happened in the last interval
 * (grouping_subtract). Rates are per second of `recent`. */
void live_view_render(struct text *t, const struct aggregate *now, const struct aggregate *recent,
	const struct live_view_style *style);

#endif
