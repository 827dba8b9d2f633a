/* SPDX-License-Identifier: MIT */
/* Failures and what comes of them, on one loop. */
#include "tests/family.h"

#include <stdio.h>
#include <sys/resource.h>

#define S(...)                                                                                     \
	{                                                                                          \
		.size = sizeof(struct actor_strategy), __VA_ARGS__                                 \
	}

static const struct actor_strategy stops = S(.directive = ACTOR_DIRECTIVE_STOP);
static const struct actor_strategy resumes = S(.directive = ACTOR_DIRECTIVE_RESUME);
static const struct actor_strategy escalates = S(.directive = ACTOR_DIRECTIVE_ESCALATE);
static const struct actor_strategy restarts = S(.max_retries = -1);

static struct lab lab;

static int setup(void **state)
{
	trail_reset();
	members_alive = 0;
	lab_open(&lab, NULL);
	return 0;
}

static int teardown(void **state)
{
	lab_close(&lab);
	assert_int_equal(members_alive, 0); /* each instance has ended once */
	return 0;
}

/* A copy of a class with another strategy for its children. */
static struct actor_class *parent_class(
	const struct actor_class *cls, const struct actor_strategy *strategy)
{
	static struct actor_class classes[16];
	static unsigned int next;
	struct actor_class *copy = &classes[next++ % COUNT(classes)];

	*copy = *cls;
	copy->id = 0;
	copy->strategy = strategy;
	return copy;
}

static void orders(actor_ref ref, const char *kinds)
{
	for (; *kinds; kinds++)
		give(&lab, ref, (struct order){.kind = *kinds == '!' ? FAIL : NOTE});
}

/* ---- one actor ---- */

/* Five messages, the second and perhaps the fourth fail. */
static const struct {
	struct actor_class *cls;
	const struct actor_strategy *strategy;
	const char *messages;
	const char *trail;
	uint32_t dead, failed, restarted, terminated;
} rows[] = {
	{&member_class, NULL, ".!...", "+aa!a-a+aaaa", 0, 1, 1, 0},
	{&hooked_class, NULL, ".!...", "+aa!a~a*aaaa", 0, 1, 1, 0},
	{&hooked_class, &stops, ".!...", "+aa!a-a", 3, 1, 0, 1},
	{&hooked_class, &resumes, ".!.!.", "+aa!aa!aa", 0, 2, 0, 0},
	{&member_class, &restarts, "!!!", "+a!a-a+a!a-a+a!a-a+a", 0, 3, 3, 0},
};

static void case_4_nothing_is_handled_between_a_failure_and_what_is_decided(void **state)
{
	for (size_t i = 0; i < COUNT(rows); i++) {
		actor_ref ref = member_spawn(&lab, rows[i].cls, (struct member){.letter = 'a'},
			NULL, rows[i].strategy, 0);
		struct actor_stats before = lab_stats(&lab), stats;
		uint32_t dead = lab.dead_letters, logged = lab.logged;

		orders(ref, rows[i].messages);
		lab_run(&lab);
		assert_string_equal(trail, rows[i].trail);
		stats = lab_stats(&lab);
		assert_int_equal(lab.dead_letters - dead, rows[i].dead);
		assert_int_equal(stats.failed - before.failed, rows[i].failed);
		assert_int_equal(stats.restarted - before.restarted, rows[i].restarted);
		assert_int_equal(stats.terminated - before.terminated, rows[i].terminated);
		assert_int_equal(lab.logged - logged, rows[i].failed); /* each once */
		actor_system_stop(lab.system, ref);
		lab_run(&lab);
		trail_reset();
	}
}

static void case_3_a_stop_in_the_middle_of_a_batch_ends_it(void **state)
{
	actor_ref ref =
		member_spawn(&lab, &member_class, (struct member){.letter = 'a'}, NULL, NULL, 0);

	orders(ref, "..");
	give(&lab, ref, (struct order){STOP_SELF});
	orders(ref, "...");
	lab_run(&lab);
	assert_string_equal(trail, "+aaaa-a");
	assert_int_equal(lab.dead_letters, 3);
	assert_int_equal(lab_stats(&lab).turns, 1);
}

static void a_restart_keeps_path_ref_and_mail_and_renews_state_and_behaviour(void **state)
{
	actor_ref ref =
		member_spawn(&lab, &hooked_class, (struct member){.letter = 'a'}, "one", NULL, 0);
	char path[64];

	give(&lab, ref, (struct order){BECOME});
	orders(ref, "..");
	lab_run(&lab);
	assert_string_equal(trail, "+aabb");
	/* The behaviour of the instance is gone with it; its letter is from the init bytes. */
	actor_system_kill(lab.system, ref);
	orders(ref, "..");
	lab_run(&lab);
	assert_string_equal(trail, "+aabb~a*aaa");
	assert_true(actor_lookup(lab.system, "/user/one") == ref);
	assert_int_equal(actor_path(lab.system, ref, path, sizeof(path)), 9);
}

