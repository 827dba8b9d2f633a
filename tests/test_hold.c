/* SPDX-License-Identifier: MIT */
/* Suspension by hand: what waits, what gets through, and that supervision's own suspension is another
 * matter. */
#include "tests/family.h"

#include <unistd.h>

#define S(...)                                                                                     \
	{                                                                                          \
		.size = sizeof(struct actor_strategy), __VA_ARGS__                                 \
	}

static const struct actor_strategy resumes = S(.directive = ACTOR_DIRECTIVE_RESUME);
static const struct actor_strategy slow =
	S(.backoff_min_ms = 100, .backoff_max_ms = 100, .jitter_percent = -1);

static struct lab lab;

static void with_manual_clock(struct actor_system_options *options)
{
	options->manual_ms = 1;
}

static int setup(void **state)
{
	alarm(100); /* what hangs is killed */
	trail_reset();
	members_alive = 0;
	lab_open_with(&lab, with_manual_clock);
	return 0;
}

static int setup_owned(void **state)
{
	alarm(100);
	trail_reset();
	members_alive = 0;
	lab_open_owned(&lab, 3);
	return 0;
}

static int teardown(void **state)
{
	lab_close(&lab);
	assert_int_equal(members_alive, 0);
	alarm(0);
	return 0;
}

static actor_ref member(const char *name, struct actor_class *cls,
	const struct actor_strategy *strategy, int loop)
{
	return member_spawn(
		&lab, cls, (struct member){.letter = name[0]}, name, strategy, loop);
}

static void orders(actor_ref ref, const char *kinds)
{
	for (; *kinds; kinds++)
		give(&lab, ref, (struct order){.kind = *kinds == '!' ? FAIL : NOTE});
}

static void suspend(actor_ref ref)
{
	assert_int_equal(actor_system_suspend(lab.system, ref), 0);
}

static void resume(actor_ref ref)
{
	assert_int_equal(actor_system_resume(lab.system, ref), 0);
}

static void run_expect(const char *text)
{
	lab_run(&lab);
	assert_string_equal(trail, text);
}

static void advance(uint64_t ms)
{
	assert_int_equal(actor_system_advance(lab.system, ms), 0);
}

/* ---- what it does ---- */

static void mail_waits_until_it_is_resumed(void **state)
{
	actor_ref a = member("a", &member_class, NULL, 0);
	uint64_t turns;

	run_expect("+a");
	orders(a, "."); /* it is queued before, and not handled yet */
	suspend(a);
	suspend(a); /* not counted */
	orders(a, "..");
	turns = lab_stats(&lab).turns;
	run_expect("+a");
	assert_true(lab_stats(&lab).turns <= turns + 1); /* it does not spin */
	resume(a);
	run_expect("+aaaa");
	resume(a); /* of one that is not suspended */
	orders(a, ".");
	run_expect("+aaaaa");
	assert_int_equal(lab_stats(&lab).dead_letters, 0);
}

static void on_start_runs_of_one_that_is_suspended_before(void **state)
{
	actor_ref a = member("a", &member_class, NULL, 0);

	orders(a, ".");
	suspend(a);
	run_expect("+a");
	resume(a);
	run_expect("+aa");
}

static void children_are_not_suspended(void **state)
{
	actor_ref a = member("a", &member_class, NULL, 0);
	actor_ref c;

	give(&lab, a, (struct order){SPAWN, 'c'});
	lab_run(&lab);
	c = actor_lookup(lab.system, "/user/a/c");
	suspend(a);
	orders(a, ".");
	orders(c, ".");
	run_expect("+aa+cc");
	resume(a);
	run_expect("+aa+cca");
}

