/* SPDX-License-Identifier: MIT */
/* Failures between loops: the parent decides on its loop, the child obeys on its own. */
#include "tests/family.h"

#include <stdio.h>
#include <unistd.h>

#define S(...)                                                                                     \
	{                                                                                          \
		.size = sizeof(struct actor_strategy), __VA_ARGS__                                 \
	}

static const struct actor_strategy stops = S(.directive = ACTOR_DIRECTIVE_STOP);
static const struct actor_strategy resumes = S(.directive = ACTOR_DIRECTIVE_RESUME);
static const struct actor_strategy escalates = S(.directive = ACTOR_DIRECTIVE_ESCALATE);
static const struct actor_strategy restarts = S(.max_retries = -1);
static const struct actor_strategy all_restart = S(.scope = ACTOR_ALL_FOR_ONE);
static const struct actor_strategy all_stop =
	S(.scope = ACTOR_ALL_FOR_ONE, .directive = ACTOR_DIRECTIVE_STOP);

static struct lab lab;

static int setup(void **state)
{
	alarm(100); /* what hangs is killed */
	lab_heap_begin();
	trail_reset();
	members_alive = 0;
	lab_open_owned(&lab, 3);
	return 0;
}

static int teardown(void **state)
{
	static int64_t tables; /* of the process: made by the first test, and kept */

	lab_close(&lab);
	assert_int_equal(members_alive, 0);
	if (!tables)
		tables = lab_heap_blocks;
	assert_int_equal(lab_heap_blocks, tables);
	lab_heap_end();
	alarm(0);
	return 0;
}