static int counts_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	uint64_t *count = actor_state(ctx);

	mark(0, (char)('0' + (*count)++));
	return message->bytes ? -1 : 0;
}

static struct actor_class counts_class = {.size = sizeof(counts_class),
	.name = "counts",
	.state_bytes = sizeof(uint64_t),
	.on_message = counts_message};

static void state_begins_with_zeros_or_with_the_bytes_of_the_spawn(void **state)
{
	for (uint64_t first = 0; first < 2; first++) {
		uint64_t init = 5;
		struct actor_spawn_options options = {
			.size = sizeof(options), .init = first ? &init : NULL};
		actor_ref ref;

		trail_reset();
		actor_system_spawn(lab.system, &counts_class, &options, &ref);
		init = 77;
		for (int i = 0; i < 6; i++)
			actor_system_tell(lab.system, ref, &plain_type, &init, i % 3 == 2);
		lab_run(&lab);
		assert_string_equal(trail, first ? "567567" : "012012");
	}
}

static void the_failure_reaches_the_hooks_and_the_log(void **state)
{
	actor_ref ref =
		member_spawn(&lab, &hooked_class, (struct member){.letter = 'a'}, "one", NULL, 0);

	give(&lab, ref, (struct order){FAIL_TEXT});
	lab_run(&lab);
	assert_int_equal(last_reason, -EPIPE);
	assert_string_equal(lab.last_log,
		"actor /user/one (hooked) failed and is restarted: broken pipe: pipe 7 broke");
	for (int i = 0; i < 9; i++)
		give(&lab, ref, (struct order){FAIL});
	lab_run(&lab);
	assert_int_equal(lab_stats(&lab).restarted, 10);
	give(&lab, ref, (struct order){FAIL});
	lab_run(&lab);
	assert_string_equal(lab.last_log,
		"actor /user/one (hooked) failed and is stopped after 10 restarts within 60000 ms: "
		"i/o error");
	assert_int_equal(lab_stats(&lab).terminated, 1);
	assert_int_equal(lab.logged, 11);
}

static void failed_messages_are_destroyed_once_and_not_handled_again(void **state)
{
	struct actor_spawn_options options = {.size = sizeof(options), .strategy = &restarts};
	actor_ref ref;

	counted_alive = tokens_alive = 0;
	actor_system_spawn(lab.system, &counts_class, &options, &ref);
	for (uint64_t i = 0; i < 100; i++) {
		uint64_t token = token_new(i);

		actor_system_tell(lab.system, ref, &token_type, &token, sizeof(token));
		actor_system_tell(
			lab.system, ref, &counted_type, counted_new(i), sizeof(struct counted));
	}
	lab_run(&lab);
	assert_int_equal(lab_stats(&lab).failed, 200);
	assert_int_equal(lab_stats(&lab).restarted, 200);
	assert_int_equal(counted_alive, 0);
	assert_int_equal(tokens_alive, 0);
}

static int quits_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	(void)message;
	actor_stop_self(ctx);
	return actor_fail(ctx, -EIO, "and out");
}

static void quits_stop(struct actor_ctx *ctx)
{
	actor_fail(ctx, -EPIPE, "too late");
}

static struct actor_class quits_class = {.size = sizeof(quits_class),
	.name = "quits",
	.on_message = quits_message,
	.on_stop = quits_stop};

static void a_failure_while_it_stops_is_logged_and_changes_nothing(void **state)
{
	actor_ref ref;

	actor_system_spawn(lab.system, &quits_class, NULL, &ref);
	actor_system_tell(lab.system, ref, &plain_type, NULL, 0);
	while (lab.logged < 1)
		uv_run(&lab.loop, UV_RUN_NOWAIT);
	lab_run(&lab);
	assert_int_equal(lab.logged, 2); /* the handler's and the hook's */
	assert_non_null(strstr(lab.last_log, "in on_stop"));
	assert_int_equal(lab_stats(&lab).failed, 1);
	assert_int_equal(lab_stats(&lab).restarted, 0);
	assert_int_equal(lab_stats(&lab).terminated, 1);
}

/* ---- starts ---- */

