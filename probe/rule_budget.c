/* SPDX-License-Identifier: MIT */
/* Rules about budgets: of an actor's turn, of a dispatcher's pass, and dispatchers that have none.
 */
#include <stdio.h>
#include <string.h>

#include "probe/rule.h"
#include "runtime/abi.h"

#define DELAY_BAD_NS	5000000u
#define MONOPOLY_NS	20000000u /* a loop that does not poll for so long */
#define PASS_GOAL_NS	5000000.0
#define BUDGET_OF_TURNS 0.2
#define PART_OF_DELAY	0.25 /* a turn that is so much of the delay made it */
#define LOW_CAP		64u
#define LOW_VALUE_MOST	256u
#define EFFICIENCY_LOW	0.5

static uint64_t clamp(double value, uint64_t least, uint64_t most)
{
	return value < (double)least ? least : value > (double)most ? most : (uint64_t)value;
}

static double mean_ns(const struct evidence_times *t)
{
	return t->count ? (double)t->sum_ns / (double)t->count : 0;
}

/* The gap of a loop that counts: with few passes the quantile is none. */
static double gap_ns(const struct evidence_loop *loop)
{
	return loop->gap.count >= 100 ? (double)loop->gap.p99_ns : (double)loop->longest_gap_ns;
}

/* The loop that a dispatcher's busiest class runs on; that class in `*first`. */
static const struct evidence_loop *loop_of(
	const struct evidence *e, size_t dispatcher, const struct evidence_class **first)
{
	*first = NULL;
	for (size_t i = 0; i < e->class_count; i++)
		if (e->classes[i].dispatcher_at == dispatcher &&
			(!*first || e->classes[i].turn.sum_ns > (*first)->turn.sum_ns))
			*first = &e->classes[i];
	return *first ? rule_loop(e, (*first)->loop) : NULL;
}

/* ---- microtask ---- */

bool rule_microtask(const struct evidence *e, struct verdict *v)
{
	for (size_t i = 0; i < e->dispatcher_count; i++) {
		const struct evidence_dispatcher *d = &e->dispatchers[i];
		const struct evidence_class *c;
		const struct evidence_loop *loop = loop_of(e, i, &c);

		if (d->kind != ACTOR_ABI_MICROTASK || !loop || d->turns < RULE_MESSAGES_LEAST ||
			loop->longest_gap_ns < MONOPOLY_NS ||
			(double)d->turn_ns < 0.5 * (double)loop->turn_ns)
			continue;
		rule_subject(v, c);
		verdict_add(
			v, "longest time without poll", VERDICT_NS, (double)loop->longest_gap_ns);
		verdict_add(v, "dispatcher delay p99", VERDICT_NS, (double)d->delay.p99_ns);
		verdict_add(v, "turns", VERDICT_COUNT, (double)d->turns);
		verdict_add(v, "yields", VERDICT_COUNT, (double)d->idle_yields);
		v->confidence = 0.95;
		v->knob = "dispatcher.default = hybrid; dispatcher.hybrid_budget";
		v->value = 64;
		snprintf(v->remark, sizeof(v->remark),
			"the low delay of a microtask dispatcher is no headroom: timers and I/O of "
			"loop %u wait",
			loop->loop);
		snprintf(v->advice, sizeof(v->advice),
			"run this class on the hybrid dispatcher, which gives the loop back after "
			"64 turns");
		return true;
	}
	return false;
}

/* ---- an actor's budget ---- */

/* Does somebody else wait about as long as a turn of this class takes? */
static bool others_wait(const struct evidence *e, const struct evidence_class *c)
{
	for (size_t i = 0; i < e->class_count; i++)
		if (&e->classes[i] != c && e->classes[i].loop == c->loop &&
			e->classes[i].turns >= 20 &&
			(double)e->classes[i].delay.p99_ns >=
				PART_OF_DELAY * (double)c->turn.p99_ns)
			return true;
	return false;
}

static bool takes_much(const struct evidence *e, const struct evidence_class *c)
{
	const struct evidence_dispatcher *d = &e->dispatchers[c->dispatcher_at];

	return c->cap >= 2 && c->turns >= 3 && c->handler.count >= 20 &&
	       c->handler.p99_ns < RULE_LONG_NS && (double)c->turn.p99_ns >= RULE_LONG_NS &&
	       (double)c->budget_turns >= BUDGET_OF_TURNS * (double)c->turns &&
	       (double)c->turn.p99_ns >= PART_OF_DELAY * (double)d->delay.p99_ns &&
	       ((double)c->turn.p99_ns >= RULE_BAD_NS || others_wait(e, c));
}

