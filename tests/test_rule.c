/* SPDX-License-Identifier: MIT */
/* The rules of the diagnosis on hand-made evidence: each on its cause, and not on its look-alike.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/syscall.h>

#include "probe/rule.h"
#include "runtime/abi.h"

#define US 1000ull
#define MS 1000000ull
#define S  1000000000ull

static struct evidence_class classes[2];
static struct evidence_dispatcher dispatchers[1];
static struct evidence_loop loops[1];
static struct evidence e;
static struct verdict verdicts[RULES];
static size_t count;

static struct evidence_times times(uint64_t n, uint64_t p50, uint64_t p99)
{
	return (struct evidence_times){n, n * p50, p50, p99, p99};
}

/* One loop, ten seconds, one hybrid dispatcher: a quiet class, and one that a test changes. */
static int set_up(void **state)
{
	(void)state;
	loops[0] = (struct evidence_loop){.loop = 0,
		.thread = 7,
		.turn_ns = 2 * S,
		.passes = 10000,
		.gap = times(10000, 100 * US, 500 * US),
		.longest_gap_ns = 2 * MS,
		.accounted = true,
		.cpu_ns = 2 * S,
		.state = 'S'};
	dispatchers[0] = (struct evidence_dispatcher){.name = (char *)"hybrid",
		.kind = ACTOR_ABI_HYBRID,
		.budget = 64,
		.actors = 11,
		.turns = 20000,
		.turn_ns = 2 * S,
		.delay = times(20000, 5 * US, 200 * US),
		.idle_yields = 10000,
		.units = 20000};
	for (int i = 0; i < 2; i++)
		classes[i] = (struct evidence_class){.dispatcher = (char *)"hybrid",
			.name = (char *)(i ? "quiet" : "subject"),
			.actors = i ? 10 : 1,
			.messages = 10000,
			.wait = times(10000, 10 * US, 300 * US),
			.handler = times(10000, 5 * US, 20 * US),
			.turn = times(10000, 5 * US, 20 * US),
			.delay = times(10000, 5 * US, 200 * US),
			.turns = 10000,
			.actor = (char *)(i ? "/user/quiet" : "/user/subject"),
			.actor_messages = 10000,
			.actor_turns_share = 0.5,
			.depth = 1,
			.sender = {(char *)"/user/source", (char *)"source", 0.2},
			.senders = 5};
	e = (struct evidence){.pid = 1,
		.alive = true,
		.elapsed_ns = 10 * S,
		.delivered = 20000,
		.scheduled = true,
		.classes = classes,
		.class_count = 2,
		.dispatchers = dispatchers,
		.dispatcher_count = 1,
		.loops = loops,
		.loop_count = 1};
	return 0;
}

static const struct verdict *first(void)
{
	count = rule_judge(&e, verdicts, RULES);
	assert_true(count >= 1);
	return &verdicts[0];
}

static bool has(enum rule_id id)
{
	for (size_t i = 0; i < count; i++)
		if (verdicts[i].rule->id == id)
			return true;
	return false;
}

static void heavy(uint64_t p50, uint64_t p99)
{
	classes[0].handler = times(1000, p50, p99);
	classes[0].turn = times(1000, p50, p99);
}

/* ---- causes: what makes them, whom they name ---- */

static void make_host(void)
{
	loops[0].starved_ns = 1 * S;
}

static void make_steal(void)
{
	e.steal = 0.15;
}

static void make_observer(void)
{
	e.overhead = 0.2;
}

static void make_stuck(void)
{
	loops[0].actor = (char *)"/user/subject";
	loops[0].class_name = (char *)"subject";
	loops[0].dispatcher = (char *)"hybrid";
	loops[0].open_ns = 3 * S;
	loops[0].in_call = true;
	loops[0].call = SYS_read;
}

static void make_restarts(void)
{
	classes[0].restarts = 400;
	classes[0].failed_turns = 400;
}

static void make_lock(void)
{
	heavy(3 * MS, 5 * MS);
	classes[0].blocked_ns = 2 * S;
	classes[0].blocked_max_ns = 4 * MS;
	classes[0].call = SYS_futex;
}

static void make_blocking(void)
{
	make_lock();
	classes[0].call = SYS_nanosleep;
}

