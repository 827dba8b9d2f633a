/* SPDX-License-Identifier: MIT */
/* Stops that somebody waits for, from inside and outside, in time and not. */
#include "tests/family.h"

static int setup(void **state)
{
	trail_reset();
	members_alive = 0;
	return 0;
}

static int teardown(void **state)
{
	assert_int_equal(members_alive, 0);
	return 0;
}

static actor_ref spawn(struct lab *lab, char letter, int loop)
{
	return member_spawn(lab, &member_class, (struct member){.letter = letter}, NULL, NULL, loop);
}

static void graceful(struct lab *lab, actor_ref to, actor_ref ref, int32_t ms)
{
	give(lab, to, (struct order){.kind = GRACEFUL, .ref = ref, .number = ms});
}

static void note(struct lab *lab, actor_ref to)
{
	give(lab, to, (struct order){.kind = NOTE});
}

static void by_hand(struct actor_system_options *options)
{
	options->manual_ms = 1000;
}

/* An actor w that stops s, both on the lab's loop and started. */
static void pair_open(struct lab *lab, actor_ref *w, actor_ref *s)
{
	lab_open_with(lab, by_hand);
	*w = spawn(lab, 'w', 0);
	*s = spawn(lab, 's', 0);
	lab_run(lab);
	trail_reset();
}

static void in_time_it_ends_behind_its_mail_and_that_is_told(void **state)
{
	struct lab lab;
	actor_ref w, s;

	pair_open(&lab, &w, &s);
	graceful(&lab, w, s, 100);
	note(&lab, s);
	lab_run(&lab);
	assert_string_equal(trail, "ws-s(s");
	assert_int_equal(last_rc, 0);
	assert_int_equal(last_reason, 0);
	actor_system_advance(lab.system, 1000);
	lab_run(&lab);
	assert_string_equal(trail, "ws-s(s"); /* once */
	lab_close(&lab);
	assert_int_equal(lab.dead_letters, 0);
}

static void what_is_gone_is_told_at_once(void **state)
{
	struct lab lab;
	actor_ref w, s;

	pair_open(&lab, &w, &s);
	actor_system_stop(lab.system, s);
	lab_run(&lab);
	trail_reset();
	graceful(&lab, w, s, 100);
	graceful(&lab, w, UINT64_MAX, 100);
	lab_run(&lab);
	assert_string_equal(trail, "ww(s(?");
	assert_int_equal(last_reason, 0);
	lab_close(&lab);
}

/* Its mailbox does not move while a handler is pending. */
static struct actor_token token;
static _Atomic uint32_t busy;

static int busy_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	int rc = actor_pending(ctx, &token);

	mark(0, 'p');
	atomic_fetch_add(&busy, 1);
	return rc;
}

static void busy_stop(struct actor_ctx *ctx)
{
	mark('-', 'p');
}

static struct actor_class busy_class = {.size = sizeof(busy_class),
	.name = "busy",
	.on_message = busy_message,
	.on_stop = busy_stop};

/* One that has begun with a message, and has two more. */
static actor_ref busy_spawn(struct lab *lab, int loop)
{
	struct actor_spawn_options options = {.size = sizeof(options), .loop = loop};
	actor_ref ref;

	busy = 0;
	assert_int_equal(actor_system_spawn(lab->system, &busy_class, &options, &ref), 0);
	for (int i = 0; i < 3; i++)
		actor_system_tell(lab->system, ref, &plain_type, NULL, 0);
	if (lab->options.loop)
		lab_run(lab);
	for (int i = 0; i < 10000 && !busy; i++)
		sleep_ms(1);
	assert_int_equal(busy, 1);
	trail_reset();
	return ref;
}

static void too_late_it_is_terminated_and_its_mail_is_dead(void **state)
{
	struct lab lab;
	actor_ref w, s, p;

	pair_open(&lab, &w, &s);
	(void)s;
	p = busy_spawn(&lab, 0);
	graceful(&lab, w, p, 100);
	lab_run(&lab);
	actor_system_advance(lab.system, 99);
	lab_run(&lab);
	assert_string_equal(trail, "w");
	actor_system_advance(lab.system, 1);
	lab_run(&lab);
	assert_string_equal(trail, "w(?"); /* not ended yet: its handler is pending */
	assert_int_equal(last_reason, -ETIMEDOUT);
	assert_int_equal(actor_complete(lab.system, token, 0, NULL, NULL), 0);
	lab_run(&lab);
	assert_string_equal(trail, "w(?-p"); /* before the two messages in front of the stop */
	assert_int_equal(lab.dead_letters, 2);
	lab_close(&lab);
	assert_string_equal(trail_of('?'), "(?");
}

