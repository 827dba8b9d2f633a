/* SPDX-License-Identifier: MIT */
/* Rules about who sends how much to whom, and from where. */
#include <stdio.h>
#include <string.h>

#include "probe/rule.h"

#define GROWTH_LEAST   0.05
#define FLOOD_DEPTH    1000u
#define FLOOD_WAIT_NS  20000000u
#define UNFAIR_SHARE   0.6
#define UNFAIR_WAIT_NS 5000000u
#define STORM_ACTORS   50u
#define STORM_DELAY_NS 2000000u
#define WAKE_WAIT_NS   5000u

static double per_second(double count, uint64_t ns)
{
	return ns ? count * 1e9 / (double)ns : 0;
}

/* ---- timers ---- */

static bool is_storm(const struct evidence *e, const struct evidence_class *c)
{
	return c->messages >= RULE_MESSAGES_LEAST && c->actors >= STORM_ACTORS &&
	       (double)c->unsent >= 0.9 * (double)c->messages &&
	       c->delay.p99_ns >= STORM_DELAY_NS &&
	       (double)c->delay.p99_ns >= 8 * (double)c->turn.p99_ns &&
	       rule_busy(e, rule_loop(e, c->loop)) < 0.7;
}

bool rule_timers(const struct evidence *e, struct verdict *v)
{
	for (size_t i = 0; i < e->class_count; i++) {
		const struct evidence_class *c = &e->classes[i];

		if (!is_storm(e, c))
			continue;
		rule_subject(v, c);
		verdict_add(v, "delay p99", VERDICT_NS, (double)c->delay.p99_ns);
		verdict_add(v, "turn p99", VERDICT_NS, (double)c->turn.p99_ns);
		verdict_add(v, "without sender", VERDICT_SHARE,
			rule_share((double)c->unsent, (double)c->messages));
		verdict_add(v, "actors", VERDICT_COUNT, (double)c->actors);
		verdict_add(v, "loop busy", VERDICT_SHARE, rule_busy(e, rule_loop(e, c->loop)));
		v->confidence = 0.75;
		snprintf(v->advice, sizeof(v->advice),
			"give the timers different first times, spread over their interval");
		return true;
	}
	return false;
}

/* ---- floods ---- */

static bool is_flooded(const struct evidence_class *c)
{
	return c->actor_messages >= RULE_MESSAGES_LEAST && c->wait_growth >= GROWTH_LEAST &&
	       c->depth >= FLOOD_DEPTH && c->wait.p99_ns >= FLOOD_WAIT_NS;
}

static void sender_say(struct verdict *v, const struct evidence_class *c)
{
	if (c->sender.actor)
		snprintf(v->remark, sizeof(v->remark),
			"%.0f %% of its messages come from %.120s (%.60s)", 100 * c->sender.share,
			c->sender.actor, c->sender.class_name ? c->sender.class_name : "?");
	else
		snprintf(v->remark, sizeof(v->remark),
			"no single sender that is known has most of its messages");
}

/* By the root alone: a mailbox that was deep when the observation began hides the stamps of all
 * that came later. */
static bool deep_flood(const struct evidence *e, struct verdict *v)
{
	const struct evidence_deep *worst = NULL;

	for (size_t i = 0; i < e->deep_count; i++)
		if (e->deep[i].before && e->deep[i].messages > e->deep[i].before * 1.05 &&
			(!worst || e->deep[i].messages > worst->messages))
			worst = &e->deep[i];
	if (!worst)
		return false;
	v->actor = worst->actor;
	v->class_name = worst->class_name;
	v->dispatcher = worst->dispatcher;
	v->confidence = 0.9;
	verdict_add(v, "depth", VERDICT_COUNT, (double)worst->messages);
	verdict_add(v, "depth at first", VERDICT_COUNT, (double)worst->before);
	verdict_add(v, "growth", VERDICT_RATE,
		per_second((double)(worst->messages - worst->before), e->elapsed_ns));
	snprintf(v->advice, sizeof(v->advice),
		"bound this mailbox, let the sender wait for answers, or share the work among "
		"several actors");
	for (size_t i = 0; i < e->class_count; i++)
		if (e->classes[i].actor && strcmp(e->classes[i].actor, worst->actor) == 0) {
			double service =
				per_second((double)e->classes[i].actor_messages, e->elapsed_ns);

			verdict_add(v, "handled", VERDICT_RATE, service);
			verdict_add(v, "share of the first sender", VERDICT_SHARE,
				e->classes[i].sender.share);
			sender_say(v, &e->classes[i]);
			v->knob = "mailbox.capacity";
			v->value = (uint64_t)(service / 10) + 1;
		}
	return true;
}