static void make_blocking_unseen(void)
{
	e.scheduled = false;
	heavy(3 * MS, 5 * MS);
	loops[0].turn_ns = 3 * S;
	loops[0].cpu_ns = 200 * MS;
}

static void make_cpu(void)
{
	heavy(3 * MS, 5 * MS);
}

static void make_microtask(void)
{
	dispatchers[0].kind = ACTOR_ABI_MICROTASK;
	dispatchers[0].budget = 0;
	loops[0].longest_gap_ns = 40 * MS;
}

static void make_budget_high(void)
{
	classes[0].handler = times(20000, 80 * US, 100 * US);
	classes[0].turn = times(200, 9 * MS, 12 * MS);
	classes[0].turns = 200;
	classes[0].budget_turns = 190;
	classes[0].cap = 120;
	classes[1].delay = times(10000, 6 * MS, 12 * MS);
	dispatchers[0].delay = times(20000, 6 * MS, 12 * MS);
}

static void make_dispatcher_high(void)
{
	dispatchers[0].budget = 1000;
	loops[0].gap = times(400, 15 * MS, 20 * MS);
}

static void make_timers(void)
{
	classes[0].actors = 1000;
	classes[0].unsent = 10000;
	classes[0].delay = times(10000, 4 * MS, 9 * MS);
	dispatchers[0].delay = times(20000, 2 * MS, 9 * MS);
}

static void make_lone(void)
{
	dispatchers[0].kind = ACTOR_ABI_THROUGHPUT;
	dispatchers[0].budget = 16;
	dispatchers[0].budget_yields = 10000;
	classes[0].actor_turns_share = 1;
	classes[0].budget_turns = 9000;
	classes[0].cap = 16;
}

static void make_budget_low(void)
{
	classes[0].wait = times(10000, 10 * MS, 30 * MS);
	classes[0].delay = times(10000, 200 * US, 400 * US);
	classes[0].handler = times(10000, 1 * US, 3 * US);
	classes[0].turn = times(10000, 1 * US, 3 * US);
	classes[0].budget_turns = 9900;
	classes[0].cap = 1;
}

static void make_flood(void)
{
	classes[0].wait = times(10000, 800 * MS, 3 * S);
	classes[0].wait_growth = 0.5;
	classes[0].depth = 40000;
	classes[0].sender.share = 0.97;
}

static struct evidence_deep deep[1];

static void make_deep_flood(void)
{
	deep[0] = (struct evidence_deep){.actor = (char *)"/user/subject",
		.class_name = (char *)"subject",
		.dispatcher = (char *)"hybrid",
		.messages = 60000,
		.before = 50000};
	e.deep = deep;
	e.deep_count = 1;
	classes[0].wait.count = 0; /* none of it was stamped */
}

static void make_unfair(void)
{
	classes[0].wait = times(10000, 3 * MS, 15 * MS);
	classes[0].sender.share = 0.9;
	classes[0].senders = 4;
}

static void make_crowded(void)
{
	dispatchers[0].delay = times(20000, 8 * MS, 12 * MS);
	loops[0].turn_ns = 9 * S;
}

static void make_cross_loop(void)
{
	classes[0].foreign = 10000;
	classes[0].messages = 10000;
	classes[0].wait = times(100000, 60 * US, 200 * US);
}

static void make_unexplained(void)
{
	classes[0].wait = times(10000, 1 * MS, 20 * MS);
}

static void make_unseen(void)
{
	classes[0].wait.count = 30;
	classes[1].wait.count = 2;
}

static void make_healthy(void)
{
}

