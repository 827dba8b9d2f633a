/* SPDX-License-Identifier: MIT */
/* Failures in families: children, siblings, what is escalated, who decides. */
#include "tests/failing.h"

#include <stdio.h>

/* ---- families ---- */

static void case_9_children_are_gone_before_the_new_instance_spawns_them_again(void **state)
{
	actor_ref a = member_spawn(
		&lab, &hooked_class, (struct member){.letter = 'a', .child = 'c'}, "a", NULL, 0);
	actor_ref c;

	lab_run(&lab);
	c = lookup("/user/a/c");
	give(&lab, c, (struct order){SPAWN, 'd'});
	lab_run(&lab);
	trail_reset();
	for (int i = 0; i < 3; i++) {
		c = lookup("/user/a/c");
		orders(a, "!.");
		lab_run(&lab);
		assert_true(lookup("/user/a/c") != c);
	}
	assert_memory_equal(trail, "!a~a-d-c*aa+c", 13);
	assert_int_equal(lab_stats(&lab).failed, 3);
	assert_int_equal(lab_stats(&lab).restarted, 3);
}

static void case_10_children_kept_across_a_restart_go_on(void **state)
{
	actor_ref a =
		member_spawn(&lab, &keeper_class, (struct member){.letter = 'a'}, "a", NULL, 0);
	actor_ref c;

	give(&lab, a, (struct order){SPAWN, 'c'});
	lab_run(&lab);
	c = lookup("/user/a/c");
	give(&lab, c, (struct order){SPAWN, 'd'});
	lab_run(&lab);
	trail_reset();
	orders(a, "!.");
	lab_run(&lab);
	assert_string_equal(trail, "!a~a*aa");
	orders(c, "..");
	orders(lookup("/user/a/c/d"), ".");
	lab_run(&lab);
	assert_string_equal(trail_of('c'), "cc");
	assert_string_equal(trail_of('d'), "d");
}

static void case_11_the_strategy_of_the_spawn_wins_over_the_parents(void **state)
{
	static const struct {
		const struct actor_strategy *parents, *own;
		const char *trail;
	} own_rows[] = {
		{NULL, NULL, "+c!c-c+cc"},
		{&stops, NULL, "+c!c-c"},
		{&stops, &resumes, "+c!cc"},
		{&resumes, &stops, "+c!c-c"},
		{NULL, &stops, "+c!c-c"},
		{&stops, &restarts, "+c!c-c+cc"},
	};

	for (size_t i = 0; i < COUNT(own_rows); i++) {
		actor_ref a = member_spawn(&lab, parent_class(&member_class, own_rows[i].parents),
			(struct member){
				.letter = 'a', .child = 'c', .child_strategy = own_rows[i].own},
			"a", NULL, 0);

		lab_run(&lab);
		orders(lookup("/user/a/c"), "!.");
		lab_run(&lab);
		assert_string_equal(trail_of('c'), own_rows[i].trail);
		actor_system_stop(lab.system, a);
		lab_run(&lab);
		trail_reset();
	}
}

static void on_keep(uv_timer_t *keep)
{
	(void)keep;
}

static void a_subtree_is_suspended_while_its_top_waits_for_its_restart(void **state)
{
	static const struct actor_strategy slow =
		S(.backoff_min_ms = 100, .backoff_max_ms = 100, .jitter_percent = -1);
	actor_ref a =
		member_spawn(&lab, &keeper_class, (struct member){.letter = 'a'}, "a", &slow, 0);
	uint64_t began = uv_now(&lab.loop);
	uv_timer_t keep;
	actor_ref c, d;

	give(&lab, a, (struct order){SPAWN, 'c'});
	lab_run(&lab);
	c = lookup("/user/a/c");
	give(&lab, c, (struct order){SPAWN, 'd'});
	lab_run(&lab);
	d = lookup("/user/a/c/d");
	trail_reset();
	orders(a, "!.");
	lab_run(&lab); /* a back-off does not keep the loop alive */
	orders(c, "..");
	orders(d, "..");
	orders(a, ".");
	lab_run(&lab);
	assert_string_equal(trail, "!a");
	uv_timer_init(&lab.loop, &keep);
	uv_timer_start(&keep, on_keep, 20000, 0);
	while (strlen(trail) < 12 && uv_now(&lab.loop) < began + 20000)
		uv_run(&lab.loop, UV_RUN_NOWAIT);
	assert_true(uv_now(&lab.loop) >= began + 100);
	assert_string_equal(trail_of('a'), "!a~a*aaa");
	assert_string_equal(trail_of('c'), "cc");
	assert_string_equal(trail_of('d'), "dd");
	uv_close((uv_handle_t *)&keep, NULL);
	lab_run(&lab);
}