bool rule_flood(const struct evidence *e, struct verdict *v)
{
	const struct evidence_class *worst = NULL;
	double service, arrival;

	for (size_t i = 0; i < e->class_count; i++)
		if (is_flooded(&e->classes[i]) &&
			(!worst || e->classes[i].wait.sum_ns > worst->wait.sum_ns))
			worst = &e->classes[i];
	if (!worst)
		return deep_flood(e, v);
	service = per_second((double)worst->actor_messages, e->elapsed_ns);
	arrival = service / (worst->wait_growth < 0.99 ? 1 - worst->wait_growth : 0.01);
	rule_subject(v, worst);
	v->actor = worst->actor;
	verdict_add(v, "arrivals", VERDICT_RATE, arrival);
	verdict_add(v, "handled", VERDICT_RATE, service);
	verdict_add(v, "depth", VERDICT_COUNT, (double)worst->depth);
	verdict_add(v, "wait p99", VERDICT_NS, (double)worst->wait.p99_ns);
	verdict_add(v, "share of the first sender", VERDICT_SHARE, worst->sender.share);
	if (worst->depth < 10000 && arrival > service)
		verdict_add(v, "until 10 000", VERDICT_NS,
			(10000 - (double)worst->depth) / (arrival - service) * 1e9);
	v->confidence = worst->wait_growth >= 0.2 ? 0.95 : 0.8;
	sender_say(v, worst);
	v->knob = "mailbox.capacity";
	v->value = (uint64_t)(service / 10) + 1;
	snprintf(v->advice, sizeof(v->advice),
		"bound this mailbox (a tenth of a second of work), let the sender wait for "
		"answers, "
		"or share the work among several actors");
	return true;
}

static bool is_unfair(const struct evidence_class *c)
{
	return c->actor_messages >= RULE_MESSAGES_LEAST && c->senders >= 2 && c->sender.actor &&
	       c->sender.share >= UNFAIR_SHARE && c->wait.p99_ns >= UNFAIR_WAIT_NS &&
	       c->wait_growth < GROWTH_LEAST &&
	       (double)c->wait.p99_ns >= 2 * (double)c->delay.p99_ns;
}

bool rule_unfair(const struct evidence *e, struct verdict *v)
{
	const struct evidence_class *worst = NULL;

	for (size_t i = 0; i < e->class_count; i++)
		if (is_unfair(&e->classes[i]) &&
			(!worst || e->classes[i].wait.sum_ns > worst->wait.sum_ns))
			worst = &e->classes[i];
	if (!worst)
		return false;
	rule_subject(v, worst);
	v->actor = worst->actor;
	verdict_add(v, "share of the first sender", VERDICT_SHARE, worst->sender.share);
	verdict_add(v, "senders", VERDICT_COUNT, (double)worst->senders);
	verdict_add(v, "wait p99", VERDICT_NS, (double)worst->wait.p99_ns);
	verdict_add(v, "sender turn mean", VERDICT_NS, (double)worst->sender_turn_ns);
	v->confidence = 0.8;
	sender_say(v, worst);
	snprintf(v->advice, sizeof(v->advice),
		"limit that sender (a lower throughput, a throttle, smaller bursts), or give the "
		"others an actor of their own");
	return true;
}

/* ---- between loops ---- */

static double mean_ns(const struct evidence_times *t)
{
	return t->count ? (double)t->sum_ns / (double)t->count : 0;
}

/* Loops that own their threads spin before they sleep, so that only the mean tells what it costs.
 */
static bool is_woken(const struct evidence *e, const struct evidence_class *c)
{
	double wait = mean_ns(&c->wait);

	return c->messages >= RULE_MESSAGES_LEAST && c->wait.count >= RULE_MESSAGES_LEAST &&
	       (double)c->foreign >= 0.5 * (double)c->messages && wait >= WAKE_WAIT_NS &&
	       wait <= RULE_LONG_NS && (double)c->wait.sum_ns >= 0.2 * (double)e->elapsed_ns &&
	       mean_ns(&c->handler) <= wait / 2 && mean_ns(&c->delay) <= wait / 4 &&
	       rule_loop(e, c->loop) && rule_busy(e, rule_loop(e, c->loop)) <= 0.5;
}

bool rule_cross_loop(const struct evidence *e, struct verdict *v)
{
	for (size_t i = 0; i < e->class_count; i++) {
		const struct evidence_class *c = &e->classes[i];

		if (!is_woken(e, c))
			continue;
		rule_subject(v, c);
		verdict_add(v, "wait mean", VERDICT_NS, mean_ns(&c->wait));
		verdict_add(v, "wait p50", VERDICT_NS, (double)c->wait.p50_ns);
		verdict_add(v, "handler mean", VERDICT_NS, mean_ns(&c->handler));
		verdict_add(v, "delay mean", VERDICT_NS, mean_ns(&c->delay));
		verdict_add(v, "from other loops", VERDICT_SHARE,
			rule_share((double)c->foreign, (double)c->messages));
		verdict_add(v, "loop busy", VERDICT_SHARE, rule_busy(e, rule_loop(e, c->loop)));
		v->confidence = 0.8;
		snprintf(v->advice, sizeof(v->advice),
			"put actors that answer each other on one loop, or send several messages "
			"at "
			"once");
		return true;
	}
	return false;
}