bool rule_budget_high(const struct evidence *e, struct verdict *v)
{
	const struct evidence_class *worst = NULL;

	for (size_t i = 0; i < e->class_count; i++)
		if (takes_much(e, &e->classes[i]) &&
			(!worst || e->classes[i].turn.p99_ns > worst->turn.p99_ns))
			worst = &e->classes[i];
	if (!worst)
		return false;
	rule_subject(v, worst);
	verdict_add(v, "turn p99", VERDICT_NS, (double)worst->turn.p99_ns);
	verdict_add(v, "handler p99", VERDICT_NS, (double)worst->handler.p99_ns);
	verdict_add(v, "messages per full turn", VERDICT_COUNT, worst->cap);
	verdict_add(v, "full turns", VERDICT_SHARE,
		rule_share((double)worst->budget_turns, (double)worst->turns));
	verdict_add(v, "dispatcher delay p99", VERDICT_NS,
		(double)e->dispatchers[worst->dispatcher_at].delay.p99_ns);
	v->confidence = others_wait(e, worst) ? 0.9 : 0.75;
	v->knob = "actor.throughput";
	v->value = clamp(RULE_GOAL_NS / (double)(worst->handler.p99_ns + 1), 1, worst->cap - 1);
	snprintf(v->advice, sizeof(v->advice),
		"lower the throughput of this class: 1 ms / handler p99 is the number of messages "
		"that keeps a turn below 1 ms");
	return true;
}

/* Most of the time goes by waiting for turns that are over at once. */
static bool takes_little(const struct evidence *e, const struct evidence_class *c)
{
	double turn = mean_ns(&c->turn), delay = mean_ns(&c->delay);

	return c->cap && c->cap <= LOW_CAP && c->handler.count >= 20 &&
	       c->turns >= RULE_MESSAGES_LEAST &&
	       (double)c->budget_turns >= 0.5 * (double)c->turns &&
	       (double)c->wait.p99_ns >= RULE_LONG_NS && c->delay.p99_ns < DELAY_BAD_NS &&
	       (double)c->wait.p99_ns >= 4 * (double)c->delay.p99_ns &&
	       c->cap * mean_ns(&c->handler) < RULE_GOAL_NS / 4 &&
	       turn < EFFICIENCY_LOW * (turn + delay) && e->dispatchers[c->dispatcher_at].turns > 0;
}

bool rule_budget_low(const struct evidence *e, struct verdict *v)
{
	const struct evidence_class *worst = NULL;
	double handler;

	for (size_t i = 0; i < e->class_count; i++)
		if (takes_little(e, &e->classes[i]) &&
			(!worst || e->classes[i].wait.sum_ns > worst->wait.sum_ns))
			worst = &e->classes[i];
	if (!worst)
		return false;
	handler = mean_ns(&worst->handler) + 1;
	rule_subject(v, worst);
	verdict_add(v, "wait p99", VERDICT_NS, (double)worst->wait.p99_ns);
	verdict_add(v, "delay p99", VERDICT_NS, (double)worst->delay.p99_ns);
	verdict_add(v, "handler mean", VERDICT_NS, handler);
	verdict_add(v, "messages per full turn", VERDICT_COUNT, worst->cap);
	verdict_add(v, "full turns", VERDICT_SHARE,
		rule_share((double)worst->budget_turns, (double)worst->turns));
	v->confidence = 0.85;
	v->knob = "actor.throughput";
	v->value = clamp(4 * mean_ns(&worst->delay) / handler, 64, LOW_VALUE_MOST);
	if ((double)v->value * handler > RULE_GOAL_NS)
		v->value = clamp(RULE_GOAL_NS / handler, 2ul * worst->cap, LOW_VALUE_MOST);
	snprintf(v->advice, sizeof(v->advice),
		"raise the throughput of this class, so that a turn is worth the wait for it");
	return true;
}

/* ---- a dispatcher's budget ---- */

static bool above_default(const struct evidence_dispatcher *d)
{
	return (d->kind == ACTOR_ABI_HYBRID && d->budget > 64) ||
	       (d->kind == ACTOR_ABI_THROUGHPUT && d->budget > 16);
}