static void a_stop_during_the_backoff_wins(void **state)
{
	static const struct actor_strategy slow = S(.backoff_min_ms = 100000);
	actor_ref a =
		member_spawn(&lab, &hooked_class, (struct member){.letter = 'a'}, "a", &slow, 0);

	orders(a, "!.");
	lab_run(&lab);
	assert_string_equal(trail, "+a!a");
	assert_non_null(strstr(lab.last_log, "is restarted in 1"));
	actor_system_terminate(lab.system, a);
	lab_run(&lab);
	assert_string_equal(trail, "+a!a-a");
	assert_int_equal(lab.dead_letters, 1);
}

static void spoiler_stop(struct actor_ctx *ctx)
{
	mark('-', 's');
	actor_terminate(ctx, actor_parent(ctx));
}

static struct actor_class spoiler_class = {.size = sizeof(spoiler_class),
	.name = "spoiler",
	.state_bytes = sizeof(struct member),
	.on_message = counts_message,
	.on_stop = spoiler_stop};

static void a_stop_while_its_children_stop_wins(void **state)
{
	actor_ref a = member_spawn(&lab, &hooked_class,
		(struct member){.letter = 'a', .child = 's', .child_class = &spoiler_class}, "a",
		NULL, 0);

	lab_run(&lab);
	orders(a, "!");
	lab_run(&lab);
	assert_string_equal(trail, "+a!a~a-s"); /* the instance of a has ended once */
	assert_int_equal(lab_stats(&lab).terminated, 2);
	assert_int_equal(lab_stats(&lab).restarted, 0);
}

static void case_6_a_stopping_parent_with_mail_and_a_slow_child_does_not_spin(void **state)
{
	actor_ref a = member_spawn(
		&lab, &member_class, (struct member){.letter = 'a', .child = 'c'}, "a", NULL, 0);
	uint64_t turns;

	lab_run(&lab);
	give(&lab, lookup("/user/a/c"), (struct order){SLEEP, .number = 50});
	orders(lookup("/user/a/c"), "..");
	turns = lab_stats(&lab).turns;
	actor_system_terminate(lab.system, a);
	orders(a, ".");
	lab_run(&lab);
	assert_true(lab_stats(&lab).turns - turns <= 4);
	assert_int_equal(lab_stats(&lab).terminated, 2);
}

static void one_for_one_leaves_the_siblings_alone(void **state)
{
	actor_ref a =
		member_spawn(&lab, &member_class, (struct member){.letter = 'a'}, "a", NULL, 0);

	give(&lab, a, (struct order){SPAWN, 'c'});
	give(&lab, a, (struct order){SPAWN, 'd'});
	lab_run(&lab);
	trail_reset();
	orders(lookup("/user/a/d"), ".");
	orders(lookup("/user/a/c"), "!.");
	orders(lookup("/user/a/d"), ".");
	lab_run(&lab);
	assert_string_equal(trail_of('c'), "!c-c+cc");
	assert_string_equal(trail_of('d'), "dd");
	assert_string_equal(trail_of('a'), "");
}

static const struct {
	struct actor_strategy strategy;
	const char *c, *d; /* c fails, then each has one message */
} all_rows[] = {
	{S(.scope = ACTOR_ALL_FOR_ONE), "!c~c*cc", "~d*dd"},
	{S(.scope = ACTOR_ALL_FOR_ONE, .directive = ACTOR_DIRECTIVE_STOP), "!c-c", "-d"},
	{S(.scope = ACTOR_ALL_FOR_ONE, .directive = ACTOR_DIRECTIVE_RESUME), "!cc", "d"},
};

