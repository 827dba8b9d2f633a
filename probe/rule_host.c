/* SPDX-License-Identifier: MIT */
/* Rules about what is outside the program: the host, and who observes it. */
#include <stdio.h>

#include "probe/rule.h"

#define STARVED_OF_WANTED 0.15 /* of the time in which the thread could have run */
#define STARVED_OF_TIME	  0.05
#define STEAL_LEAST	  0.10
#define OVERHEAD_LEAST	  0.10

static double starved_share(const struct evidence_loop *loop)
{
	return rule_share(
		(double)loop->starved_ns, (double)loop->cpu_ns + (double)loop->starved_ns);
}

bool rule_host(const struct evidence *e, struct verdict *v)
{
	const struct evidence_loop *worst = NULL;

	for (size_t i = 0; i < e->loop_count; i++) {
		const struct evidence_loop *loop = &e->loops[i];

		if (loop->accounted && starved_share(loop) >= STARVED_OF_WANTED &&
			(double)loop->starved_ns >= STARVED_OF_TIME * (double)e->elapsed_ns &&
			(!worst || loop->starved_ns > worst->starved_ns))
			worst = loop;
	}
	if (!worst && e->steal < STEAL_LEAST)
		return false;
	if (worst) {
		verdict_add(v, "runnable but not running", VERDICT_NS, (double)worst->starved_ns);
		verdict_add(v, "on cpu", VERDICT_NS, (double)worst->cpu_ns);
		verdict_add(v, "share of wanted time", VERDICT_SHARE, starved_share(worst));
		snprintf(v->remark, sizeof(v->remark), "loop %u, thread %u", worst->loop,
			worst->thread);
		if (starved_share(worst) >= 0.5)
			v->severity = VERDICT_CRITICAL;
	}
	verdict_add(v, "steal", VERDICT_SHARE, e->steal);
	v->confidence = worst && starved_share(worst) >= 0.3 ? 0.95 : 0.8;
	snprintf(v->advice, sizeof(v->advice),
		"no setting of actors helps: give the loops' threads CPUs of their own (cpuset), "
		"more weight or quota, or run fewer busy threads");
	return true;
}

bool rule_observer(const struct evidence *e, struct verdict *v)
{
	if (e->overhead < OVERHEAD_LEAST)
		return false;
	verdict_add(v, "cost of observing", VERDICT_SHARE, e->overhead);
	v->confidence = 0.7;
	snprintf(v->advice, sizeof(v->advice),
		"observe in mode ledger, for less long, or with hist --sample");
	return true;
}