static void default_time_is_five_seconds_and_below_0_for_ever(void **state)
{
	struct lab lab;
	actor_ref w, s, p[2];

	pair_open(&lab, &w, &s);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(actor_system_spawn(lab.system, &busy_class, NULL, &p[i]), 0);
		actor_system_tell(lab.system, p[i], &plain_type, NULL, 0);
		lab_run(&lab);
		trail_reset();
		graceful(&lab, w, p[i], -i);
		lab_run(&lab);
		actor_system_advance(lab.system, 4999);
		lab_run(&lab);
		assert_string_equal(trail, "w");
		actor_system_advance(lab.system, i ? 1000000 : 1);
		lab_run(&lab);
		assert_string_equal(trail, i ? "w" : "w(?");
		actor_complete(lab.system, token, 0, NULL, NULL);
		lab_run(&lab);
		assert_string_equal(trail, i ? "w-p(?" : "w(?-p");
	}
	lab_close(&lab);
}

static void asker_that_ends_or_restarts_hears_nothing(void **state)
{
	struct lab lab;
	actor_ref w, s, p;

	pair_open(&lab, &w, &s);
	for (int how = 0; how < 2; how++) {
		assert_int_equal(actor_system_spawn(lab.system, &busy_class, NULL, &p), 0);
		actor_system_tell(lab.system, p, &plain_type, NULL, 0);
		lab_run(&lab);
		graceful(&lab, w, p, 100);
		give(&lab, w, (struct order){.kind = how ? STOP_SELF : FAIL});
		lab_run(&lab);
		trail_reset();
		actor_complete(lab.system, token, 0, NULL, NULL);
		lab_run(&lab);
		actor_system_advance(lab.system, 1000);
		lab_run(&lab);
		assert_string_equal(trail, "-p");
	}
	lab_close(&lab);
	assert_int_equal(lab.dead_letters, 0);
}

static void from_loop_to_loop_in_time_and_not(void **state)
{
	for (int here = 1; here <= 2; here++) {
		struct lab lab;
		actor_ref w, s;

		trail_reset();
		lab_open_owned(&lab, 2);
		w = spawn(&lab, 'w', here);
		s = spawn(&lab, 's', 3 - here);
		assert_true(trail_becomes('s', "+s"));
		graceful(&lab, w, s, 60000);
		assert_true(trail_becomes('s', "+s-s(s"));
		assert_int_equal(last_reason, 0);
		s = busy_spawn(&lab, 3 - here);
		graceful(&lab, w, s, 1);
		assert_true(trail_becomes('?', "(?"));
		assert_int_equal(last_reason, -ETIMEDOUT);
		sleep_ms(20); /* the order to end may still be on its way */
		assert_int_equal(actor_complete(lab.system, token, 0, NULL, NULL), 0);
		assert_true(trail_becomes('p', "-p"));
		lab_close(&lab);
		assert_int_equal(lab.dead_letters, 2);
	}
}

/* ---- from outside ---- */

static void thread_waits_for_the_end(void **state)
{
	struct lab lab;
	actor_ref s;

	lab_open_owned(&lab, 2);
	for (int i = 0; i < 20; i++) {
		s = spawn(&lab, 's', 1 + i % 2);
		note(&lab, s);
		assert_int_equal(actor_system_stop_wait(lab.system, s, i % 3 ? 0 : -1), 0);
		assert_string_equal(trail_of('s'), "+ss-s");
		assert_int_equal(actor_system_stop_wait(lab.system, s, 0), 0); /* gone */
		trail_reset();
	}
	assert_int_equal(actor_system_stop_wait(lab.system, UINT64_MAX, 0), 0);
	s = busy_spawn(&lab, 1);
	assert_int_equal(actor_system_stop_wait(lab.system, s, 1), -ETIMEDOUT);
	sleep_ms(20);
	assert_int_equal(actor_complete(lab.system, token, 0, NULL, NULL), 0);
	assert_int_equal(actor_system_stop_wait(lab.system, s, 0), 0);
	assert_string_equal(trail, "-p");
	lab_close(&lab);
	assert_int_equal(lab.dead_letters, 2);
}

static _Atomic uint32_t gone, late, cancelled, strange;