static struct actor_class *class_with(
	const struct actor_class *cls, const struct actor_strategy *strategy)
{
	static struct actor_class classes[32];
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

/* Waits for it. */
static actor_ref lookup(const char *path)
{
	actor_ref ref = 0;

	for (int i = 0; i < 10000 && !ref; i++) {
		ref = actor_lookup(lab.system, path);
		if (!ref)
			sleep_ms(1);
	}
	assert_true(ref != 0);
	return ref;
}

/* a on loop 1, its child c on loop 2, whose child e is on loop 3 or 1, and d, child of a, on 3. */
struct family {
	actor_ref a, c, d, e;
};

static struct family family_make(
	struct actor_class *a, struct actor_class *c, const struct actor_strategy *top, int e_loop)
{
	struct family f;

	f.a = member_spawn(&lab, a, (struct member){.letter = 'a'}, "a", top, 1);
	give(&lab, f.a, (struct order){SPAWN, 'c', .number = 2, .cls = c});
	give(&lab, f.a, (struct order){SPAWN, 'd', .number = 3, .cls = &hooked_class});
	f.c = lookup("/user/a/c");
	f.d = lookup("/user/a/d");
	give(&lab, f.c, (struct order){SPAWN, 'e', .number = e_loop, .cls = &hooked_class});
	f.e = lookup("/user/a/c/e");
	assert_true(trail_becomes('e', "+e"));
	assert_true(trail_becomes('d', "+d"));
	trail_reset();
	return f;
}

static void family_end(const struct family *f)
{
	uint64_t created = lab_stats(&lab).created;

	actor_system_stop(lab.system, f->a);
	assert_true(lab_wait_terminated(&lab, created));
	trail_reset();
}

/* c fails; then c, d and e get one message each, if they live. */
static const struct {
	const struct actor_strategy *parents; /* of a's class */
	const struct actor_strategy *top;     /* for a */
	bool keeps;			      /* c's class */
	const char *a, *c, *d, *e;
	uint32_t failed, restarted;
} rows[] = {
	{&resumes, NULL, false, "a", "!cc", "d", "e", 1, 0},
	{NULL, NULL, false, "a", "!c~c*cc", "d", "-e", 1, 1},
	{NULL, NULL, true, "a", "!c~c*cc", "d", "e", 1, 1},
	{&stops, NULL, false, "a", "!c-c", "d", "-e", 1, 0},
	{&all_restart, NULL, false, "a", "!c~c*cc", "~d*dd", "-e", 1, 2},
	{&all_stop, NULL, false, "a", "!c-c", "-d", "-e", 1, 0},
	{&escalates, &resumes, false, "a", "!cc", "d", "e", 2, 0},
	{&escalates, &restarts, false, "~a*aa", "!c-c", "-d", "-e", 2, 1},
	{&escalates, &stops, false, "-a", "!c-c", "-d", "-e", 2, 0},
};

static void directives_come_back_from_the_parents_loop(void **state)
{
	for (size_t i = 0; i < 2 * COUNT(rows); i++) {
		size_t r = i / 2;
		struct family f = family_make(class_with(&hooked_class, rows[r].parents),
			rows[r].keeps ? &keeper_class : &hooked_class, rows[r].top, i % 2 ? 3 : 1);
		struct actor_stats before = lab_stats(&lab), stats;

		/* All have their mail before c is known to have failed. */
		orders(f.c, "!");
		for (int n = 0;
			n < 10000 && lab_stats(&lab).failed - before.failed < rows[r].failed; n++)
			sleep_ms(1);
		for (int n = 0; n < 10000 &&
				lab_stats(&lab).restarted - before.restarted < rows[r].restarted;
			n++)
			sleep_ms(1);
		orders(f.c, ".");
		orders(f.a, ".");
		if (rows[r].d[0] != '-')
			orders(f.d, ".");
		if (rows[r].e[0] != '-')
			orders(f.e, ".");
		assert_true(trail_becomes('a', rows[r].a));
		assert_true(trail_becomes('c', rows[r].c));
		assert_true(trail_becomes('d', rows[r].d));
		assert_true(trail_becomes('e', rows[r].e));
		stats = lab_stats(&lab);
		assert_int_equal(stats.failed - before.failed, rows[r].failed);
		assert_int_equal(stats.restarted - before.restarted, rows[r].restarted);
		family_end(&f);
	}
}

static void the_text_travels_with_the_failure(void **state)
{
	struct family f = family_make(&hooked_class, &hooked_class, NULL, 1);

	give(&lab, f.c, (struct order){FAIL_TEXT});
	assert_true(trail_becomes('c', "!c~c*c"));
	assert_string_equal(lab.last_log,
		"actor /user/a/c (hooked) failed and is restarted: broken pipe: pipe 7 broke");
	assert_int_equal(last_reason, -EPIPE);
	family_end(&f);
}

static void the_strategy_of_the_spawn_and_the_budget_go_with_the_child(void **state)
{
	static const struct actor_strategy two = S(.max_retries = 2);
	actor_ref a = member_spawn(&lab, class_with(&member_class, &stops),
		(struct member){
			.letter = 'a', .child = 'c', .child_loop = 2, .child_strategy = &two},
		"a", NULL, 1);
	actor_ref c = lookup("/user/a/c");

	orders(c, "!.!.!.");
	assert_true(trail_becomes('c', "+c!c-c+cc!c-c+cc!c-c"));
	assert_non_null(strstr(lab.last_log, "is stopped after 2 restarts"));
	actor_system_stop(lab.system, a);
}

static void a_suspended_subtree_on_three_loops_waits_for_its_top(void **state)
{
	static const struct actor_strategy slow =
		S(.backoff_min_ms = 200, .backoff_max_ms = 200, .jitter_percent = -1);
	struct family f = family_make(&keeper_class, &keeper_class, &slow, 3);
	uint64_t began = now_ns();

	orders(f.a, "!");
	assert_true(trail_becomes('a', "!a"));
	sleep_ms(50); /* so that the others know */
	orders(f.a, ".");
	orders(f.c, ".");
	orders(f.d, ".");
	orders(f.e, ".");
	sleep_ms(50);
	if (now_ns() - began < 190000000)
		assert_string_equal(trail, "!a");
	assert_true(trail_becomes('a', "!a~a*aa"));
	assert_true(trail_becomes('c', "c"));
	assert_true(trail_becomes('d', "d"));
	assert_true(trail_becomes('e', "e"));
	family_end(&f);
}

static void what_is_spawned_below_a_suspended_actor_is_suspended(void **state)
{
	static const struct actor_strategy slow =
		S(.backoff_min_ms = 200, .backoff_max_ms = 200, .jitter_percent = -1);
	/* a is held by its failing start, which has spawned c on another loop before it failed. */
	struct actor_class *cls = class_with(&keeper_class, NULL);
	actor_ref c;

	member_spawn(&lab, cls,
		(struct member){.letter = 'a', .child = 'c', .child_loop = 2, .fails_starts = 0},
		"a", &slow, 1);
	c = lookup("/user/a/c");
	assert_true(trail_becomes('c', "+c"));
	orders(c, ".");
	assert_true(trail_becomes('c', "+cc"));
}

static void a_failure_beyond_the_top_stops_the_actors_of_all_loops(void **state)
{
	struct family f = family_make(&hooked_class, &hooked_class, &escalates, 3);
	actor_ref ref;

	member_spawn(&lab, &member_class, (struct member){.letter = 'o'}, NULL, NULL, 2);
	orders(f.a, "!");
	assert_true(lab_wait_terminated(&lab, 5));
	assert_int_equal(actor_system_spawn(lab.system, &member_class, NULL, &ref), ACTOR_ECLOSED);
}

/* ---- without memory ---- */

static void failures_and_directives_need_no_memory(void **state)
{
	struct family f = family_make(&keeper_class, &keeper_class, &restarts, 3);
	struct actor_stats before;

	/* Once with memory: what they need for good, they have. */
	orders(f.c, "!");
	orders(f.d, "!");
	orders(f.e, "!");
	assert_true(trail_becomes('c', "!c~c*c"));
	assert_true(trail_becomes('d', "!d~d*d"));
	assert_true(trail_becomes('e', "!e~e*e"));
	trail_reset();
	before = lab_stats(&lab);
	orders(f.c, "!!!");
	orders(f.d, "!!!");
	orders(f.e, "!!!");
	lab_heap_fail(1, LAB_FAIL_FROM_THEN_ON, 0);
	assert_true(trail_becomes('c', "!c~c*c!c~c*c!c~c*c"));
	assert_true(trail_becomes('d', "!d~d*d!d~d*d!d~d*d"));
	assert_true(trail_becomes('e', "!e~e*e!e~e*e!e~e*e"));
	lab_heap_fail(0, LAB_FAIL_ONCE, 0);
	assert_int_equal(lab_stats(&lab).failed - before.failed, 9);
	family_end(&f);
}

static void a_first_failure_without_memory_restarts_as_well(void **state)
{
	struct family f = family_make(&keeper_class, &keeper_class, &restarts, 3);

	/* The mail is there; then nothing can be allocated: no budget, no text, no count. */
	give(&lab, f.c, (struct order){SLEEP, .number = 100});
	give(&lab, f.c, (struct order){FAIL_TEXT});
	give(&lab, f.e, (struct order){SLEEP, .number = 100});
	give(&lab, f.e, (struct order){FAIL_TEXT});
	sleep_ms(50);
	lab_heap_fail(1, LAB_FAIL_FROM_THEN_ON, 0);
	assert_true(trail_becomes('c', "c!c~c*c"));
	assert_true(trail_becomes('e', "e!e~e*e"));
	lab_heap_fail(0, LAB_FAIL_ONCE, 0);
	family_end(&f);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(directives_come_back_from_the_parents_loop),
		TEST(the_text_travels_with_the_failure),
		TEST(the_strategy_of_the_spawn_and_the_budget_go_with_the_child),
		TEST(a_suspended_subtree_on_three_loops_waits_for_its_top),
		TEST(what_is_spawned_below_a_suspended_actor_is_suspended),
		TEST(a_failure_beyond_the_top_stops_the_actors_of_all_loops),
		TEST(failures_and_directives_need_no_memory),
		TEST(a_first_failure_without_memory_restarts_as_well),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
