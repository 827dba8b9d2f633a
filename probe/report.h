/* SPDX-License-Identifier: MIT */
/* What the observing commands share: two states, the interval between them, times, last words. */
#ifndef PROBE_REPORT_H
#define PROBE_REPORT_H

#include "probe/observation.h"
#include "probe/text.h"

struct report {
	struct observation observation;
	struct aggregate now;	 /* state at the last read */
	struct aggregate before; /* state at the read before it */
	struct text text;	 /* what is printed next */
};

/* Attaches. `r` must be zeroed. 0 or an error. */
int report_open(struct report *r, const struct arguments *a, struct error *error);

/* Reads the state; the last one becomes `before`. After the events of OBSERVATION_LAST it detaches
 * first, so that the last state adds up exactly. 0 or an error. */
int report_read(struct report *r, unsigned int events, struct error *error);

/* Fills `recent` (zeroed) with what happened between the two states. 0 or an error. */
int report_recent(const struct report *r, struct aggregate *recent, struct error *error);

/* Prints and forgets the text. 0 or an error. */
int report_print(struct report *r, struct error *error);

/* Says on stderr why a run ended by itself, and nothing when it was told to end. 0 or an error. */
int report_end(const struct report *r, unsigned int events, struct error *error);

void report_close(struct report *r);

/* "12:34:56" and a newline, local time. */
void report_add_clock(struct text *t);

/* Seconds since 1970, to a millisecond. */
double report_time(void);

#endif