static void all_for_one_does_the_same_to_all(void **state)
{
	for (size_t i = 0; i < COUNT(all_rows); i++) {
		actor_ref a = member_spawn(&lab, parent_class(&member_class, &all_rows[i].strategy),
			(struct member){.letter = 'a'}, "a", NULL, 0);
		actor_ref d;

		give(&lab, a, (struct order){SPAWN, 'c', .cls = &hooked_class});
		give(&lab, a, (struct order){SPAWN, 'd', .cls = &hooked_class});
		lab_run(&lab);
		trail_reset();
		d = lookup("/user/a/d");
		orders(lookup("/user/a/c"), "!.");
		orders(d, ".");
		lab_run(&lab);
		assert_string_equal(trail_of('c'), all_rows[i].c);
		assert_string_equal(trail_of('d'), all_rows[i].d);
		actor_system_stop(lab.system, a);
		lab_run(&lab);
	}
}

/* c fails and is left to a, and so on upwards until somebody decides. */
static void an_escalated_failure_is_the_parents(void **state)
{
	static const struct {
		const struct actor_strategy *top;
		const char *a, *c, *d;
		uint32_t failed;
	} up_rows[] = {
		{&resumes, "a", "!cc", "d", 2},
		{&restarts, "~a*aa", "!c-c", "-d", 2},
		{&stops, "-a", "!c-c", "-d", 2},
	};

	for (size_t i = 0; i < COUNT(up_rows); i++) {
		actor_ref a = member_spawn(&lab, parent_class(&hooked_class, &escalates),
			(struct member){.letter = 'a'}, "a", up_rows[i].top, 0);
		uint64_t failed;
		actor_ref c, d;

		give(&lab, a, (struct order){SPAWN, 'c'});
		give(&lab, a, (struct order){SPAWN, 'd'});
		lab_run(&lab);
		trail_reset();
		failed = lab_stats(&lab).failed;
		c = lookup("/user/a/c");
		d = lookup("/user/a/d");
		orders(c, "!.");
		orders(d, ".");
		orders(a, ".");
		lab_run(&lab);
		assert_string_equal(trail_of('a'), up_rows[i].a);
		assert_string_equal(trail_of('c'), up_rows[i].c);
		assert_string_equal(trail_of('d'), up_rows[i].d);
		assert_int_equal(lab_stats(&lab).failed - failed, up_rows[i].failed);
		actor_system_stop(lab.system, a);
		lab_run(&lab);
	}
}

static void an_escalated_failure_of_a_start_is_a_start_that_is_tried_again(void **state)
{
	actor_ref a = member_spawn(&lab, parent_class(&hooked_class, &escalates),
		(struct member){.letter = 'a'}, "a", &resumes, 0);

	/* a is resumed each time; c, which never was ready, has nothing to go on with. */
	give(&lab, a, (struct order){SPAWN, 'c', .fails = 2, .cls = &hooked_class});
	lab_run(&lab);
	orders(lookup("/user/a/c"), ".");
	lab_run(&lab);
	assert_string_equal(trail_of('c'), "+c~c*c~c*cc");
	assert_string_equal(trail_of('a'), "+aa");
	assert_int_equal(lab_stats(&lab).failed, 4);
}

static void beyond_the_top_a_failure_stops_all_actors_but_leaves_the_system(void **state)
{
	actor_ref a = member_spawn(
		&lab, &member_class, (struct member){.letter = 'a'}, "a", &escalates, 0);
	actor_ref ref;

	member_spawn(
		&lab, &member_class, (struct member){.letter = 'c', .child = 'd'}, "c", NULL, 0);
	lab_run(&lab);
	orders(a, "!.");
	lab_run(&lab);
	assert_int_equal(lab_stats(&lab).terminated, 3);
	assert_string_equal(trail_of('a'), "+a!a-a");
	assert_string_equal(trail_of('c'), "+c-c");
	assert_int_equal(lab.logged, 2);
	assert_non_null(strstr(lab.last_log, "beyond the top"));
	assert_int_equal(actor_system_spawn(lab.system, &member_class, NULL, &ref), ACTOR_ECLOSED);
	assert_int_equal(actor_system_tell(lab.system, a, &plain_type, NULL, 0), 0);
	lab_run(&lab);
	assert_int_equal(lab.dead_letters, 2);
	/* Closing is what it always was: the teardown does it. */
}