static void on_gone(void *data, int status, const struct actor_message *reply)
{
	if (reply || data != &gone)
		atomic_fetch_add(&strange, 1);
	else if (status == 0)
		atomic_fetch_add(&gone, 1);
	else if (status == -ETIMEDOUT)
		atomic_fetch_add(&late, 1);
	else if (status == -ECANCELED)
		atomic_fetch_add(&cancelled, 1);
	else
		atomic_fetch_add(&strange, 1);
}

static void wait_for(_Atomic uint32_t *what, uint32_t count)
{
	for (int i = 0; i < 20000 && atomic_load(what) < count; i++)
		sleep_ms(1);
	assert_int_equal(*what, count);
}

static void callback_tells_of_the_end(void **state)
{
	struct lab lab;
	actor_ref s;

	gone = late = cancelled = strange = 0;
	lab_open_owned(&lab, 2);
	for (uint32_t i = 0; i < 100; i++) {
		s = spawn(&lab, 's', 1 + (int)i % 2);
		assert_int_equal(
			actor_system_stop_async(lab.system, s, i % 3 ? 0 : -1, on_gone, &gone), 0);
		if (i % 5 == 0) { /* twice, and of one that may be gone */
			assert_int_equal(actor_system_stop_async(
						 lab.system, s, 60000, on_gone, &gone),
				0);
			wait_for(&gone, i + i / 5 + 2);
		}
	}
	wait_for(&gone, 120);
	s = busy_spawn(&lab, 1);
	assert_int_equal(actor_system_stop_async(lab.system, s, 1, on_gone, &gone), 0);
	wait_for(&late, 1);
	assert_int_equal(actor_complete(lab.system, token, 0, NULL, NULL), 0);
	assert_true(trail_becomes('p', "-p"));
	lab_close(&lab);
	assert_int_equal(lab.dead_letters, 2);
	assert_int_equal(gone + late, 121);
	assert_int_equal(cancelled + strange, 0);
}

/* On the loop's own thread, by a clock of the test's. */
static void callback_on_the_loops_own_thread(void **state)
{
	struct lab lab;
	actor_ref w, s, p;

	gone = late = cancelled = strange = 0;
	pair_open(&lab, &w, &s);
	(void)w;
	assert_int_equal(actor_system_stop_async(lab.system, s, 10, on_gone, &gone), 0);
	lab_run(&lab);
	assert_int_equal(gone, 1);
	assert_int_equal(actor_system_stop_async(lab.system, s, 10, on_gone, &gone), 0);
	lab_run(&lab);
	assert_int_equal(gone, 2);
	p = busy_spawn(&lab, 0);
	assert_int_equal(actor_system_stop_async(lab.system, p, 10, on_gone, &gone), 0);
	actor_system_advance(lab.system, 9);
	lab_run(&lab);
	assert_int_equal(late, 0);
	actor_system_advance(lab.system, 1);
	lab_run(&lab);
	assert_int_equal(late, 1);
	actor_complete(lab.system, token, 0, NULL, NULL);
	lab_run(&lab);
	assert_string_equal(trail, "-p");
	assert_int_equal(lab.dead_letters, 2);
	lab_close(&lab);
	assert_int_equal(gone, 2);
	assert_int_equal(late, 1);
	assert_int_equal(cancelled + strange, 0);
}

/* Closing begins while threads wait: each comes back once, with an answer of the four. */
static struct lab *closing;
static actor_ref sleepers[8];
static _Atomic uint32_t returned, waiting;

static void *waiting_main(void *data)
{
	uint32_t i = (uint32_t)(uintptr_t)data;
	int rc;

	atomic_fetch_add(&waiting, 1);
	rc = actor_system_stop_wait(closing->system, sleepers[i], i % 2 ? 60000 : 30);
	if (rc != 0 && rc != -ETIMEDOUT && rc != -ECANCELED && rc != ACTOR_ECLOSED)
		atomic_fetch_add(&strange, 1);
	atomic_fetch_add(&returned, 1);
	return NULL;
}

