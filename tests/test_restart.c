/* SPDX-License-Identifier: MIT */
/* Failures of one actor and what comes of them: its restarts, its starts. */
#include "tests/failing.h"

#include <stdio.h>
#include <sys/resource.h>

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
		TEST(a_hundred_thousand_restarts_leave_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
