/* SPDX-License-Identifier: MIT */
/* A scenario: what a program does, and what a diagnosis of it must say.
 *
 * A scenario is up to three roles. A role is some actors of one class that do the same deed with
 * each message, and a way in which they get their messages. Durations and counts grow with the
 * strength, where the table says so, and vary with the seed.
 */
#ifndef TESTS_SCENARIO_H
#define TESTS_SCENARIO_H

#include <stdint.h>

#include "runtime/actor.h"

#define SCENARIO_ROLES 3

enum scenario_deed {
	DEED_SPIN,  /* compute for `work_ns` */
	DEED_SLEEP, /* nanosleep for `work_ns` */
	DEED_READ,  /* read a byte that comes after `work_ns` */
	DEED_LOCK,  /* hold the one mutex for `work_ns` */
	DEED_FAIL,  /* fail */
	/* The first message's handler does not return before the end: */
	DEED_HANG_SPIN,
	DEED_HANG_SLEEP,
	DEED_HANG_READ,
	DEED_HANG_LOCK,
};

enum scenario_feed {
	FEED_PERIOD, /* each `period_ms` the program tells each actor `burst` messages */
	FEED_TOKENS, /* each actor has `burst` messages that it tells itself again and again */
	FEED_RING,   /* `burst` messages go round among all of them */
	FEED_PAIR,   /* `burst` messages go between the first two */
	FEED_TIMERS, /* each actor has a timer of `period_ms`; all begin at once */
	FEED_ROLE,   /* the role before it tells them, `gift` for each message it handles */
};

/* What grows with the strength. */
enum scenario_grows {
	GROWS_NOTHING,
	GROWS_WORK,
	GROWS_BURST,
	GROWS_COUNT,
	GROWS_THROUGHPUT,
	GROWS_BUDGET
};

struct scenario_role {
	const char *class_name; /* NULL: no such role */
	uint32_t count;
	enum scenario_deed deed;
	uint64_t work_ns;
	enum scenario_feed feed;
	uint32_t period_ms;
	uint32_t burst;
	uint32_t gift; /* messages to one actor of the next role, for each one handled */
	int64_t throughput;
	enum actor_dispatcher_kind dispatcher; /* 0: the default */
	int64_t budget;			       /* of that dispatcher; 0: its default */
	enum scenario_grows grows;
	uint32_t loop; /* 0: the first */
};

/* What the scenario's own clocks must have seen, at least, for its truth to hold. */
enum scenario_truth {
	TRUTH_NONE,	   /* holds by construction */
	TRUTH_HANDLER_CPU, /* longest handler on a CPU, ns */
	TRUTH_OFF_CPU,	   /* longest handler off the CPU, ns */
	TRUTH_LATE,	   /* most that a 5 ms timer of the loop was late, ns */
	TRUTH_PROMPT,	   /* the opposite: its median must stay below, ns */
	TRUTH_WAITING,	   /* messages that were told and not handled in the end */
	TRUTH_STARVED, /* share of the time that the thread wanted a CPU and had none, per mille */
};

struct scenario {
	const char *name;
	const char *expected;	/* rule */
	const char *class_name; /* whom it must name; NULL: nobody */
	const char *dispatcher; /* the same */
	enum scenario_truth truth;
	uint64_t truth_least;
	const char *about;
	uint32_t rivals; /* busy threads on the loop's own CPU */
	uint32_t loops;	 /* with threads, beside the first */
	struct scenario_role roles[SCENARIO_ROLES];
};

extern const struct scenario scenario_table[];
extern const uint32_t scenario_count;

#endif