/* ---- deciders ---- */

static int answers_left;

static int decide(void *data, const struct actor_failure *failure)
{
	assert_int_equal(failure->code, -EIO);
	assert_string_equal(failure->text, "");
	assert_string_equal(failure->cls->name, "member");
	mark('(', (char)('0' + failure->restarts));
	return answers_left-- ? ACTOR_DIRECTIVE_RESTART : -EIO;
}

static void a_decider_is_asked_each_time_and_its_own_failure_escalates(void **state)
{
	static const struct actor_strategy asks = S(.decide = decide);
	actor_ref a = member_spawn(&lab, parent_class(&member_class, &asks),
		(struct member){.letter = 'a', .child = 'c'}, "a", NULL, 0);

	answers_left = 3;
	lab_run(&lab);
	trail_reset();
	orders(lookup("/user/a/c"), "!!!!.");
	lab_run(&lab);
	assert_string_equal(
		trail, "!c(0-c+c!c(1-c+c!c(2-c+c!c(3-a-c+a+c"); /* a, by the default one */
	(void)a;
}

/* ---- many levels ---- */

static struct actor_class level_class;
static actor_ref deepest;

static int level_start(struct actor_ctx *ctx)
{
	uint64_t next = *(uint64_t *)actor_state(ctx) - 1;
	struct actor_spawn_options options = {.size = sizeof(options), .init = &next};

	deepest = actor_self(ctx); /* the one that starts last */
	return next ? actor_spawn(ctx, &level_class, &options, NULL) : 0;
}

static void a_failure_goes_up_a_hundred_levels(void **state)
{
	uint64_t levels = 100;
	struct actor_spawn_options options = {
		.size = sizeof(options), .init = &levels, .strategy = &restarts};
	char one = 1;

	level_class = (struct actor_class){.size = sizeof(level_class),
		.name = "level",
		.state_bytes = sizeof(uint64_t),
		.on_start = level_start,
		.on_message = counts_message,
		.strategy = &escalates};
	assert_int_equal(actor_system_spawn(lab.system, &level_class, &options, NULL), 0);
	lab_run(&lab);
	for (uint32_t i = 1; i <= 10; i++) {
		assert_int_equal(actor_system_tell(lab.system, deepest, &plain_type, &one, 1), 0);
		lab_run(&lab);
		assert_int_equal(lab_stats(&lab).failed, i * 100); /* one per level */
		assert_int_equal(lab_stats(&lab).restarted, i);	   /* the top one */
		assert_int_equal(lab_stats(&lab).terminated, i * 99);
		assert_int_equal(lab_stats(&lab).created, 100 + i * 99);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(case_9_children_are_gone_before_the_new_instance_spawns_them_again),
		TEST(case_10_children_kept_across_a_restart_go_on),
		TEST(case_11_the_strategy_of_the_spawn_wins_over_the_parents),
		TEST(a_subtree_is_suspended_while_its_top_waits_for_its_restart),
		TEST(a_stop_during_the_backoff_wins),
		TEST(a_stop_while_its_children_stop_wins),
		TEST(case_6_a_stopping_parent_with_mail_and_a_slow_child_does_not_spin),
		TEST(one_for_one_leaves_the_siblings_alone),
		TEST(all_for_one_does_the_same_to_all),
		TEST(an_escalated_failure_is_the_parents),
		TEST(an_escalated_failure_of_a_start_is_a_start_that_is_tried_again),
		TEST(beyond_the_top_a_failure_stops_all_actors_but_leaves_the_system),
		TEST(a_decider_is_asked_each_time_and_its_own_failure_escalates),
		TEST(a_failure_goes_up_a_hundred_levels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
