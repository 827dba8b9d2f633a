/* SPDX-License-Identifier: MIT */
/* Watching the end of others: who is told, when, how often, and what undoes it. */
#include "tests/watching.h"

static void end_is_told_once_after_on_stop(void **state)
{
	struct lab lab;
	actor_ref w, s;

	pair_open(&lab, &w, &s);
	ask_for(&lab, w, WATCH, s);
	lab_run(&lab);
	assert_int_equal(last_rc, 0);
	ask_for(&lab, w, WATCH, s);
	ask_for(&lab, w, WATCH, s);
	lab_run(&lab);
	assert_int_equal(last_rc, 0);
	assert_int_equal(actor_system_stop(lab.system, s), 0);
	lab_run(&lab);
	assert_string_equal(trail, "www-s(s");
	assert_int_equal(last_reason, 0);
	assert_int_equal(lab_stats(&lab).delivered, 4);
	lab_close(&lab);
	assert_int_equal(lab.dead_letters, 0);
	assert_string_equal(trail_of('w'), "www-w");
}

static void failure_that_ends_it_is_told(void **state)
{
	struct lab lab;
	actor_ref w, s;

	lab_open(&lab, NULL);
	w = spawn(&lab, 'w', 0);
	s = member_spawn(
		&lab, &member_class, (struct member){.letter = 's'}, NULL, &lab_stops, 0);
	ask_for(&lab, w, WATCH, s);
	lab_run(&lab);
	trail_reset();
	give(&lab, s, (struct order){.kind = FAIL, .number = -EXDEV});
	lab_run(&lab);
	assert_string_equal(trail, "!s-s(s");
	assert_int_equal(last_reason, -EXDEV);
	lab_close(&lab);
}

static void case_7_start_that_fails_for_good_is_told(void **state)
{
	struct lab lab;
	actor_ref w, s;

	lab_open(&lab, NULL);
	w = spawn(&lab, 'w', 0);
	lab_run(&lab);
	s = member_spawn(&lab, &member_class, (struct member){.letter = 's', .fails_start = true},
		NULL, &lab_stops, 0);
	ask_for(&lab, w, WATCH, s); /* its turn comes when that of s is over */
	lab_run(&lab);
	assert_string_equal(trail, "+w+s-sw(s");
	assert_int_equal(last_reason, -ENOENT);
	/* And one that had begun well, whose next instance fails. */
	s = member_spawn(&lab, &hooked_class, (struct member){.letter = 't'}, NULL, &lab_stops, 0);
	ask_for(&lab, w, WATCH, s);
	lab_run(&lab);
	trail_reset();
	give(&lab, s, (struct order){.kind = FAIL});
	lab_run(&lab);
	assert_string_equal(trail, "!t-t(t");
	assert_int_equal(last_reason, -EIO);
	lab_close(&lab);
}

static void what_is_gone_already_is_told_at_once(void **state)
{
	struct lab lab;
	actor_ref w, s;
	const actor_ref strangers[] = {UINT64_MAX, 1, (actor_ref)200 << 56 | 7};

	pair_open(&lab, &w, &s);
	actor_system_terminate(lab.system, s);
	lab_run(&lab);
	trail_reset();
	ask_for(&lab, w, WATCH, s);
	ask_for(&lab, w, NOTE, 0);
	lab_run(&lab);
	assert_string_equal(trail, "ww(s"); /* behind what is queued */
	assert_int_equal(last_reason, -ENOENT);
	ask_for(&lab, w, WATCH, s); /* and again, since that watch is over */
	lab_run(&lab);
	assert_string_equal(trail, "ww(sw(s");
	for (size_t i = 0; i < COUNT(strangers); i++) {
		last_reason = 1;
		ask_for(&lab, w, WATCH, strangers[i]);
		lab_run(&lab);
		assert_int_equal(last_rc, 0);
		assert_int_equal(last_reason, -ENOENT);
	}
	lab_close(&lab);
}

/* ---- unwatch ---- */

static void unwatched_end_is_not_told(void **state)
{
	struct lab lab;
	actor_ref w, s;

	pair_open(&lab, &w, &s);
	ask_for(&lab, w, WATCH, s);
	ask_for(&lab, w, UNWATCH, s);
	lab_run(&lab);
	assert_int_equal(last_rc, 0);
	ask_for(&lab, w, UNWATCH, s);
	lab_run(&lab);
	assert_int_equal(last_rc, -ENOENT);
	actor_system_stop(lab.system, s);
	lab_run(&lab);
	assert_string_equal(trail, "www-s");
	lab_close(&lab);
	assert_int_equal(lab.dead_letters, 0);
}