static void case_7_a_start_that_fails_is_tried_again(void **state)
{
	actor_ref ref = member_spawn(&lab, &hooked_class,
		(struct member){.letter = 'a', .fails_starts = 3}, NULL, NULL, 0);

	orders(ref, "..");
	lab_run(&lab);
	assert_string_equal(trail, "+a~a*a~a*a~a*aaa");
	assert_int_equal(lab_stats(&lab).failed, 3);
	assert_int_equal(lab_stats(&lab).restarted, 1);
	assert_int_equal(lab.logged, 3);
	assert_int_equal(lab.dead_letters, 0);
}

static void case_7_a_start_that_always_fails_ends_the_actor(void **state)
{
	actor_ref ref = member_spawn(&lab, &member_class,
		(struct member){.letter = 'a', .fails_start = true}, NULL, NULL, 0);

	orders(ref, "....");
	lab_run(&lab);
	assert_string_equal(trail, "+a-a+a-a+a-a+a-a+a-a+a-a+a-a+a-a+a-a+a-a+a-a");
	assert_int_equal(lab_stats(&lab).failed, 11);
	assert_int_equal(lab_stats(&lab).restarted, 0);
	assert_int_equal(lab_stats(&lab).terminated, 1);
	assert_int_equal(lab.dead_letters, 4);
}

static void case_8_a_failed_start_is_not_resumed_but_tried_again(void **state)
{
	actor_ref ref = member_spawn(&lab, &member_class,
		(struct member){.letter = 'a', .fails_start = true}, NULL, &resumes, 0);

	orders(ref, "....");
	lab_run(&lab);
	assert_int_equal(lab_stats(&lab).failed, 11);
	assert_true(lab_stats(&lab).turns <= 13);
	assert_int_equal(lab_stats(&lab).terminated, 1);
}

static void a_start_that_always_fails_does_not_hold_the_loop(void **state)
{
	static const struct actor_strategy for_ever = S(.max_retries = -1);
	actor_ref ref, other;

	ref = member_spawn(&lab, &member_class, (struct member){.letter = 'a', .fails_start = true},
		NULL, &for_ever, 0);
	other = member_spawn(&lab, &member_class, (struct member){.letter = 'c'}, NULL, NULL, 0);
	orders(other, "..");
	for (int i = 0; i < 10; i++)
		uv_run(&lab.loop, UV_RUN_NOWAIT);
	assert_string_equal(trail_of('c'), "+ccc");
	/* At most one restart per turn, 64 turns per pass. */
	assert_true(lab_stats(&lab).failed <= 10 * 64 + 1);
	actor_system_terminate(lab.system, ref);
	lab_run(&lab);
	assert_int_equal(lab_stats(&lab).terminated, 1);
}

/* ---- families ---- */

static actor_ref lookup(const char *path)
{
	actor_ref ref = actor_lookup(lab.system, path);

	assert_true(ref != 0);
	return ref;
}

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

/* ---- much of it ---- */

static long resident_kib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

static void a_hundred_thousand_restarts_leave_nothing(void **state)
{
	actor_ref ref = member_spawn(&lab, &counts_class, (struct member){0}, NULL, &restarts, 0);
	char one = 1;
	long before = 0;

	for (int i = 0; i < 100000; i++) {
		if (i == 1000)
			before = resident_kib();
		assert_int_equal(actor_system_tell(lab.system, ref, &plain_type, &one, 1), 0);
		if (i % 100 == 99)
			lab_run(&lab);
	}
	lab_run(&lab);
	assert_int_equal(lab_stats(&lab).restarted, 100000);
	assert_true(resident_kib() - before < 2048);
}

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

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(case_4_nothing_is_handled_between_a_failure_and_what_is_decided),
		TEST(case_3_a_stop_in_the_middle_of_a_batch_ends_it),
		TEST(a_restart_keeps_path_ref_and_mail_and_renews_state_and_behaviour),
		TEST(state_begins_with_zeros_or_with_the_bytes_of_the_spawn),
		TEST(the_failure_reaches_the_hooks_and_the_log),
		TEST(failed_messages_are_destroyed_once_and_not_handled_again),
		TEST(a_failure_while_it_stops_is_logged_and_changes_nothing),
		TEST(case_7_a_start_that_fails_is_tried_again),
		TEST(case_7_a_start_that_always_fails_ends_the_actor),
		TEST(case_8_a_failed_start_is_not_resumed_but_tried_again),
		TEST(a_start_that_always_fails_does_not_hold_the_loop),
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
		TEST(a_hundred_thousand_restarts_leave_nothing),
		TEST(a_failure_goes_up_a_hundred_levels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
