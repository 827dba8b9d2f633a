/* SPDX-License-Identifier: MIT */
/* The table of rules, their order, and what explains what. */
#include "probe/rule.h"

#include <string.h>

#define BIT(id)	  (1u << (id))
#define ALL	  (BIT(RULES) - 1)
#define LATER(id) (ALL & ~(BIT(id) | (BIT(id) - 1)))
#define QUEUES	  LATER(RULE_CPU)
#define NO_CAUSE  (BIT(RULE_UNEXPLAINED) | BIT(RULE_UNSEEN) | BIT(RULE_HEALTHY))

const struct rule rule_table[RULES] = {
	{RULE_HOST, "host_contention", "the host does not let the loop run", VERDICT_WARNING,
		rule_host, LATER(RULE_HOST) & ~(BIT(RULE_STUCK) | BIT(RULE_RESTARTS)),
		"a loop that is busy itself: its thread is on the CPU then, not waiting for one",
		"the same waits remain on an idle host, or with the loop on a CPU of its own"},
	{RULE_OBSERVER, "observer_overhead", "observing costs much", VERDICT_WARNING, rule_observer,
		NO_CAUSE, "a slow program: the cost is counted by hits of the probes",
		"the program is as slow when nobody observes it"},
	{RULE_STUCK, "stuck_now", "a handler does not return", VERDICT_CRITICAL, rule_stuck,
		LATER(RULE_STUCK) & ~BIT(RULE_RESTARTS), "an idle loop: it has no open turn",
		"the turn ends by itself a moment later"},
	{RULE_RESTARTS, "restart_loop", "actors fail and restart again and again", VERDICT_CRITICAL,
		rule_restarts, NO_CAUSE | QUEUES,
		"single failures: fewer than three, or rare among its turns",
		"the failing message is gone and restarts stop"},
	{RULE_LOCK, "lock_contention", "handlers wait for a lock", VERDICT_WARNING, rule_lock,
		LATER(RULE_LOCK), "other blocking calls: the call is futex",
		"without the lock the turns are as long"},
	{RULE_BLOCKING, "blocking_call", "a handler blocks in a system call", VERDICT_WARNING,
		rule_blocking, LATER(RULE_BLOCKING),
		"a handler that computes: it is on the CPU for most of its turns",
		"the handler is as long when the call returns at once"},
	{RULE_CPU, "cpu_heavy_handler", "a handler computes for long", VERDICT_WARNING, rule_cpu,
		QUEUES, "a budget too high: single handlers are long, not their number",
		"a profile of the handler shows little CPU"},
	{RULE_MICROTASK, "microtask_monopoly", "a microtask dispatcher keeps the loop",
		VERDICT_CRITICAL, rule_microtask, LATER(RULE_MICROTASK),
		"real idleness: the loop runs turns and does not poll",
		"timers and I/O of this loop are in time"},
	{RULE_BUDGET_HIGH, "actor_budget_high", "an actor takes too much per turn", VERDICT_WARNING,
		rule_budget_high, LATER(RULE_BUDGET_HIGH),
		"a heavy handler: single handlers are short",
		"with the lower throughput the others wait as long"},
	{RULE_DISPATCHER_HIGH, "dispatcher_budget_high", "a dispatcher takes too much per pass",
		VERDICT_WARNING, rule_dispatcher_high, LATER(RULE_DISPATCHER_HIGH),
		"long turns: each turn is short, many of them fill the gap",
		"with the lower budget timers and I/O are as late"},
	{RULE_TIMERS, "timer_storm", "many timers fire at the same moment", VERDICT_WARNING,
		rule_timers, LATER(RULE_TIMERS),
		"a flood by an actor: this mail has no sender and is told on the loop itself",
		"with times spread out turns start as late"},
	{RULE_LONE, "lone_actor_on_throughput", "a throughput dispatcher has one actor",
		VERDICT_WARNING, rule_lone, LATER(RULE_LONE),
		"many actors: nearly all turns are of one", "another dispatcher is no faster"},
	{RULE_BUDGET_LOW, "actor_budget_low", "an actor takes too little per turn", VERDICT_WARNING,
		rule_budget_low, LATER(RULE_BUDGET_LOW),
		"a slow handler: handlers are short, waiting for turns is most of the time",
		"with the higher throughput the queue drains no faster"},
	{RULE_FLOOD, "mailbox_flood", "a mailbox gets more than its actor handles",
		VERDICT_CRITICAL, rule_flood, LATER(RULE_FLOOD), "a burst: the wait keeps growing",
		"the mailbox shrinks by itself"},
	{RULE_UNFAIR, "unfair_sender", "one sender fills a mailbox that others share",
		VERDICT_WARNING, rule_unfair, LATER(RULE_UNFAIR),
		"many equal senders: one of them has most of the messages",
		"without that sender the others wait as long"},
	{RULE_CROWDED, "crowded_dispatcher", "too many actors share a dispatcher", VERDICT_WARNING,
		rule_crowded, LATER(RULE_CROWDED),
		"one long turn: every turn is short against the delay",
		"with half of the actors elsewhere turns start as late"},
	{RULE_CROSS_LOOP, "cross_loop_wakeup", "messages wait for another loop to wake up",
		VERDICT_NOTE, rule_cross_loop, LATER(RULE_CROSS_LOOP),
		"load: the loop is mostly idle and its turns start at once",
		"on one loop the pair is as slow"},
	{RULE_UNEXPLAINED, "unexplained", "messages wait, and no rule says why", VERDICT_WARNING,
		rule_unexplained, LATER(RULE_UNEXPLAINED),
		"a known cause: none of the rules applies", "a longer observation finds a cause"},
	{RULE_UNSEEN, "too_little_seen", "too little was seen for a verdict", VERDICT_FINE,
		rule_unseen, LATER(RULE_UNSEEN), "health: that needs messages",
		"more messages come"},
	{RULE_HEALTHY, "healthy", "nothing waits for long", VERDICT_FINE, rule_healthy, 0,
		"a microtask dispatcher's low delay, which is no headroom",
		"users wait, and not for this process"},
};

size_t rule_judge(const struct evidence *e, struct verdict *verdicts, size_t room)
{
	uint32_t explained = 0;
	size_t count = 0;

	for (size_t i = 0; i < RULES && count < room; i++) {
		struct verdict v = {.rule = &rule_table[i], .severity = rule_table[i].severity};

		if (explained & BIT(i) || !rule_table[i].judge(e, &v))
			continue;
		verdicts[count++] = v;
		explained |= rule_table[i].explains | NO_CAUSE;
	}
	return count;
}

const struct evidence_loop *rule_loop(const struct evidence *e, uint32_t loop)
{
	for (size_t i = 0; i < e->loop_count; i++)
		if (e->loops[i].loop == loop)
			return &e->loops[i];
	return NULL;
}

double rule_share(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

void rule_subject(struct verdict *v, const struct evidence_class *c)
{
	v->dispatcher = c->dispatcher;
	v->class_name = c->name;
	v->actor = c->actors == 1 ? c->actor : NULL;
}

double rule_busy(const struct evidence *e, const struct evidence_loop *loop)
{
	return loop ? rule_share((double)loop->turn_ns, (double)e->elapsed_ns) : 0;
}