static void unwatch_takes_back_what_is_queued(void **state)
{
	struct lab lab;
	actor_ref w, s;

	pair_open(&lab, &w, &s);
	ask_for(&lab, w, WATCH, s);
	lab_run(&lab);
	trail_reset();
	ask_for(&lab, s, STOP_SELF, 0);
	ask_for(&lab, w, UNWATCH, s); /* s has its turn first: the word is queued behind this */
	lab_run(&lab);
	assert_string_equal(trail, "s-sw");
	assert_int_equal(last_rc, 0);
	assert_int_equal(lab_stats(&lab).delivered, 3);
	lab_close(&lab);
	assert_int_equal(lab.dead_letters, 0);
}

static void watching_anew_while_the_word_is_queued_tells_once(void **state)
{
	struct lab lab;
	actor_ref w, s;

	pair_open(&lab, &w, &s);
	ask_for(&lab, w, WATCH, s);
	lab_run(&lab);
	trail_reset();
	ask_for(&lab, s, STOP_SELF, 0);
	ask_for(&lab, w, UNWATCH, s);
	ask_for(&lab, w, WATCH, s);
	ask_for(&lab, w, WATCH, s);
	lab_run(&lab);
	assert_string_equal(trail, "s-swww(s");
	assert_int_equal(last_reason, -ENOENT); /* of the second watch */
	lab_close(&lab);
}

static void unwatched_word_is_no_dead_letter_when_the_watcher_ends(void **state)
{
	struct lab lab;
	actor_ref w, s;

	pair_open(&lab, &w, &s);
	give(&lab, w, (struct order){.kind = WATCH_WITH, .ref = s, .number = 'x'});
	lab_run(&lab);
	ask_for(&lab, s, STOP_SELF, 0);
	ask_for(&lab, w, UNWATCH, s);
	ask_for(&lab, w, STOP_SELF, s);
	lab_run(&lab);
	assert_int_equal(lab.dead_letters, 0);
	assert_int_equal(tokens_alive, 0);
	lab_close(&lab);
}

/* ---- messages of the watcher's choice ---- */

static void last_of_several_watches_counts(void **state)
{
	struct lab lab;
	actor_ref w, s;

	pair_open(&lab, &w, &s);
	give(&lab, w, (struct order){.kind = WATCH_WITH, .ref = s, .number = 'x'});
	give(&lab, w, (struct order){.kind = WATCH_WITH, .ref = s, .number = 'y'});
	lab_run(&lab);
	assert_int_equal(tokens_alive, 1);
	trail_reset();
	actor_system_stop(lab.system, s);
	lab_run(&lab);
	assert_string_equal(trail, "-s(y");
	trail_reset();
	s = spawn(&lab, 's', 0);
	give(&lab, w, (struct order){.kind = WATCH_WITH, .ref = s, .number = 'x'});
	ask_for(&lab, w, WATCH, s);
	lab_run(&lab);
	assert_int_equal(tokens_alive, 0);
	actor_system_stop(lab.system, s);
	lab_run(&lab);
	assert_string_equal(trail, "+sww-s(s");
	trail_reset();
	s = spawn(&lab, 's', 0);
	ask_for(&lab, w, WATCH, s);
	lab_run(&lab);
	ask_for(&lab, s, STOP_SELF, 0); /* the word is queued when the second call comes */
	give(&lab, w, (struct order){.kind = WATCH_WITH, .ref = s, .number = 'z'});
	lab_run(&lab);
	assert_string_equal(trail, "+sws-sw(z");
	lab_close(&lab);
}

static void message_of_a_watch_is_destroyed_once_whatever_happens(void **state)
{
	struct lab lab;
	actor_ref w, s;

	pair_open(&lab, &w, &s);
	give(&lab, w, (struct order){.kind = WATCH_WITH, .ref = s, .number = 'x'});
	ask_for(&lab, w, UNWATCH, s);
	lab_run(&lab);
	assert_int_equal(tokens_alive, 0);
	give(&lab, w, (struct order){.kind = WATCH_WITH, .ref = s, .number = 'x'});
	ask_for(&lab, w, STOP_SELF, 0);
	lab_run(&lab);
	assert_int_equal(tokens_alive, 0);
	assert_int_equal(lab.dead_letters, 0);
	w = spawn(&lab, 'w', 0);
	give(&lab, w, (struct order){.kind = WATCH_WITH, .ref = s, .number = 'x'});
	lab_run(&lab);
	ask_for(&lab, s, STOP_SELF, 0);
	ask_for(&lab, w, STOP_SELF, 0); /* the word is left in its mailbox */
	lab_run(&lab);
	assert_int_equal(lab.dead_letters, 1);
	assert_int_equal(tokens_alive, 0);
	lab_close(&lab);
	assert_int_equal(lab.dead_letters, 1);
}

/* Above 32 bytes the block is handed over, or copied. */
static struct counted *heavy;
static uint32_t heavy_seen;
static int heavy_rc;
static actor_ref heavy_subject;

