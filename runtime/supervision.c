/* SPDX-License-Identifier: MIT */
/* Strategies, deciders and the length of a back-off. */
#include "supervision.h"

#include <stddef.h>
#include <string.h>

#define MS_MOST	       1000000000 /* of waits and windows: eleven days */
#define JITTER_PERCENT 20
#define BACKOFF_FACTOR 60 /* longest wait, in shortest ones */
#define REST_FACTOR    10 /* without a window: restarts are in a row within so many longest waits */

static bool within(int64_t value, int64_t least)
{
	return value >= least && value <= MS_MOST;
}

int actor__strategy_check(const struct actor_strategy *s)
{
	if (s->size < sizeof(*s) || (unsigned int)s->scope > ACTOR_ALL_FOR_ONE ||
		(unsigned int)s->directive > ACTOR_DIRECTIVE_ESCALATE)
		return ACTOR_EOPTIONS;
	if (!within(s->max_retries, -1) || !within(s->window_ms, -1) ||
		!within(s->backoff_min_ms, 0) || !within(s->backoff_max_ms, 0))
		return ACTOR_EOPTIONS;
	if (s->backoff_max_ms && s->backoff_max_ms < s->backoff_min_ms)
		return ACTOR_EOPTIONS;
	return s->jitter_percent < -1 || s->jitter_percent > 100 ? ACTOR_EOPTIONS : 0;
}

static void backoff_init(struct actor__plan *plan, const struct actor_strategy *s)
{
	int64_t max = s->backoff_max_ms ? s->backoff_max_ms : s->backoff_min_ms * BACKOFF_FACTOR;

	plan->backoff_min_ms = (uint32_t)s->backoff_min_ms;
	plan->backoff_max_ms = (uint32_t)(max > MS_MOST ? MS_MOST : max);
	plan->jitter_percent = s->jitter_percent < 0   ? 0
			       : s->jitter_percent > 0 ? (uint32_t)s->jitter_percent
						       : JITTER_PERCENT;
}

void actor__plan_init(struct actor__plan *plan, const struct actor_strategy *s)
{
	static const struct actor_strategy standard = {.size = sizeof(standard)};

	if (!s)
		s = &standard;
	memset(plan, 0, sizeof(*plan));
	plan->decide = s->decide;
	plan->data = s->data;
	plan->directive = s->directive ? s->directive : ACTOR_DIRECTIVE_RESTART;
	plan->all = s->scope == ACTOR_ALL_FOR_ONE;
	plan->most = s->max_retries < 0	  ? ACTOR__ANY
		     : s->max_retries > 0 ? (uint32_t)s->max_retries
					  : ACTOR_MAX_RETRIES;
	plan->window_ms = s->window_ms < 0   ? ACTOR__FOR_EVER
			  : s->window_ms > 0 ? (uint64_t)s->window_ms
					     : ACTOR_RETRY_WINDOW_MS;
	backoff_init(plan, s);
}

const struct actor_strategy *actor__strategy_of(
	const struct actor_strategy *own, const struct actor_class *parent)
{
	if (own)
		return own;
	/* A class of an older program ends before it. */
	if (parent && parent->size >= offsetof(struct actor_class, strategy) + sizeof(void *))
		return parent->strategy;
	return NULL;
}

static enum actor_directive answer(
	const struct actor__plan *plan, const struct actor__fault *fault, uint32_t restarts)
{
	struct actor_failure failure = {.size = sizeof(failure),
		.code = fault->code,
		.text = fault->text,
		.actor = fault->actor,
		.cls = fault->cls,
		.restarts = restarts};
	int rc = plan->decide ? plan->decide(plan->data, &failure) : (int)plan->directive;

	/* A decider that fails, too, is no supervisor. */
	if (rc < ACTOR_DIRECTIVE_STOP || rc > ACTOR_DIRECTIVE_ESCALATE)
		return ACTOR_DIRECTIVE_ESCALATE;
	/* What never started has nothing to go on with. */
	if (rc == ACTOR_DIRECTIVE_RESUME && fault->starting)
		return ACTOR_DIRECTIVE_RESTART;
	return (enum actor_directive)rc;
}

static uint32_t backoff(const struct actor__plan *plan, uint32_t streak, uint64_t random)
{
	uint64_t wait = plan->backoff_min_ms;

	while (streak-- && wait < plan->backoff_max_ms)
		wait *= 2;
	if (wait > plan->backoff_max_ms)
		wait = plan->backoff_max_ms;
	/* Actors that failed for one reason do not come back in one moment. */
	return (uint32_t)(wait + wait * plan->jitter_percent * (random >> 40) / 100 / (1u << 24));
}

static uint64_t streak_gap(const struct actor__plan *plan)
{
	if (plan->window_ms != ACTOR__FOR_EVER)
		return plan->window_ms;
	return (uint64_t)plan->backoff_max_ms * REST_FACTOR;
}

static void restart_grant(struct actor__verdict *v, const struct actor__plan *plan,
	struct actor__budget *budget, uint64_t now_ms, uint64_t random)
{
	if (budget && !actor__budget_take(budget, plan->most, plan->window_ms, now_ms)) {
		v->directive = ACTOR_DIRECTIVE_STOP;
		v->spent = true;
		return;
	}
	if (!plan->backoff_min_ms)
		return;
	v->delay_ms = backoff(
		plan, budget ? actor__budget_streak(budget, streak_gap(plan), now_ms) : 0, random);
	if (budget)
		budget->last_ms = now_ms + v->delay_ms;
}

void actor__supervision_decide(struct actor__verdict *v, const struct actor__fault *fault,
	const struct actor__plan *plan, struct actor__budget *budget, uint64_t now_ms,
	uint64_t random)
{
	uint32_t restarts = budget ? actor__budget_count(budget, plan->window_ms, now_ms) : 0;

	memset(v, 0, sizeof(*v));
	v->directive = answer(plan, fault, restarts);
	v->most = plan->most;
	v->window_ms = plan->window_ms;
	if (v->directive == ACTOR_DIRECTIVE_RESTART)
		restart_grant(v, plan, budget, now_ms, random);
	v->all = plan->all &&
		 (v->directive == ACTOR_DIRECTIVE_RESTART || v->directive == ACTOR_DIRECTIVE_STOP);
}
