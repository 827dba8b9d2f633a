/* SPDX-License-Identifier: MIT */
/* What is decided about a failure: strategies, deciders, budgets, back-offs. */
#include "tests/lab.h"

#include "runtime/supervision.h"

#include <limits.h>

#define STOP	 ACTOR_DIRECTIVE_STOP
#define RESTART	 ACTOR_DIRECTIVE_RESTART
#define RESUME	 ACTOR_DIRECTIVE_RESUME
#define ESCALATE ACTOR_DIRECTIVE_ESCALATE

#define S(...)                                                                                     \
	{                                                                                          \
		.size = sizeof(struct actor_strategy), __VA_ARGS__                                 \
	}

static const struct {
	struct actor_strategy strategy;
	int rc;
} check_rows[] = {
	{S(.scope = 0), 0},
	{S(.scope = ACTOR_ALL_FOR_ONE, .directive = ESCALATE, .max_retries = -1, .window_ms = -1),
		0},
	{S(.max_retries = 1000000000, .window_ms = 1000000000, .jitter_percent = 100), 0},
	{S(.backoff_min_ms = 10, .backoff_max_ms = 10, .jitter_percent = -1), 0},
	{{.size = sizeof(struct actor_strategy) - 1}, ACTOR_EOPTIONS},
	{S(.scope = 3), ACTOR_EOPTIONS},
	{S(.scope = -1), ACTOR_EOPTIONS},
	{S(.directive = 5), ACTOR_EOPTIONS},
	{S(.max_retries = -2), ACTOR_EOPTIONS},
	{S(.max_retries = 1000000001), ACTOR_EOPTIONS},
	{S(.window_ms = -2), ACTOR_EOPTIONS},
	{S(.window_ms = INT64_MAX), ACTOR_EOPTIONS},
	{S(.backoff_min_ms = -1), ACTOR_EOPTIONS},
	{S(.backoff_min_ms = 11, .backoff_max_ms = 10), ACTOR_EOPTIONS},
	{S(.jitter_percent = 101), ACTOR_EOPTIONS},
	{S(.jitter_percent = -2), ACTOR_EOPTIONS},
};

static void wrong_strategies_are_refused(void **state)
{
	for (size_t i = 0; i < COUNT(check_rows); i++)
		assert_int_equal(actor__strategy_check(&check_rows[i].strategy), check_rows[i].rc);
}

static int wrong_class_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	return 0;
}

static void a_class_or_spawn_with_a_wrong_strategy_is_refused(void **state)
{
	static const struct actor_strategy wrong = S(.jitter_percent = 200);
	static const struct actor_strategy all = S(.scope = ACTOR_ALL_FOR_ONE);
	static struct actor_class wrong_class = {.size = sizeof(wrong_class),
		.name = "wrong",
		.on_message = wrong_class_message,
		.strategy = &wrong};
	static struct actor_class fine_class = {
		.size = sizeof(fine_class), .name = "fine", .on_message = wrong_class_message};
	struct actor_spawn_options options = {.size = sizeof(options), .strategy = &wrong};
	struct lab lab;

	lab_open(&lab, NULL);
	assert_int_equal(actor_system_spawn(lab.system, &wrong_class, NULL, NULL), ACTOR_ECLASS);
	assert_int_equal(
		actor_system_spawn(lab.system, &fine_class, &options, NULL), ACTOR_EOPTIONS);
	options.strategy = &all; /* at top level there is nobody else */
	assert_int_equal(
		actor_system_spawn(lab.system, &fine_class, &options, NULL), ACTOR_EOPTIONS);
	/* Options of an older program end before the strategy. */
	options.size = offsetof(struct actor_spawn_options, strategy);
	assert_int_equal(actor_system_spawn(lab.system, &fine_class, &options, NULL), 0);
	lab_run(&lab);
	lab_close(&lab);
}

static void the_strategy_is_the_childs_own_or_its_parents_or_the_default(void **state)
{
	static const struct actor_strategy own = S(.directive = STOP);
	static const struct actor_strategy parents = S(.directive = ESCALATE);
	struct actor_class with = {.size = sizeof(with), .strategy = &parents};
	struct actor_class without = {.size = sizeof(without)};
	struct actor_class old = {
		.size = offsetof(struct actor_class, strategy), .strategy = &parents};

	assert_ptr_equal(actor__strategy_of(&own, &with), &own);
	assert_ptr_equal(actor__strategy_of(&own, NULL), &own);
	assert_ptr_equal(actor__strategy_of(NULL, &with), &parents);
	assert_null(actor__strategy_of(NULL, &without));
	assert_null(actor__strategy_of(NULL, &old));
	assert_null(actor__strategy_of(NULL, NULL));
}

static struct actor_failure told;

static int decide(void *data, const struct actor_failure *failure)
{
	told = *failure;
	return *(int *)data;
}

static void decide_with(struct actor__verdict *v, const struct actor_strategy *strategy,
	struct actor__budget *budget, uint64_t now_ms, bool starting)
{
	struct actor__fault fault = {
		.actor = 77, .code = -EIO, .text = "broke", .starting = starting};
	struct actor__plan plan;

	actor__plan_init(&plan, strategy);
	actor__supervision_decide(v, &fault, &plan, budget, now_ms, UINT64_MAX);
}