/* Its handler suspends itself, and perhaps resumes itself at once. */
static int own_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	struct order o;

	memcpy(&o, message->payload, sizeof(o));
	mark(0, o.letter);
	if (o.letter == 's' || o.letter == 'x' || o.letter == 'k' || o.letter == 't')
		assert_int_equal(actor_suspend(ctx, actor_self(ctx)), 0);
	if (o.letter == 'x')
		assert_int_equal(actor_resume(ctx, actor_self(ctx)), 0);
	if (o.letter == 'k')
		assert_int_equal(actor_kill(ctx, actor_self(ctx)), 0);
	if (o.letter == 't')
		assert_int_equal(actor_stop(ctx, actor_self(ctx)), 0);
	if (o.letter == 'o')
		assert_int_equal(actor_suspend(ctx, o.ref), 0);
	if (o.letter == 'r')
		assert_int_equal(actor_resume(ctx, o.ref), 0);
	return 0;
}

static int own_start(struct actor_ctx *ctx)
{
	mark('+', 'w');
	return 0;
}

static struct actor_class own_class = {.size = sizeof(struct actor_class),
	.name = "own",
	.on_start = own_start,
	.on_message = own_message};

static actor_ref own(int loop)
{
	struct actor_spawn_options options = {.size = sizeof(options), .loop = loop};
	actor_ref ref = 0;

	assert_int_equal(actor_system_spawn(lab.system, &own_class, &options, &ref), 0);
	return ref;
}

static void letters(actor_ref ref, const char *text)
{
	for (; *text; text++)
		give(&lab, ref, (struct order){.kind = NOTE, .letter = *text});
}

static void a_handler_suspends_its_actor_after_this_message(void **state)
{
	actor_ref w = own(0);

	letters(w, "asbxcsd"); /* all of one turn */
	run_expect("+was");
	resume(w);
	run_expect("+wasbxcs");
	resume(w);
	run_expect("+wasbxcsd");
	letters(w, "kef"); /* killed: restarted, and still suspended */
	run_expect("+wasbxcsdk+w");
	assert_int_equal(lab_stats(&lab).restarted, 1);
	resume(w);
	run_expect("+wasbxcsdk+wef");
	letters(w, "tgh");
	run_expect("+wasbxcsdk+weft");
	assert_int_equal(lab_stats(&lab).dead_letters, 2);
}

static void another_actor_suspends_and_resumes_it(void **state)
{
	actor_ref w = own(0);
	actor_ref a = member("a", &member_class, NULL, 0);

	lab_run(&lab);
	trail_reset();
	give(&lab, w, (struct order){.kind = NOTE, .letter = 'o', .ref = a});
	lab_run(&lab);
	orders(a, "..");
	run_expect("o");
	give(&lab, w, (struct order){.kind = NOTE, .letter = 'r', .ref = a});
	run_expect("oraa");
}

/* ---- what gets through ---- */

static void a_stop_ends_it_and_its_mail_is_dead_letters(void **state)
{
	static int (*const ways[])(struct actor_system *, actor_ref) = {
		actor_system_stop, actor_system_terminate};

	for (uint32_t i = 0; i < COUNT(ways); i++) {
		actor_ref a = member("a", &member_class, NULL, 0);

		trail_reset();
		lab_run(&lab);
		suspend(a);
		orders(a, "...");
		run_expect("+a");
		assert_int_equal(ways[i](lab.system, a), 0);
		run_expect("+a-a");
		assert_int_equal(lab_stats(&lab).dead_letters, 3 * (i + 1));
		assert_int_equal(lab_stats(&lab).terminated, i + 1);
		suspend(a); /* it is gone */
		resume(a);
		lab_run(&lab);
	}
	assert_int_equal(lab_stats(&lab).dead_letters, 6);
}

static void a_stop_that_was_queued_before_waits_for_its_place(void **state)
{
	actor_ref a = member("a", &member_class, NULL, 0);

	lab_run(&lab);
	orders(a, ".");
	assert_int_equal(actor_system_stop(lab.system, a), 0);
	suspend(a);
	run_expect("+a");
	resume(a);
	run_expect("+aa-a");
}

