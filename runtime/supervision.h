/* SPDX-License-Identifier: MIT */
/* Decides what a failure leads to; it only decides, fault.c acts.
 *
 * A *plan* is a strategy with its defaults filled in. A decider's answer, the budget and the
 * back-off make a *verdict* of it. */
#ifndef ACTOR_SUPERVISION_H
#define ACTOR_SUPERVISION_H

#include "actor.h"
#include "budget.h"

struct actor__plan {
	actor_decide_cb decide; /* NULL: always `directive` */
	void *data;
	enum actor_directive directive;
	bool all;      /* all-for-one */
	uint32_t most; /* restarts within the window; ACTOR__ANY */
	uint64_t window_ms;
	uint32_t backoff_min_ms; /* 0: no back-off */
	uint32_t backoff_max_ms;
	uint32_t jitter_percent;
};

/* What has failed. */
struct actor__fault {
	actor_ref actor;
	actor_ref parent; /* 0: top level */
	const struct actor_class *cls;
	int code;
	const char *text; /* never NULL */
	struct actor__log_context *context; /* of the handler; NULL: none */
	bool starting;	  /* it was not ready for messages yet */
};

struct actor__verdict {
	enum actor_directive directive;
	bool all;
	bool spent;	    /* stopped because its restarts are used up ... */
	uint32_t most;	    /* ... so many ... */
	uint64_t window_ms; /* ... within this time */
	uint32_t delay_ms;  /* of the restart */
};

/* Is this a strategy? 0 or ACTOR_EOPTIONS. */
int actor__strategy_check(const struct actor_strategy *strategy);

/* Fills in the defaults; NULL: the default strategy. It has been checked. */
void actor__plan_init(struct actor__plan *plan, const struct actor_strategy *strategy);

/* The strategy for an actor spawned with `own` (or NULL) below an actor of class `parent` (NULL:
 * top level); NULL: the default one. */
const struct actor_strategy *actor__strategy_of(
	const struct actor_strategy *own, const struct actor_class *parent);

/* Decides; `budget` NULL: there was no memory for one, restarts are not counted. `random` makes
 * the jitter. */
void actor__supervision_decide(struct actor__verdict *verdict, const struct actor__fault *fault,
	const struct actor__plan *plan, struct actor__budget *budget, uint64_t now_ms,
	uint64_t random);

#endif