static const struct {
	void (*make)(void);
	enum rule_id rule;
	const char *class_name;
	const char *knob;
	uint64_t value; /* 0: any */
} cases[] = {
	{make_host, RULE_HOST, NULL, NULL, 0},
	{make_steal, RULE_HOST, NULL, NULL, 0},
	{make_observer, RULE_OBSERVER, NULL, NULL, 0},
	{make_stuck, RULE_STUCK, "subject", NULL, 0},
	{make_restarts, RULE_RESTARTS, "subject", "strategy.backoff_min_ms", 100},
	{make_lock, RULE_LOCK, "subject", NULL, 0},
	{make_blocking, RULE_BLOCKING, "subject", NULL, 0},
	{make_blocking_unseen, RULE_BLOCKING, "subject", NULL, 0},
	{make_cpu, RULE_CPU, "subject", NULL, 0},
	{make_microtask, RULE_MICROTASK, NULL,
		"dispatcher.default = hybrid; dispatcher.hybrid_budget", 64},
	{make_budget_high, RULE_BUDGET_HIGH, "subject", "actor.throughput", 9},
	{make_dispatcher_high, RULE_DISPATCHER_HIGH, NULL, "dispatcher.hybrid_budget", 49},
	{make_timers, RULE_TIMERS, "subject", NULL, 0},
	{make_lone, RULE_LONE, "subject", "actor.throughput", 199},
	{make_budget_low, RULE_BUDGET_LOW, "subject", "actor.throughput", 256},
	{make_flood, RULE_FLOOD, "subject", "mailbox.capacity", 101},
	{make_deep_flood, RULE_FLOOD, "subject", "mailbox.capacity", 101},
	{make_unfair, RULE_UNFAIR, "subject", NULL, 0},
	{make_crowded, RULE_CROWDED, NULL, "system.loops", 2},
	{make_cross_loop, RULE_CROSS_LOOP, "subject", NULL, 0},
	{make_unexplained, RULE_UNEXPLAINED, "subject", NULL, 0},
	{make_unseen, RULE_UNSEEN, NULL, NULL, 0},
	{make_healthy, RULE_HEALTHY, NULL, NULL, 0},
};

static void each_cause_is_the_first_verdict(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct verdict *v;

		set_up(state);
		cases[i].make();
		v = first();
		assert_string_equal(v->rule->name, rule_table[cases[i].rule].name);
		if (cases[i].class_name)
			assert_string_equal(v->class_name, cases[i].class_name);
		if (cases[i].knob)
			assert_string_equal(v->knob, cases[i].knob);
		if (cases[i].value)
			assert_int_equal(v->value, cases[i].value);
		assert_true(v->confidence > 0 && v->confidence <= 1);
		assert_true(v->fact_count > 0);
		assert_true(v->advice[0]);
	}
}

static void the_table_is_in_the_order_of_its_ids(void **state)
{
	(void)state;
	for (size_t i = 0; i < RULES; i++) {
		assert_int_equal(rule_table[i].id, i);
		assert_int_equal(rule_table[i].explains & ((2u << i) - 1), 0);
		assert_non_null(rule_table[i].judge);
		assert_true(rule_table[i].unlike[0] && rule_table[i].refute[0]);
	}
}

/* ---- what explains what ---- */

static void a_starved_host_explains_all_but_what_hangs(void **state)
{
	(void)state;
	make_cpu();
	make_flood();
	make_host();
	assert_int_equal(first()->rule->id, RULE_HOST);
	assert_int_equal(count, 1);
	make_stuck();
	first();
	assert_true(has(RULE_STUCK));
}

static void a_blocking_call_explains_the_flood_behind_it(void **state)
{
	(void)state;
	make_blocking();
	classes[1].wait = times(10000, 800 * MS, 3 * S);
	classes[1].wait_growth = 0.5;
	classes[1].depth = 40000;
	assert_int_equal(first()->rule->id, RULE_BLOCKING);
	assert_false(has(RULE_FLOOD));
	assert_false(has(RULE_HEALTHY));
}

/* ---- look-alikes ---- */

static void a_busy_thread_is_no_host_contention(void **state)
{
	(void)state;
	loops[0].cpu_ns = 10 * S;
	loops[0].starved_ns = 100 * MS;
	first();
	assert_false(has(RULE_HOST));
}

static void a_usually_long_turn_is_not_stuck(void **state)
{
	(void)state;
	make_stuck();
	loops[0].open_ns = 1200 * MS;
	classes[0].turn = times(10, 1 * S, 1 * S);
	first();
	assert_false(has(RULE_STUCK));
}

static void single_failures_are_no_restart_loop(void **state)
{
	(void)state;
	classes[0].restarts = 2;
	first();
	assert_false(has(RULE_RESTARTS));
	classes[0].restarts = 5; /* of 10 000 turns */
	first();
	assert_false(has(RULE_RESTARTS));
}