static void a_kill_restarts_it_and_leaves_it_suspended(void **state)
{
	actor_ref a = member("a", &hooked_class, NULL, 0);

	lab_run(&lab);
	suspend(a);
	orders(a, ".");
	assert_int_equal(actor_system_kill(lab.system, a), 0);
	run_expect("+a~a*a");
	assert_int_equal(last_reason, ACTOR_EKILLED);
	assert_int_equal(lab_stats(&lab).failed, 1);
	assert_int_equal(lab_stats(&lab).restarted, 1);
	resume(a);
	run_expect("+a~a*aa");
}

static void a_kill_of_a_suspended_one_may_stop_it(void **state)
{
	actor_ref a = member("a", &hooked_class, &lab_stops, 0);

	lab_run(&lab);
	suspend(a);
	orders(a, "..");
	assert_int_equal(actor_system_kill(lab.system, a), 0);
	run_expect("+a-a");
	assert_int_equal(lab_stats(&lab).dead_letters, 2);
}

static void closing_ends_a_suspended_actor(void **state)
{
	actor_ref a = member("a", &member_class, NULL, 0);

	lab_run(&lab);
	suspend(a);
	orders(a, ".");
	lab_run(&lab); /* the rest is teardown's */
}

/* ---- beside supervision ---- */

static void a_resume_by_hand_does_not_end_the_wait_for_a_restart(void **state)
{
	actor_ref a = member("a", &hooked_class, &slow, 0);

	orders(a, "!.");
	run_expect("+a!a");
	resume(a);
	advance(99);
	run_expect("+a!a");
	advance(1);
	run_expect("+a!a~a*aa");
}

static void a_restart_leaves_it_suspended_by_hand(void **state)
{
	actor_ref a = member("a", &hooked_class, &slow, 0);

	orders(a, "!.");
	run_expect("+a!a");
	suspend(a);
	advance(100);
	run_expect("+a!a~a*a");
	resume(a);
	run_expect("+a!a~a*aa");
}

/* The parent is resumed by its supervisor, and with it what is below, but not by hand. */
static void a_resumed_parent_leaves_its_child_suspended_by_hand(void **state)
{
	actor_ref a = member("a", &keeper_class, &slow, 0);
	actor_ref c;

	give(&lab, a, (struct order){SPAWN, 'c'});
	lab_run(&lab);
	c = actor_lookup(lab.system, "/user/a/c");
	trail_reset();
	suspend(c);
	orders(a, "!");
	lab_run(&lab);
	orders(c, ".");
	advance(100);
	run_expect("!a~a*a");
	resume(c);
	run_expect("!a~a*ac");
	/* And the other way round. */
	orders(a, "!");
	lab_run(&lab);
	suspend(c);
	orders(c, ".");
	resume(c);
	run_expect("!a~a*ac!a");
	advance(100);
	run_expect("!a~a*ac!a~a*ac");
}

static void a_failure_before_its_suspension_is_settled(void **state)
{
	actor_ref a = member("a", &member_class, &resumes, 0);

	lab_run(&lab);
	orders(a, "!.");
	suspend(a); /* nothing of it is handled yet */
	run_expect("+a");
	resume(a);
	run_expect("+a!aa");
}

/* What is spawned by a handler that goes on while its actor is suspended by hand is not. */
static int nest_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	actor_ref ref;
	struct member init = {.letter = 'n'};
	struct actor_spawn_options options = {.size = sizeof(options), .init = &init};
	struct order o = {NOTE};

	assert_int_equal(actor_suspend(ctx, actor_self(ctx)), 0);
	assert_int_equal(actor_spawn(ctx, &member_class, &options, &ref), 0);
	return actor_tell(ctx, ref, &order_type, &o, sizeof(o));
}

static struct actor_class nest_class = {
	.size = sizeof(struct actor_class), .name = "nest", .on_message = nest_message};

static void what_a_suspended_actor_spawns_is_not_suspended(void **state)
{
	actor_ref ref;

	assert_int_equal(actor_system_spawn(lab.system, &nest_class, NULL, &ref), 0);
	orders(ref, "..");
	run_expect("+nn");
}

/* ---- time ---- */

static uint32_t timeouts;

static int timed_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	if (message->type == &actor_timeout)
		timeouts++;
	else
		assert_int_equal(actor_receive_timeout(ctx, 10), 0);
	return 0;
}