bool rule_dispatcher_high(const struct evidence *e, struct verdict *v)
{
	for (size_t i = 0; i < e->dispatcher_count; i++) {
		const struct evidence_dispatcher *d = &e->dispatchers[i];
		const struct evidence_class *c;
		const struct evidence_loop *loop = loop_of(e, i, &c);
		double mean = d->turns ? (double)d->turn_ns / (double)d->turns : 0;

		if (!loop || !above_default(d) || d->turns < RULE_MESSAGES_LEAST ||
			gap_ns(loop) < RULE_BAD_NS || (double)c->turn.p99_ns > gap_ns(loop) / 4 ||
			(double)d->turn_ns < 0.5 * (double)loop->turn_ns)
			continue;
		rule_subject(v, c);
		v->class_name = NULL;
		v->actor = NULL;
		verdict_add(v, "time between polls", VERDICT_NS, gap_ns(loop));
		verdict_add(v, "turn mean", VERDICT_NS, mean);
		verdict_add(v, "budget", VERDICT_COUNT, d->budget);
		verdict_add(v, "turns per yield", VERDICT_COUNT,
			rule_share((double)d->units, (double)(d->idle_yields + d->budget_yields)));
		v->confidence = 0.85;
		v->knob = d->kind == ACTOR_ABI_HYBRID ? "dispatcher.hybrid_budget"
						      : "dispatcher.throughput";
		v->value = clamp(PASS_GOAL_NS / (mean + 1), 1, d->budget - 1);
		snprintf(v->advice, sizeof(v->advice),
			"lower the dispatcher's budget: 5 ms / mean turn lets timers and I/O of "
			"loop %u in every 5 ms",
			loop->loop);
		return true;
	}
	return false;
}

bool rule_lone(const struct evidence *e, struct verdict *v)
{
	for (size_t i = 0; i < e->class_count; i++) {
		const struct evidence_class *c = &e->classes[i];
		const struct evidence_dispatcher *d = &e->dispatchers[c->dispatcher_at];
		double yields = (double)(d->idle_yields + d->budget_yields);

		if (d->kind != ACTOR_ABI_THROUGHPUT || d->budget < 2 || d->turns < 1000 ||
			c->actor_turns_share < 0.99 || yields * 1.05 < (double)d->units ||
			(double)c->budget_turns < 0.5 * (double)c->turns)
			continue;
		rule_subject(v, c);
		v->actor = c->actor;
		verdict_add(v, "of all turns", VERDICT_SHARE, c->actor_turns_share);
		verdict_add(
			v, "turns per yield", VERDICT_COUNT, rule_share((double)d->units, yields));
		verdict_add(v, "full turns", VERDICT_SHARE,
			rule_share((double)c->budget_turns, (double)c->turns));
		verdict_add(v, "wait p99", VERDICT_NS, (double)c->wait.p99_ns);
		v->confidence = 0.9;
		v->knob = "actor.throughput";
		v->value = clamp(RULE_GOAL_NS / (mean_ns(&c->handler) + 1), 16, LOW_VALUE_MOST);
		snprintf(v->advice, sizeof(v->advice),
			"use the default dispatcher here and this throughput for the actor: one "
			"actor alone gets one turn per pass, whatever the dispatcher's budget");
		return true;
	}
	return false;
}

/* ---- too many ---- */

static bool is_crowded(const struct evidence *e, size_t i)
{
	const struct evidence_dispatcher *d = &e->dispatchers[i];
	const struct evidence_class *first;
	const struct evidence_loop *loop = loop_of(e, i, &first);

	if (!loop || d->actors < 8 || d->delay.p99_ns < DELAY_BAD_NS || rule_busy(e, loop) < 0.6)
		return false;
	for (size_t k = 0; k < e->class_count; k++)
		if (e->classes[k].dispatcher_at == i &&
			(double)e->classes[k].turn.p99_ns > PART_OF_DELAY * (double)d->delay.p99_ns)
			return false;
	return true;
}

bool rule_crowded(const struct evidence *e, struct verdict *v)
{
	for (size_t i = 0; i < e->dispatcher_count; i++) {
		const struct evidence_dispatcher *d = &e->dispatchers[i];
		const struct evidence_class *first;
		const struct evidence_loop *loop = loop_of(e, i, &first);

		if (!is_crowded(e, i))
			continue;
		rule_subject(v, first);
		v->actor = NULL;
		verdict_add(v, "dispatcher delay p99", VERDICT_NS, (double)d->delay.p99_ns);
		verdict_add(v, "turn p99", VERDICT_NS, (double)first->turn.p99_ns);
		verdict_add(v, "actors", VERDICT_COUNT, (double)d->actors);
		verdict_add(v, "loop busy", VERDICT_SHARE, rule_busy(e, loop));
		verdict_add(v, "of turn time", VERDICT_SHARE,
			rule_share((double)first->turn.sum_ns, (double)d->turn_ns));
		v->confidence = 0.85;
		v->knob = "system.loops";
		v->value = e->loop_count + 1;
		snprintf(v->advice, sizeof(v->advice),
			"spread the actors over more loops; class %.60s has most of the turn time",
			first->name);
		return true;
	}
	return false;
}