static void what_was_not_seen_carries_no_verdict(void **state)
{
	(void)state;
	make_blocking();
	e.scheduled = false; /* then the numbers mean nothing */
	loops[0].accounted = false;
	first();
	assert_false(has(RULE_BLOCKING));
	assert_true(has(RULE_CPU)); /* by the times alone, and less sure */
	assert_true(verdicts[0].confidence < 0.7);
}

static void a_full_turn_of_short_handlers_is_no_heavy_handler(void **state)
{
	(void)state;
	make_budget_high();
	first();
	assert_false(has(RULE_CPU));
}

static void a_long_turn_is_no_crowd(void **state)
{
	(void)state;
	make_crowded();
	classes[0].turn = times(100, 4 * MS, 8 * MS);
	first();
	assert_false(has(RULE_CROWDED));
}

static void a_deep_mailbox_that_shrinks_is_no_flood(void **state)
{
	(void)state;
	make_deep_flood();
	deep[0].messages = 40000;
	first();
	assert_false(has(RULE_FLOOD));
}

static void untimed_handlers_carry_no_verdict_on_budgets(void **state)
{
	(void)state;
	make_budget_high();
	classes[0].handler = times(0, 0, 0);
	first();
	assert_false(has(RULE_BUDGET_HIGH));
	make_budget_low();
	classes[0].handler = times(0, 0, 0);
	first();
	assert_false(has(RULE_BUDGET_LOW));
}

static void a_burst_is_no_flood(void **state)
{
	(void)state;
	make_flood();
	classes[0].wait_growth = 0.001;
	first();
	assert_false(has(RULE_FLOOD));
}

/* An importer that works for 40 ms now and then is few turns, and a trouble all the same. */
static void few_long_turns_are_enough_for_a_budget(void **state)
{
	(void)state;
	make_budget_high();
	classes[0].turn = times(7, 40 * MS, 46 * MS);
	classes[0].turns = 7;
	classes[0].budget_turns = 4;
	classes[0].cap = 2000;
	dispatchers[0].delay = times(20000, 5 * US, 3 * MS);
	classes[1].delay = dispatchers[0].delay;
	assert_int_equal(first()->rule->id, RULE_BUDGET_HIGH);
	assert_int_equal(verdicts[0].value, 9);
}

static void equal_senders_are_not_unfair(void **state)
{
	(void)state;
	make_unfair();
	classes[0].sender.share = 0.25;
	first();
	assert_false(has(RULE_UNFAIR));
}

static void a_busy_loop_is_no_wakeup_cost(void **state)
{
	(void)state;
	make_cross_loop();
	loops[0].turn_ns = 8 * S;
	first();
	assert_false(has(RULE_CROSS_LOOP));
}

static void nothing_at_all_is_too_little(void **state)
{
	struct evidence nothing = {.elapsed_ns = 10 * S};

	(void)state;
	assert_int_equal(rule_judge(&nothing, verdicts, RULES), 1);
	assert_int_equal(verdicts[0].rule->id, RULE_UNSEEN);
}

#define CASE(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(each_cause_is_the_first_verdict),
		CASE(the_table_is_in_the_order_of_its_ids),
		CASE(a_starved_host_explains_all_but_what_hangs),
		CASE(a_blocking_call_explains_the_flood_behind_it),
		CASE(a_busy_thread_is_no_host_contention),
		CASE(a_usually_long_turn_is_not_stuck),
		CASE(single_failures_are_no_restart_loop),
		CASE(what_was_not_seen_carries_no_verdict),
		CASE(a_full_turn_of_short_handlers_is_no_heavy_handler),
		CASE(a_long_turn_is_no_crowd),
		CASE(a_deep_mailbox_that_shrinks_is_no_flood),
		CASE(untimed_handlers_carry_no_verdict_on_budgets),
		CASE(a_burst_is_no_flood),
		CASE(few_long_turns_are_enough_for_a_budget),
		CASE(equal_senders_are_not_unfair),
		CASE(a_busy_loop_is_no_wakeup_cost),
		CASE(nothing_at_all_is_too_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