static void closing_lets_all_go_who_wait(void **state)
{
	for (int round = 0; round < 5; round++) {
		pthread_t threads[8];
		struct lab lab;

		returned = waiting = strange = 0;
		lab_open_owned(&lab, 2);
		closing = &lab;
		for (int i = 0; i < 8; i++) {
			sleepers[i] = spawn(&lab, 's', 1 + i % 2);
			give(&lab, sleepers[i], (struct order){.kind = SLEEP, .number = 10 * round});
		}
		for (uintptr_t i = 0; i < 8; i++)
			pthread_create(&threads[i], NULL, waiting_main, (void *)i);
		while (waiting < 8)
			sleep_ms(1);
		sleep_ms(10); /* all have entered the library, see actor_system_close() */
		lab_close(&lab);
		for (int i = 0; i < 8; i++)
			pthread_join(threads[i], NULL);
		assert_int_equal(returned, 8);
		assert_int_equal(strange, 0);
	}
}

/* ---- wrong calls and memory ---- */

static int wrong_rc[3];

static int wrong_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	wrong_rc[0] = actor_stop_within(ctx, actor_self(ctx), 0, NULL, NULL);
	wrong_rc[1] = actor_stop_within(ctx, ACTOR_NONE, 0, NULL, NULL);
	wrong_rc[2] = actor_system_stop_wait(actor_ctx_system(ctx), 77, 0);
	return 0;
}

static int stop_rc;

static void wrong_stop(struct actor_ctx *ctx)
{
	stop_rc = actor_stop_within(ctx, 77, 0, NULL, NULL);
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
	assert_int_equal(wrong_rc[2], -EDEADLK);
	assert_int_equal(lab.logged, 2);
	assert_int_equal(actor_stop_within(NULL, ref, 0, NULL, NULL), -EINVAL);
	assert_int_equal(actor_system_stop_wait(NULL, ref, 0), -EINVAL);
	assert_int_equal(actor_system_stop_wait(lab.system, ACTOR_NONE, 0), -EINVAL);
	assert_int_equal(actor_system_stop_wait(lab.system, ref, 0), -EDEADLK);
	assert_int_equal(actor_system_stop_async(NULL, ref, 0, on_gone, NULL), -EINVAL);
	assert_int_equal(
		actor_system_stop_async(lab.system, ACTOR_NONE, 0, on_gone, NULL), -EINVAL);
	assert_int_equal(actor_system_stop_async(lab.system, ref, 0, NULL, NULL), -EINVAL);
	actor_system_stop(lab.system, ref);
	lab_run(&lab);
	assert_int_equal(stop_rc, ACTOR_ECLOSED);
	lab_close(&lab);
}

/* Each allocation fails in turn: an error, and nothing was asked for; or it is told of the end. */
static void without_memory_it_is_refused_or_told(void **state)
{
	lab_heap_begin();
	for (int from = 0; from < 2; from++) {
		for (int64_t n = 1; n <= 10; n++) {
			enum lab_heap_failure how = n % 2 ? LAB_FAIL_ONCE : LAB_FAIL_FROM_THEN_ON;
			struct lab lab;
			actor_ref w, s;
			int rc;

			gone = late = cancelled = strange = 0;
			pair_open(&lab, &w, &s);
			if (!from)
				graceful(&lab, w, s, 100);
			lab_heap_fail((n + 1) / 2, how, 0);
			rc = from ? actor_system_stop_async(lab.system, s, 100, on_gone, &gone) : 0;
			lab_run(&lab);
			lab_heap_fail(0, LAB_FAIL_ONCE, 0);
			for (int i = 0; i < 4; i++) {
				actor_system_advance(lab.system, 1);
				lab_run(&lab);
			}
			if (!from)
				rc = last_rc;
			if (rc)
				assert_int_equal(rc, -ENOMEM);
			assert_int_equal(strstr(trail, "-s") != NULL, rc == 0);
			if (from)
				assert_int_equal(gone, rc == 0);
			else
				assert_int_equal(strstr(trail, "(s") != NULL, rc == 0);
			lab_close(&lab);
			assert_int_equal(late + cancelled + strange, 0);
		}
	}
	lab_heap_end();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(in_time_it_ends_behind_its_mail_and_that_is_told),
		TEST(what_is_gone_is_told_at_once),
		TEST(too_late_it_is_terminated_and_its_mail_is_dead),
		TEST(default_time_is_five_seconds_and_below_0_for_ever),
		TEST(asker_that_ends_or_restarts_hears_nothing),
		TEST(from_loop_to_loop_in_time_and_not),
		TEST(thread_waits_for_the_end),
		TEST(callback_tells_of_the_end),
		TEST(callback_on_the_loops_own_thread),
		TEST(closing_lets_all_go_who_wait),
		TEST(wrong_calls_are_refused),
		TEST(without_memory_it_is_refused_or_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
