/* SPDX-License-Identifier: MIT */
/* Rules about single handlers: stuck, failing, blocking, computing. */
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "probe/rule.h"

#define STUCK_NS	  1000000000u
#define STUCK_TIMES	  4 /* longer than what its class usually takes */
#define RESTARTS_LEAST	  3
#define RESTARTS_OF_TURNS 0.01
#define HANDLERS_LEAST	  5
#define BLOCKED_OF_TURN	  0.2
#define BLOCKED_OF_TIME	  0.01
#define BLOCKED_LEAST_NS  300000u
#define WORKING_OF_TIME	  0.02
#define ON_CPU_OF_TURN	  0.7

/* ---- stuck now ---- */

static const struct evidence_class *class_named(
	const struct evidence *e, const char *dispatcher, const char *name)
{
	for (size_t i = 0; dispatcher && name && i < e->class_count; i++)
		if (strcmp(e->classes[i].name, name) == 0 &&
			strcmp(e->classes[i].dispatcher, dispatcher) == 0)
			return &e->classes[i];
	return NULL;
}

static bool is_stuck(const struct evidence *e, const struct evidence_loop *loop)
{
	const struct evidence_class *c = class_named(e, loop->dispatcher, loop->class_name);

	if (!loop->actor || loop->open_ns < STUCK_NS)
		return false;
	return !c || loop->open_ns >= STUCK_TIMES * c->turn.p99_ns;
}

static void stuck_where(const struct evidence_loop *loop, struct verdict *v)
{
	if (loop->state == 'R' && !(loop->in_call && loop->call >= 0))
		snprintf(v->remark, sizeof(v->remark), "thread %u computes, in a handler of %s",
			loop->thread, loop->type ? loop->type : "an unknown message");
	else if (loop->in_call)
		snprintf(v->remark, sizeof(v->remark),
			"thread %u is off the CPU in %s, in a handler of %s", loop->thread,
			evidence_call_name(loop->call),
			loop->type ? loop->type : "an unknown message");
	else
		snprintf(v->remark, sizeof(v->remark),
			"thread %u has state %c; its system call could not be read", loop->thread,
			loop->state ? loop->state : '?');
}

bool rule_stuck(const struct evidence *e, struct verdict *v)
{
	const struct evidence_loop *worst = NULL;

	for (size_t i = 0; i < e->loop_count; i++)
		if (is_stuck(e, &e->loops[i]) && (!worst || e->loops[i].open_ns > worst->open_ns))
			worst = &e->loops[i];
	if (!worst)
		return false;
	v->actor = worst->actor;
	v->class_name = worst->class_name;
	v->dispatcher = worst->dispatcher;
	v->confidence = 0.98;
	verdict_add(v, "open for at least", VERDICT_NS, (double)worst->open_ns);
	stuck_where(worst, v);
	snprintf(v->advice, sizeof(v->advice),
		"look at this handler with a debugger or a profiler now; nothing else runs on loop "
		"%u until it returns",
		worst->loop);
	return true;
}

/* ---- restart loop ---- */

bool rule_restarts(const struct evidence *e, struct verdict *v)
{
	const struct evidence_class *worst = NULL;

	for (size_t i = 0; i < e->class_count; i++) {
		const struct evidence_class *c = &e->classes[i];

		if (c->restarts >= RESTARTS_LEAST &&
			(double)c->restarts >= RESTARTS_OF_TURNS * (double)c->turns &&
			(!worst || c->restarts > worst->restarts))
			worst = c;
	}
	if (!worst)
		return false;
	rule_subject(v, worst);
	v->confidence = worst->restarts >= 10 ? 0.95 : 0.8;
	verdict_add(v, "restarts", VERDICT_COUNT, (double)worst->restarts);
	verdict_add(v, "failed turns", VERDICT_COUNT, (double)worst->failed_turns);
	verdict_add(v, "turns", VERDICT_COUNT, (double)worst->turns);
	snprintf(v->advice, sizeof(v->advice),
		"no scheduling helps: reject the message that fails, and give the strategy of its "
		"parent a back-off and fewer retries");
	v->knob = "strategy.backoff_min_ms";
	v->value = 100;
	return true;
}

/* ---- blocking ---- */

static bool blocks(const struct evidence *e, const struct evidence_class *c)
{
	return e->scheduled && (double)c->blocked_ns >= BLOCKED_OF_TURN * (double)c->turn.sum_ns &&
	       (double)c->blocked_ns >= BLOCKED_OF_TIME * (double)e->elapsed_ns &&
	       c->blocked_max_ns >= BLOCKED_LEAST_NS;
}

static const struct evidence_class *blocker(const struct evidence *e, bool lock)
{
	const struct evidence_class *worst = NULL;

	for (size_t i = 0; i < e->class_count; i++)
		if (blocks(e, &e->classes[i]) && (e->classes[i].call == SYS_futex) == lock &&
			(!worst || e->classes[i].blocked_ns > worst->blocked_ns))
			worst = &e->classes[i];
	return worst;
}