static struct actor_class timed_class = {
	.size = sizeof(struct actor_class), .name = "timed", .on_message = timed_message};

/* The time-out is due, and its turn has not run, when the actor is suspended. */
static void a_time_out_that_was_due_is_told_after_the_resume(void **state)
{
	actor_ref ref;

	timeouts = 0;
	assert_int_equal(actor_system_spawn(lab.system, &timed_class, NULL, &ref), 0);
	orders(ref, ".");
	lab_run(&lab);
	advance(10);
	suspend(ref);
	lab_run(&lab);
	assert_int_equal(timeouts, 0);
	resume(ref);
	lab_run(&lab);
	assert_int_equal(timeouts, 1);
}

/* ---- misuse ---- */

static void wrong_refs_are_refused(void **state)
{
	assert_int_equal(actor_system_suspend(lab.system, ACTOR_NONE), -EINVAL);
	assert_int_equal(actor_system_resume(lab.system, ACTOR_NONE), -EINVAL);
}

/* ---- other loops ---- */

/* One sender: whatever is told between the two, in order, all of it is handled in the end. */
static void actors_of_other_loops_suspend_and_resume_it(void **state)
{
	const uint64_t rounds = 101;
	actor_ref w = own(1);
	actor_ref a = member("a", &member_class, NULL, 2);

	for (uint64_t i = 0; i < rounds; i++) {
		give(&lab, w, (struct order){.kind = NOTE, .letter = 'o', .ref = a});
		orders(a, ".");
		give(&lab, w, (struct order){.kind = NOTE, .letter = 'r', .ref = a});
	}
	for (int i = 0; i < 10000 && lab_stats(&lab).delivered < 3 * rounds; i++)
		sleep_ms(1);
	assert_int_equal(lab_stats(&lab).delivered, 3 * rounds);
	assert_int_equal(lab_stats(&lab).dead_letters, 0);
}

static void a_suspended_actor_of_another_loop_is_stopped_from_outside(void **state)
{
	actor_ref a = member("a", &member_class, NULL, 3);

	assert_true(trail_becomes('a', "+a"));
	suspend(a);
	orders(a, ".....");
	assert_int_equal(actor_system_stop(lab.system, a), 0);
	assert_true(lab_wait_terminated(&lab, 1));
	assert_string_equal(trail_of('a'), "+a-a");
	assert_int_equal(lab_stats(&lab).dead_letters, 5);
}

int main(void)
{
#define TEST(f)	 cmocka_unit_test_setup_teardown(f, setup, teardown)
#define OWNED(f) cmocka_unit_test_setup_teardown(f, setup_owned, teardown)
	const struct CMUnitTest tests[] = {
		TEST(mail_waits_until_it_is_resumed),
		TEST(on_start_runs_of_one_that_is_suspended_before),
		TEST(children_are_not_suspended),
		TEST(a_handler_suspends_its_actor_after_this_message),
		TEST(another_actor_suspends_and_resumes_it),
		TEST(a_stop_ends_it_and_its_mail_is_dead_letters),
		TEST(a_stop_that_was_queued_before_waits_for_its_place),
		TEST(a_kill_restarts_it_and_leaves_it_suspended),
		TEST(a_kill_of_a_suspended_one_may_stop_it),
		TEST(closing_ends_a_suspended_actor),
		TEST(a_resume_by_hand_does_not_end_the_wait_for_a_restart),
		TEST(a_restart_leaves_it_suspended_by_hand),
		TEST(a_resumed_parent_leaves_its_child_suspended_by_hand),
		TEST(a_failure_before_its_suspension_is_settled),
		TEST(what_a_suspended_actor_spawns_is_not_suspended),
		TEST(a_time_out_that_was_due_is_told_after_the_resume),
		TEST(wrong_refs_are_refused),
		OWNED(actors_of_other_loops_suspend_and_resume_it),
		OWNED(a_suspended_actor_of_another_loop_is_stopped_from_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
