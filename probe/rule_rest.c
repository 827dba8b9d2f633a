/* SPDX-License-Identifier: MIT */
/* What is left when no cause is found: waits without one, too little to tell, health. */
#include <stdio.h>

#include "probe/rule.h"
#include "runtime/abi.h"

#define SEEN_LEAST 100u
#define HIGH_NS	   10000000u /* a wait or delay that users feel */

/* The table of decisions: wait, handler and delay, each high or low. */
static const char *const decisions[2][2][2] = {
	{{"all is low: the mail that waits is rare",
		 "delay high: turns compete; something on this dispatcher does not give it back, "
		 "or "
		 "too many actors share it: split the dispatcher or lower its budget"},
		{"handler high: the handler itself is the cost; no setting of a dispatcher makes "
		 "it "
		 "faster, and a higher throughput makes it worse for all others",
			"handler and delay high: the slow handlers hold the others back; give them "
			"a "
			"loop of their own"}},
	{{"wait high, delay low: turns start in time and one actor's own queue is the backlog: "
	  "raise that actor's throughput, not the dispatcher's budget",
		 "wait and delay high, handler low: messages wait for turns that wait for other "
		 "turns: split the dispatcher or lower its budget"},
		{"wait and handler high, delay low: the handler is slower than its mail comes",
			"all are high: begin with the handler, nothing else helps before"}},
};

static const struct evidence_class *longest_wait(const struct evidence *e)
{
	const struct evidence_class *worst = NULL;

	for (size_t i = 0; i < e->class_count; i++) {
		const struct evidence_class *c = &e->classes[i];

		if (c->wait.count >= RULE_MESSAGES_LEAST &&
			(!worst || c->wait.p99_ns > worst->wait.p99_ns))
			worst = c;
	}
	return worst;
}

bool rule_unexplained(const struct evidence *e, struct verdict *v)
{
	const struct evidence_class *c = longest_wait(e);
	bool wait, handler, delay;

	if (!c || (c->wait.p99_ns < HIGH_NS && c->delay.p99_ns < HIGH_NS))
		return false;
	wait = c->wait.p99_ns >= HIGH_NS;
	handler = c->handler.p99_ns >= RULE_LONG_NS;
	delay = c->delay.p99_ns >= HIGH_NS / 2;
	rule_subject(v, c);
	verdict_add(v, "wait p99", VERDICT_NS, (double)c->wait.p99_ns);
	verdict_add(v, "handler p99", VERDICT_NS, (double)c->handler.p99_ns);
	verdict_add(v, "delay p99", VERDICT_NS, (double)c->delay.p99_ns);
	v->confidence = 0.5;
	snprintf(v->advice, sizeof(v->advice), "%s", decisions[wait][handler][delay]);
	return true;
}

bool rule_unseen(const struct evidence *e, struct verdict *v)
{
	uint64_t seen = 0;

	for (size_t i = 0; i < e->class_count; i++)
		seen += e->classes[i].wait.count;
	if (seen >= SEEN_LEAST)
		return false;
	verdict_add(v, "messages timed", VERDICT_COUNT, (double)seen);
	v->confidence = 0.9;
	snprintf(v->advice, sizeof(v->advice),
		"observe for longer, or while the program has something to do");
	return true;
}

bool rule_healthy(const struct evidence *e, struct verdict *v)
{
	double busiest = 0;
	uint64_t delay = 0;
	const struct evidence_class *c = longest_wait(e);

	for (size_t i = 0; i < e->loop_count; i++)
		if (rule_busy(e, &e->loops[i]) > busiest)
			busiest = rule_busy(e, &e->loops[i]);
	for (size_t i = 0; i < e->dispatcher_count; i++) {
		if (e->dispatchers[i].delay.p99_ns > delay)
			delay = e->dispatchers[i].delay.p99_ns;
		if (e->dispatchers[i].kind == ACTOR_ABI_MICROTASK)
			snprintf(v->remark, sizeof(v->remark),
				"the low delay of a microtask dispatcher is no headroom");
	}
	verdict_add(v, "busiest loop", VERDICT_SHARE, busiest);
	if (busiest > 0)
		verdict_add(v, "headroom", VERDICT_COUNT, 1 / busiest);
	verdict_add(v, "longest wait p99", VERDICT_NS, c ? (double)c->wait.p99_ns : 0);
	verdict_add(v, "longest delay p99", VERDICT_NS, (double)delay);
	v->confidence = e->unseen ? 0.7 : 0.9;
	snprintf(v->advice, sizeof(v->advice), "change nothing");
	return true;
}
