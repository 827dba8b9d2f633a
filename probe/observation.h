/* SPDX-License-Identifier: MIT */
/* One observed process and the moments at which a face has something to print.
 *
 * Time is asked for by the caller's plan and read from CLOCK_MONOTONIC; all ticks are multiples of
 * the interval after the start, so that a slow printer never shifts them.
 */
#ifndef PROBE_OBSERVATION_H
#define PROBE_OBSERVATION_H

#include "probe/aggregate.h"
#include "probe/arguments.h"

enum observation_event {
	OBSERVATION_TICK = 1,	  /* an interval is over */
	OBSERVATION_ENOUGH = 2,	  /* the duration or the last interval is over */
	OBSERVATION_STOPPED = 4,  /* SIGINT, SIGTERM or SIGHUP */
	OBSERVATION_GONE = 8,	  /* the target ended */
	OBSERVATION_UNREAD = 16,  /* nobody reads standard output any more */
	OBSERVATION_RESIZED = 32, /* the terminal's window changed */
};

#define OBSERVATION_LAST                                                                           \
	(OBSERVATION_ENOUGH | OBSERVATION_STOPPED | OBSERVATION_GONE | OBSERVATION_UNREAD)

struct observation_plan {
	uint64_t start_ns;
	uint64_t interval_ns; /* 0 = no ticks */
	uint64_t count;	      /* ticks, 0 = without end */
	uint64_t duration_ns; /* 0 = without end */
	uint64_t ticks;	      /* so far */
};

struct observation {
	struct session *session;
	struct observation_plan plan;
	int signal_fd;
	uint64_t watch_ns; /* when the cost is looked at next */
	bool watch_output;
	bool gone; /* the target's end was reported, once */
};

/* Events due at `now_ns`, 0 if none; missed ticks count as one. */
unsigned int observation_plan_due(struct observation_plan *plan, uint64_t now_ns);

/* When the next event is due, UINT64_MAX = never. */
uint64_t observation_plan_next(const struct observation_plan *plan);

/* Turns the three signals into events, for this thread and all it starts. 0 or an error. */
int observation_open(struct observation *o, const struct arguments *a, struct error *error);

/* The same, and all of it goes into a recording, which stays the caller's and outlives this. */
int observation_record(struct observation *o, const struct arguments *a,
	struct recording *recording, struct error *error);

/* The same, and each batch of it goes to the tap as well. Privileges are kept: who looks at threads of
 * the target needs them to the end. */
int observation_tap(struct observation *o, const struct arguments *a, const struct session_tap *tap,
	struct error *error);

/* Waits for the next events: bits of enum observation_event. */
unsigned int observation_wait(struct observation *o);

/* Detaches. A zeroed observation is fine. */
void observation_close(struct observation *o);

#endif
