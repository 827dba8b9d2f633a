/* SPDX-License-Identifier: MIT */
/* The rules of the diagnosis: pure functions from evidence to a verdict, in one table.
 *
 * The order of the table is the order of causes: an earlier one explains those later ones that its
 * row names, and they are not reported beside it. A rule whose evidence was not seen says nothing.
 */
#ifndef PROBE_RULE_H
#define PROBE_RULE_H

#include <stdbool.h>
#include <stddef.h>

#include "probe/evidence.h"
#include "probe/verdict.h"

enum rule_id {
	RULE_HOST,
	RULE_OBSERVER,
	RULE_STUCK,
	RULE_RESTARTS,
	RULE_LOCK,
	RULE_BLOCKING,
	RULE_CPU,
	RULE_MICROTASK,
	RULE_BUDGET_HIGH,
	RULE_DISPATCHER_HIGH,
	RULE_TIMERS,
	RULE_LONE,
	RULE_BUDGET_LOW,
	RULE_FLOOD,
	RULE_UNFAIR,
	RULE_CROWDED,
	RULE_CROSS_LOOP,
	RULE_UNEXPLAINED,
	RULE_UNSEEN,
	RULE_HEALTHY,
	RULES
};

struct rule {
	enum rule_id id;
	const char *name;	  /* in JSON: "blocking_call" */
	const char *title;	  /* in text: "a handler blocks" */
	enum verdict_severity severity; /* unless the rule itself knows better */
	/* Whether it applies; then `v`, which has rule and severity, is filled. */
	bool (*judge)(const struct evidence *e, struct verdict *v);
	uint32_t explains;  /* later rules, as bits of enum rule_id */
	const char *unlike; /* the look-alike, and by what it is excluded */
	const char *refute; /* what would show that the verdict is wrong */
};

extern const struct rule rule_table[RULES];

/* Fills at most `room` verdicts, the most fundamental cause first. At least one. */
size_t rule_judge(const struct evidence *e, struct verdict *verdicts, size_t room);

/* ---- thresholds and helpers that several rules share ---- */

#define RULE_MESSAGES_LEAST 200u	/* of a class, for a verdict on its times */
#define RULE_LONG_NS	    1000000.0	/* a long turn */
#define RULE_BAD_NS	    10000000.0	/* a bad one; a bad gap of a loop */
#define RULE_GOAL_NS	    1000000.0	/* what a turn should not hold the others for */

/* The rules, by file: rule_host.c, rule_handler.c, rule_budget.c, rule_flow.c, rule_rest.c. */
bool rule_host(const struct evidence *e, struct verdict *v);
bool rule_observer(const struct evidence *e, struct verdict *v);
bool rule_stuck(const struct evidence *e, struct verdict *v);
bool rule_restarts(const struct evidence *e, struct verdict *v);
bool rule_lock(const struct evidence *e, struct verdict *v);
bool rule_blocking(const struct evidence *e, struct verdict *v);
bool rule_cpu(const struct evidence *e, struct verdict *v);
bool rule_microtask(const struct evidence *e, struct verdict *v);
bool rule_budget_high(const struct evidence *e, struct verdict *v);
bool rule_dispatcher_high(const struct evidence *e, struct verdict *v);
bool rule_lone(const struct evidence *e, struct verdict *v);
bool rule_budget_low(const struct evidence *e, struct verdict *v);
bool rule_timers(const struct evidence *e, struct verdict *v);
bool rule_flood(const struct evidence *e, struct verdict *v);
bool rule_unfair(const struct evidence *e, struct verdict *v);
bool rule_crowded(const struct evidence *e, struct verdict *v);
bool rule_cross_loop(const struct evidence *e, struct verdict *v);
bool rule_unexplained(const struct evidence *e, struct verdict *v);
bool rule_unseen(const struct evidence *e, struct verdict *v);
bool rule_healthy(const struct evidence *e, struct verdict *v);

/* The loop with this number, or NULL. */
const struct evidence_loop *rule_loop(const struct evidence *e, uint32_t loop);

/* Part of a whole, 0 if there is none. */
double rule_share(double part, double whole);

/* Makes a class the verdict's subject. */
void rule_subject(struct verdict *v, const struct evidence_class *c);

/* Share of the loop's time that its turns took. */
double rule_busy(const struct evidence *e, const struct evidence_loop *loop);

#endif