static int heavy_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	if (m->type == &plain_type && m->bytes == 0)
		heavy_rc = actor_watch_with(
			ctx, heavy_subject, &counted_type, heavy, sizeof(*heavy));
	else if (m->type == &plain_type && m->bytes == 1)
		heavy_rc = actor_watch_with(ctx, heavy_subject, &plain_type,
			"forty bytes of text, and then some more.", 41);
	else if (m->type == &counted_type)
		heavy_seen += m->payload == heavy && m->sender == heavy_subject;
	else
		heavy_seen += strcmp(m->payload, "forty bytes of text, and then some more.") == 0;
	return 0;
}

static struct actor_class heavy_class = {
	.size = sizeof(heavy_class), .name = "heavy", .on_message = heavy_message};

static void large_messages_travel_by_pointer(void **state)
{
	struct lab lab;
	actor_ref w, s;

	heavy_seen = 0;
	pair_open(&lab, &w, &s);
	assert_int_equal(actor_system_spawn(lab.system, &heavy_class, NULL, &w), 0);
	for (int how = 0; how < 2; how++) {
		heavy_subject = s;
		if (!how)
			heavy = counted_new(7);
		actor_system_tell(lab.system, w, &plain_type, "", (size_t)how);
		lab_run(&lab);
		assert_int_equal(heavy_rc, 0);
		actor_system_stop(lab.system, s);
		lab_run(&lab);
		assert_int_equal(heavy_seen, 1 + how);
		assert_int_equal(counted_alive, 0);
		s = spawn(&lab, 's', 0);
	}
	lab_close(&lab);
}

/* ---- restarts, and the end of the watcher ---- */

static void restart_of_either_keeps_the_watch(void **state)
{
	struct lab lab;
	actor_ref w, s;

	pair_open(&lab, &w, &s);
	ask_for(&lab, w, WATCH, s);
	give(&lab, s, (struct order){.kind = FAIL});
	lab_run(&lab);
	give(&lab, w, (struct order){.kind = FAIL});
	lab_run(&lab);
	assert_null(strchr(trail, '('));
	trail_reset();
	actor_system_stop(lab.system, s);
	lab_run(&lab);
	assert_string_equal(trail, "-s(s");
	/* A word that is queued when the watcher is restarted. */
	s = spawn(&lab, 's', 0);
	ask_for(&lab, w, WATCH, s);
	lab_run(&lab);
	trail_reset();
	ask_for(&lab, s, STOP_SELF, 0);
	give(&lab, w, (struct order){.kind = FAIL});
	lab_run(&lab);
	assert_string_equal(trail, "s-s!w-w+w(s");
	lab_close(&lab);
}

static void end_of_the_watcher_leaves_nothing_at_the_subject(void **state)
{
	struct lab lab;
	actor_ref s;
	int64_t blocks;

	lab_heap_begin();
	lab_open(&lab, NULL);
	s = spawn(&lab, 's', 0);
	for (int i = 0; i < 2; i++) { /* once to warm up */
		actor_ref w = spawn(&lab, 'w', 0);

		ask_for(&lab, w, WATCH, s);
		actor_system_stop(lab.system, w);
		lab_run(&lab);
	}
	blocks = lab_heap_blocks;
	for (int i = 0; i < 1000; i++) {
		actor_ref w = spawn(&lab, 'w', 0);

		ask_for(&lab, w, WATCH, s);
		actor_system_stop(lab.system, w);
		lab_run(&lab);
	}
	assert_true(lab_heap_blocks < blocks + 100);
	actor_system_stop(lab.system, s);
	lab_run(&lab);
	assert_null(strchr(trail, '('));
	assert_int_equal(lab.dead_letters, 0);
	lab_close(&lab);
	lab_heap_end();
}

/* ---- case 13 ---- */

static void case_13_name_that_is_spawned_again_is_another_subject(void **state)
{
	struct lab lab;
	actor_ref w, first, second;

	lab_open(&lab, NULL);
	w = spawn(&lab, 'w', 0);
	first = member_spawn(
		&lab, &member_class, (struct member){.letter = 'a'}, "same", NULL, 0);
	ask_for(&lab, w, WATCH, first);
	lab_run(&lab);
	trail_reset();
	ask_for(&lab, first, STOP_SELF, 0);
	ask_for(&lab, w, SLEEP, 0); /* so that the word is queued, not handled */
	while (actor_lookup(lab.system, "/user/same"))
		uv_run(&lab.loop, UV_RUN_NOWAIT);
	second = member_spawn(
		&lab, &member_class, (struct member){.letter = 'b'}, "same", NULL, 0);
	ask_for(&lab, w, WATCH, second);
	lab_run(&lab);
	assert_true(strstr(trail, "(a"));
	assert_null(strstr(trail, "(b"));
	assert_int_equal(last_rc, 0);
	/* And the watch of the first one is none of the second. */
	ask_for(&lab, w, UNWATCH, first);
	lab_run(&lab);
	assert_int_equal(last_rc, -ENOENT);
	trail_reset();
	actor_system_stop(lab.system, second);
	lab_run(&lab);
	assert_string_equal(trail, "-b(b");
	lab_close(&lab);
}