static void blocked_facts(struct verdict *v, const struct evidence_class *c)
{
	rule_subject(v, c);
	verdict_add(v, "blocked in turns", VERDICT_NS, (double)c->blocked_ns);
	verdict_add(v, "of turn time", VERDICT_SHARE,
		rule_share((double)c->blocked_ns, (double)c->turn.sum_ns));
	verdict_add(v, "longest", VERDICT_NS, (double)c->blocked_max_ns);
	verdict_add(v, "handler p99", VERDICT_NS, (double)c->handler.p99_ns);
	if (c->handler.p99_ns >= RULE_BAD_NS)
		v->severity = VERDICT_CRITICAL;
}

bool rule_lock(const struct evidence *e, struct verdict *v)
{
	const struct evidence_class *c = blocker(e, true);

	if (!c)
		return false;
	blocked_facts(v, c);
	v->confidence = 0.85;
	snprintf(v->remark, sizeof(v->remark), "the call is futex");
	snprintf(v->advice, sizeof(v->advice),
		"let one actor own what the lock protects, and tell it; or hold the lock for less "
		"long");
	return true;
}

/* Without the kernel's word on each turn: turns take far more time than the thread was on a CPU. */
static const struct evidence_class *waiter(const struct evidence *e)
{
	for (size_t i = 0; i < e->class_count; i++) {
		const struct evidence_class *c = &e->classes[i];
		const struct evidence_loop *loop = rule_loop(e, c->loop);

		if (c->handler.count >= HANDLERS_LEAST && c->handler.p99_ns >= RULE_LONG_NS &&
			(double)c->turn.sum_ns >= WORKING_OF_TIME * (double)e->elapsed_ns && loop &&
			loop->accounted && (double)c->turn.sum_ns >= 0.5 * (double)loop->turn_ns &&
			(double)loop->cpu_ns + (double)loop->starved_ns <
				0.6 * (double)loop->turn_ns)
			return c;
	}
	return NULL;
}

bool rule_blocking(const struct evidence *e, struct verdict *v)
{
	const struct evidence_class *c = e->scheduled ? blocker(e, false) : waiter(e);

	if (!c)
		return false;
	if (e->scheduled) {
		blocked_facts(v, c);
		snprintf(v->remark, sizeof(v->remark), "the call is %s",
			evidence_call_name(c->call));
		v->confidence = 0.95;
	} else {
		rule_subject(v, c);
		verdict_add(v, "turns took", VERDICT_NS, (double)c->turn.sum_ns);
		verdict_add(v, "thread on cpu", VERDICT_NS, (double)rule_loop(e, c->loop)->cpu_ns);
		verdict_add(v, "handler p99", VERDICT_NS, (double)c->handler.p99_ns);
		snprintf(v->remark, sizeof(v->remark), "which call is not known: %s",
			e->unscheduled ? e->unscheduled : "the kernel was not asked");
		v->confidence = 0.6;
	}
	snprintf(v->advice, sizeof(v->advice),
		"use libuv's asynchronous call or actor_pending_work(); if it must block, give "
		"this "
		"class a loop of its own");
	return true;
}

/* ---- computing ---- */

/* Share of its turns that a class was on a CPU, below 0 if nobody knows. */
static double on_cpu(const struct evidence *e, const struct evidence_class *c)
{
	const struct evidence_loop *loop = rule_loop(e, c->loop);

	if (e->scheduled)
		return 1 - rule_share((double)c->blocked_ns + (double)c->runnable_ns,
				   (double)c->turn.sum_ns);
	if (loop && loop->accounted && loop->turn_ns)
		return rule_share((double)loop->cpu_ns, (double)loop->turn_ns);
	return -1;
}

static bool computes(const struct evidence *e, const struct evidence_class *c)
{
	double share = on_cpu(e, c);

	return c->handler.count >= HANDLERS_LEAST && c->handler.p99_ns >= RULE_LONG_NS &&
	       (double)c->handler.sum_ns >= WORKING_OF_TIME * (double)e->elapsed_ns &&
	       (share < 0 || share >= ON_CPU_OF_TURN);
}

bool rule_cpu(const struct evidence *e, struct verdict *v)
{
	const struct evidence_class *worst = NULL;

	for (size_t i = 0; i < e->class_count; i++)
		if (computes(e, &e->classes[i]) &&
			(!worst || e->classes[i].handler.sum_ns > worst->handler.sum_ns))
			worst = &e->classes[i];
	if (!worst)
		return false;
	rule_subject(v, worst);
	verdict_add(v, "handler p99", VERDICT_NS, (double)worst->handler.p99_ns);
	verdict_add(v, "handler p50", VERDICT_NS, (double)worst->handler.p50_ns);
	verdict_add(v, "of loop time", VERDICT_SHARE,
		rule_share((double)worst->handler.sum_ns, (double)e->elapsed_ns));
	v->confidence = 0.6;
	if (on_cpu(e, worst) >= 0) {
		verdict_add(v, "on cpu", VERDICT_SHARE, on_cpu(e, worst));
		v->confidence = e->scheduled ? 0.95 : 0.8;
	}
	if (worst->handler.p99_ns >= RULE_BAD_NS)
		v->severity = VERDICT_CRITICAL;
	snprintf(v->advice, sizeof(v->advice),
		"split the work into several messages, or do it by actor_work() or on a loop of "
		"its "
		"own; no dispatcher makes a handler faster");
	if (worst->cap > 1) {
		v->knob = "actor.throughput";
		v->value = worst->handler.p99_ns >= 2 * RULE_LONG_NS ? 1 : 2;
	}
	return true;
}