static const struct {
	int answer;
	bool starting;
	enum actor_directive directive;
} decider_rows[] = {
	{STOP, false, STOP},
	{RESTART, false, RESTART},
	{RESUME, false, RESUME},
	{ESCALATE, false, ESCALATE},
	{0, false, ESCALATE}, /* a failing decider */
	{-EIO, false, ESCALATE},
	{5, false, ESCALATE},
	{INT_MIN, false, ESCALATE},
	{RESUME, true, RESTART}, /* nothing to go on with */
	{STOP, true, STOP},
	{ESCALATE, true, ESCALATE},
};

static void the_decider_decides_and_a_failing_one_escalates(void **state)
{
	for (size_t i = 0; i < COUNT(decider_rows); i++) {
		int answer = decider_rows[i].answer;
		struct actor_strategy strategy = S(.decide = decide, .data = &answer);
		struct actor__budget budget = {0};
		struct actor__verdict v;

		decide_with(&v, &strategy, &budget, 1000, decider_rows[i].starting);
		assert_int_equal(v.directive, decider_rows[i].directive);
		assert_int_equal(told.code, -EIO);
		assert_string_equal(told.text, "broke");
		assert_int_equal(told.actor, 77);
		assert_int_equal(told.restarts, 0);
		actor__budget_fini(&budget);
	}
}

static void ten_restarts_within_a_minute_are_the_default(void **state)
{
	struct actor__budget budget = {0};
	struct actor__verdict v;

	for (uint64_t n = 0; n < 10; n++) {
		decide_with(&v, NULL, &budget, 1000 + n, false);
		assert_int_equal(v.directive, RESTART);
		assert_false(v.all);
		assert_int_equal(v.delay_ms, 0);
	}
	decide_with(&v, NULL, &budget, 60999, false);
	assert_int_equal(v.directive, STOP);
	assert_true(v.spent);
	assert_int_equal(v.most, 10);
	assert_int_equal(v.window_ms, 60000);
	decide_with(&v, NULL, &budget, 61000, false);
	assert_int_equal(v.directive, RESTART);
	decide_with(&v, NULL, NULL, 61000, false); /* no memory for a budget */
	assert_int_equal(v.directive, RESTART);
	actor__budget_fini(&budget);
}

static void max_retries_of_n_grants_n_restarts(void **state)
{
	for (int64_t most = 1; most < 20; most++) {
		struct actor_strategy strategy = S(.max_retries = most, .scope = ACTOR_ALL_FOR_ONE);
		struct actor__budget budget = {0};
		struct actor__verdict v;
		int64_t granted = 0;

		do {
			decide_with(&v, &strategy, &budget, 5, false);
			assert_true(v.all); /* the stop in the end as well */
			granted += v.directive == RESTART;
		} while (v.directive == RESTART && granted < 100);
		assert_int_equal(granted, most);
		actor__budget_fini(&budget);
	}
}

static void resume_and_escalate_concern_one_actor_and_no_budget(void **state)
{
	static const enum actor_directive directives[] = {RESUME, ESCALATE};

	for (size_t i = 0; i < COUNT(directives); i++) {
		struct actor_strategy strategy =
			S(.directive = directives[i], .max_retries = 1, .scope = ACTOR_ALL_FOR_ONE);
		struct actor__budget budget = {0};
		struct actor__verdict v;

		for (int n = 0; n < 5; n++) {
			decide_with(&v, &strategy, &budget, 5, false);
			assert_int_equal(v.directive, directives[i]);
			assert_false(v.all);
		}
		actor__budget_fini(&budget);
	}
}

/* Waits with the greatest jitter, which adds the whole percentage but a trifle. */
static const struct {
	int64_t min_ms, max_ms, jitter;
	uint32_t waits[6];
} backoff_rows[] = {
	{100, 1000, -1, {100, 200, 400, 800, 1000, 1000}},
	{100, 0, -1, {100, 200, 400, 800, 1600, 3200}},
	{100, 250, 50, {149, 299, 374, 374, 374, 374}},
	{1000, 1000, 0, {1199, 1199, 1199, 1199, 1199, 1199}},
	{900000000, 0, -1, {900000000, 1000000000, 1000000000, 1000000000, 1000000000, 1000000000}},
};

static void a_backoff_doubles_up_to_its_longest_wait(void **state)
{
	for (size_t i = 0; i < COUNT(backoff_rows); i++) {
		struct actor_strategy strategy = S(.backoff_min_ms = backoff_rows[i].min_ms,
			.backoff_max_ms = backoff_rows[i].max_ms,
			.jitter_percent = backoff_rows[i].jitter, .max_retries = -1);
		struct actor__budget budget = {0};
		struct actor__verdict v;
		uint64_t now = 1000;

		for (size_t n = 0; n < 6; n++) {
			decide_with(&v, &strategy, &budget, now, false);
			assert_int_equal(v.directive, RESTART);
			assert_int_equal(v.delay_ms, backoff_rows[i].waits[n]);
			now += v.delay_ms;
		}
		decide_with(&v, &strategy, &budget, now + 60000, false);
		assert_int_equal(v.delay_ms, backoff_rows[i].waits[0]);
		actor__budget_fini(&budget);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_strategies_are_refused),
		cmocka_unit_test(a_class_or_spawn_with_a_wrong_strategy_is_refused),
		cmocka_unit_test(the_strategy_is_the_childs_own_or_its_parents_or_the_default),
		cmocka_unit_test(the_decider_decides_and_a_failing_one_escalates),
		cmocka_unit_test(ten_restarts_within_a_minute_are_the_default),
		cmocka_unit_test(max_retries_of_n_grants_n_restarts),
		cmocka_unit_test(resume_and_escalate_concern_one_actor_and_no_budget),
		cmocka_unit_test(a_backoff_doubles_up_to_its_longest_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