/* The name is free when the watcher hears of the end, on whatever loop it does. */
static int again_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct actor_spawn_options options = {.size = sizeof(options), .name = "again", .loop = 2};
	static uint32_t rounds;
	actor_ref ref;
	int rc = 0;

	if (m->type == &plain_type)
		rounds = 0;
	else if (++rounds == 200)
		actor_stop_self(ctx);
	rc = actor_spawn(ctx, &heavy_class, &options, &ref);
	if (!rc)
		rc = actor_watch(ctx, ref);
	if (!rc)
		rc = actor_stop(ctx, ref);
	if (rc)
		last_rc = rc;
	return 0;
}

static struct actor_class again_class = {
	.size = sizeof(again_class), .name = "again", .on_message = again_message};

static void name_is_free_when_the_end_is_told(void **state)
{
	struct actor_spawn_options options = {.size = sizeof(options), .loop = 1};
	struct lab lab;
	actor_ref w;

	lab_open_owned(&lab, 2);
	last_rc = 0;
	assert_int_equal(actor_system_spawn(lab.system, &again_class, &options, &w), 0);
	actor_system_tell(lab.system, w, &plain_type, NULL, 0);
	assert_true(lab_wait_terminated(&lab, 202));
	assert_int_equal(last_rc, 0);
	lab_close(&lab);
}

/* ---- wrong calls ---- */

static int wrong_rc[5];

static int wrong_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	uint64_t value = token_new(1);

	wrong_rc[0] = actor_watch(ctx, actor_self(ctx));
	wrong_rc[1] = actor_watch(ctx, ACTOR_NONE);
	wrong_rc[2] = actor_watch_with(
		ctx, actor_self(ctx), &token_type, &value, sizeof(value));
	wrong_rc[3] = actor_watch_with(ctx, m->sender + 1, NULL, &value, sizeof(value));
	wrong_rc[4] = actor_unwatch(ctx, ACTOR_NONE);
	token_type.destroy(&value, sizeof(value)); /* it stayed the caller's */
	return 0;
}

static int stop_rc;

static void wrong_stop(struct actor_ctx *ctx)
{
	stop_rc = actor_watch(ctx, 77);
}

static struct actor_class wrong_class = {.size = sizeof(wrong_class),
	.name = "wrong",
	.on_message = wrong_message,
	.on_stop = wrong_stop};

static void wrong_calls_are_refused(void **state)
{
	struct lab lab;
	actor_ref ref;

	lab_open(&lab, NULL);
	assert_int_equal(actor_system_spawn(lab.system, &wrong_class, NULL, &ref), 0);
	actor_system_tell(lab.system, ref, &plain_type, NULL, 0);
	lab_run(&lab);
	assert_int_equal(wrong_rc[0], -EINVAL);
	assert_int_equal(wrong_rc[1], -EINVAL);
	assert_int_equal(wrong_rc[2], -EINVAL);
	assert_int_equal(wrong_rc[3], ACTOR_ETYPE);
	assert_int_equal(wrong_rc[4], -ENOENT);
	assert_int_equal(lab.logged, 3);
	assert_int_equal(actor_watch(NULL, ref), -EINVAL);
	assert_int_equal(actor_watch_with(NULL, ref, &plain_type, NULL, 0), -EINVAL);
	assert_int_equal(actor_unwatch(NULL, ref), -EINVAL);
	actor_system_stop(lab.system, ref);
	lab_run(&lab);
	assert_int_equal(stop_rc, ACTOR_ECLOSED);
	lab_close(&lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(end_is_told_once_after_on_stop),
		TEST(failure_that_ends_it_is_told),
		TEST(case_7_start_that_fails_for_good_is_told),
		TEST(what_is_gone_already_is_told_at_once),
		TEST(unwatched_end_is_not_told),
		TEST(unwatch_takes_back_what_is_queued),
		TEST(watching_anew_while_the_word_is_queued_tells_once),
		TEST(unwatched_word_is_no_dead_letter_when_the_watcher_ends),
		TEST(last_of_several_watches_counts),
		TEST(message_of_a_watch_is_destroyed_once_whatever_happens),
		TEST(large_messages_travel_by_pointer),
		TEST(restart_of_either_keeps_the_watch),
		TEST(end_of_the_watcher_leaves_nothing_at_the_subject),
		TEST(case_13_name_that_is_spawned_again_is_another_subject),
		TEST(name_is_free_when_the_end_is_told),
		TEST(wrong_calls_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
