/* SPDX-License-Identifier: MIT */
/* Birth, names, failure and end of actors, on one loop and across loops. */
#include "tests/lab.h"

#include <stdio.h>

/* What happened, by actors' letters: lower case a message, "+x" a start, "-x" a stop. The actors
 * of several loops share it. */
static char trail[8192];
static pthread_mutex_t trail_lock = PTHREAD_MUTEX_INITIALIZER;

static void mark(char what, char letter)
{
	char text[3] = {what, letter, 0};

	pthread_mutex_lock(&trail_lock);
	strncat(trail, what ? text : text + 1, sizeof(trail) - strlen(trail) - 1);
	pthread_mutex_unlock(&trail_lock);
}

enum order { NOTE, SPAWN, STOP_SELF, STOP_CHILD, FAIL, FAIL_TEXT, FAIL_BOTH, SLEEP };

struct order_message {
	enum order order;
	char letter; /* the child's */
	int loop;
};

struct node {
	char letter;
	int start_rc;
	bool spawns_in_start;
	actor_ref child;
};

static int node_start(struct actor_ctx *ctx);
static int node_message(struct actor_ctx *ctx, const struct actor_message *message);
static void node_stop(struct actor_ctx *ctx);

static struct actor_class node_class = {
	.size = sizeof(node_class),
	.name = "node",
	.state_bytes = sizeof(struct node),
	.on_start = node_start,
	.on_message = node_message,
	.on_stop = node_stop,
};
static struct actor_type order_type = ACTOR_TYPE("order");
static _Atomic int spawn_rc;

static int spawn_child(struct actor_ctx *ctx, char letter, int loop)
{
	struct node *node = actor_state(ctx);
	struct node init = {.letter = letter};
	char name[2] = {letter, 0};
	struct actor_spawn_options options = {
		.size = sizeof(options), .name = name, .init = &init, .loop = loop};

	spawn_rc = actor_spawn(ctx, &node_class, &options, &node->child);
	return spawn_rc;
}

static int node_start(struct actor_ctx *ctx)
{
	struct node *node = actor_state(ctx);

	mark('+', node->letter);
	if (node->spawns_in_start)
		spawn_child(ctx, 'z', 0);
	return node->start_rc;
}

static int node_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	const struct order_message *o = message->payload;
	struct node *node = actor_state(ctx);

	if (!message->bytes || o->order == NOTE) {
		mark(0, node->letter);
		return 0;
	}
	switch (o->order) {
	case SPAWN:
		spawn_child(ctx, o->letter, o->loop);
		return 0;
	case STOP_SELF:
		actor_stop_self(ctx);
		return 0;
	case STOP_CHILD:
		return actor_stop(ctx, node->child);
	case FAIL:
		return -EIO;
	case FAIL_TEXT:
		return actor_fail(ctx, -EPIPE, "pipe %d broke", 7);
	case FAIL_BOTH:
		actor_fail(ctx, -EPIPE, "first");
		actor_stop_self(ctx);
		return -EIO;
	case SLEEP:
		sleep_ms(20);
		return 0;
	default:
		return 0;
	}
}

static void node_stop(struct actor_ctx *ctx)
{
	struct node *node = actor_state(ctx);

	mark('-', node->letter);
	if (node->letter == 'S')
		spawn_child(ctx, 's', 0); /* too late: refused */
}

static actor_ref spawn(struct lab *lab, struct node init, const char *name)
{
	struct actor_spawn_options options = {
		.size = sizeof(options), .name = name, .init = &init, .strategy = &lab_stops};
	actor_ref ref = 0;

	assert_int_equal(actor_system_spawn(lab->system, &node_class, &options, &ref), 0);
	assert_true(ref != 0);
	return ref;
}

static void tell(struct lab *lab, actor_ref to, struct order_message o)
{
	assert_int_equal(actor_system_tell(lab->system, to, &order_type, &o, sizeof(o)), 0);
}

static void begin(struct lab *lab)
{
	trail[0] = '\0';
	spawn_rc = 0;
	lab_open(lab, NULL);
}

static void end(struct lab *lab)
{
	lab_close(lab);
}

/* ---- order of starts and stops ---- */

static void mail_told_before_the_start_is_handled_after_it(void **state)
{
	struct lab lab;
	actor_ref a;

	begin(&lab);
	a = spawn(&lab, (struct node){.letter = 'a'}, NULL);
	tell(&lab, a, (struct order_message){NOTE});
	assert_string_equal(trail, "");
	lab_run(&lab);
	assert_string_equal(trail, "+aa");
	end(&lab);
	assert_string_equal(trail, "+aa-a");
}

static void children_stop_before_their_parent(void **state)
{
	struct lab lab;
	actor_ref a, b;

	begin(&lab);
	a = spawn(&lab, (struct node){.letter = 'a'}, "a");
	tell(&lab, a, (struct order_message){SPAWN, 'b'});
	lab_run(&lab);
	b = actor_lookup(lab.system, "/user/a/b");
	assert_true(b != 0);
	tell(&lab, b, (struct order_message){SPAWN, 'c'});
	tell(&lab, a, (struct order_message){SPAWN, 'd'});
	lab_run(&lab);
	trail[0] = '\0';
	assert_int_equal(actor_system_stop(lab.system, a), 0);
	lab_run(&lab);
	assert_int_equal(strlen(trail), 8);
	assert_true(strstr(trail, "-c") < strstr(trail, "-b"));
	assert_true(strstr(trail, "-b") < strstr(trail, "-a"));
	assert_true(strstr(trail, "-d") < strstr(trail, "-a"));
	assert_int_equal(lab_stats(&lab).terminated, 4);
	assert_true(actor_lookup(lab.system, "/user/a/b") == 0);
	end(&lab);
}

static void stop_waits_for_what_was_told_before_and_no_longer(void **state)
{
	struct lab lab;
	actor_ref a;

	begin(&lab);
	a = spawn(&lab, (struct node){.letter = 'a'}, NULL);
	for (int i = 0; i < 40; i++)
		tell(&lab, a, (struct order_message){NOTE});
	assert_int_equal(actor_system_stop(lab.system, a), 0);
	tell(&lab, a, (struct order_message){NOTE});
	tell(&lab, a, (struct order_message){NOTE});
	lab_run(&lab);
	assert_int_equal(strlen(trail), 2 + 40 + 2);
	assert_string_equal(trail + 42, "-a");
	assert_int_equal(lab_stats(&lab).dead_letters, 2);
	assert_int_equal(lab_stats(&lab).delivered, 40);
	/* Stopping what is gone is fine and no dead letter. */
	assert_int_equal(actor_system_stop(lab.system, a), 0);
	assert_int_equal(actor_system_stop(lab.system, ACTOR_NONE), -EINVAL);
	lab_run(&lab);
	assert_int_equal(lab_stats(&lab).dead_letters, 2);
	end(&lab);
}

static void stop_self_sends_the_rest_of_the_batch_to_dead_letters(void **state)
{
	struct lab lab;
	actor_ref a;

	begin(&lab);
	a = spawn(&lab, (struct node){.letter = 'a'}, NULL);
	tell(&lab, a, (struct order_message){NOTE});
	tell(&lab, a, (struct order_message){NOTE});
	tell(&lab, a, (struct order_message){STOP_SELF});
	for (int i = 0; i < 3; i++)
		tell(&lab, a, (struct order_message){NOTE});
	lab_run(&lab);
	assert_string_equal(trail, "+aaa-a");
	assert_int_equal(lab_stats(&lab).dead_letters, 3);
	assert_int_equal(lab.dead_letters, 3);
	end(&lab);
}

static void a_stopping_parent_with_mail_and_a_slow_child_does_not_spin(void **state)
{
	struct lab lab;
	uint64_t turns;
	actor_ref a, b;

	begin(&lab);
	a = spawn(&lab, (struct node){.letter = 'a'}, "a");
	tell(&lab, a, (struct order_message){SPAWN, 'b'});
	lab_run(&lab);
	b = actor_lookup(lab.system, "/user/a/b");
	for (int i = 0; i < 3; i++)
		tell(&lab, b, (struct order_message){SLEEP});
	turns = lab_stats(&lab).turns;
	actor_system_stop(lab.system, a);
	tell(&lab, a, (struct order_message){NOTE});
	lab_run(&lab);
	/* a: poison, and the last child's end; b: its mail or its stop. */
	assert_true(lab_stats(&lab).turns - turns <= 4);
	assert_int_equal(lab_stats(&lab).terminated, 2);
	assert_int_equal(lab_stats(&lab).dead_letters, 1 + 3 - (lab_stats(&lab).delivered - 1));
	end(&lab);
}

static void a_stopping_actor_cannot_spawn(void **state)
{
	struct lab lab;
	actor_ref a;

	begin(&lab);
	a = spawn(&lab, (struct node){.letter = 'S'}, NULL);
	actor_system_stop(lab.system, a);
	lab_run(&lab);
	assert_int_equal(spawn_rc, ACTOR_ECLOSED);
	assert_string_equal(trail, "+S-S");
	end(&lab);
}

/* ---- failure ---- */

static void a_failing_handler_ends_its_turn_and_is_logged_once(void **state)
{
	static const struct {
		enum order order;
		const char *text;
	} rows[] = {{FAIL, "/user/f (node) failed"}, {FAIL_TEXT, "pipe 7 broke"},
		{FAIL_BOTH, "first"}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct lab lab;
		actor_ref a;

		begin(&lab);
		a = spawn(&lab, (struct node){.letter = 'a'}, "f");
		tell(&lab, a, (struct order_message){NOTE});
		tell(&lab, a, (struct order_message){rows[i].order});
		tell(&lab, a, (struct order_message){NOTE});
		tell(&lab, a, (struct order_message){NOTE});
		lab_run(&lab);
		assert_string_equal(trail, "+aa-a"); /* nothing after the failure */
		assert_int_equal(lab.logged, 1);
		assert_non_null(strstr(lab.last_log, rows[i].text));
		assert_int_equal(lab_stats(&lab).failed, 1);
		assert_int_equal(lab_stats(&lab).dead_letters, 2);
		assert_int_equal(lab_stats(&lab).terminated, 1);
		end(&lab);
	}
}

static void the_text_of_one_failure_is_not_in_the_log_of_the_next(void **state)
{
	struct lab lab;
	actor_ref a, b;

	begin(&lab);
	a = spawn(&lab, (struct node){.letter = 'a'}, NULL);
	b = spawn(&lab, (struct node){.letter = 'b'}, NULL);
	tell(&lab, a, (struct order_message){FAIL_TEXT});
	lab_run(&lab);
	tell(&lab, b, (struct order_message){FAIL});
	lab_run(&lab);
	assert_null(strstr(lab.last_log, "broke"));
	assert_int_equal(lab.logged, 2);
	end(&lab);
}

static void a_failing_start_stops_the_actor_and_its_children_with_on_stop(void **state)
{
	struct lab lab;
	actor_ref a;

	begin(&lab);
	a = spawn(&lab, (struct node){.letter = 'a', .start_rc = -EACCES, .spawns_in_start = true},
		NULL);
	tell(&lab, a, (struct order_message){NOTE});
	lab_run(&lab);
	assert_string_equal(trail, "+a+z-z-a");
	assert_int_equal(lab.logged, 1);
	assert_int_equal(lab_stats(&lab).failed, 1);
	assert_int_equal(lab_stats(&lab).dead_letters, 1);
	assert_int_equal(lab_stats(&lab).terminated, 2);
	end(&lab);
}

/* ---- names and paths ---- */

static void names_are_unique_among_siblings_and_free_again_after_the_stop(void **state)
{
	struct actor_spawn_options options = {.size = sizeof(options), .name = "one"};
	struct lab lab;
	actor_ref a, other;

	begin(&lab);
	a = spawn(&lab, (struct node){.letter = 'a'}, "one");
	assert_int_equal(
		actor_system_spawn(lab.system, &node_class, &options, &other), -EEXIST);
	tell(&lab, a, (struct order_message){SPAWN, 'b'});
	lab_run(&lab);
	assert_int_equal(spawn_rc, 0);
	tell(&lab, a, (struct order_message){SPAWN, 'b'});
	lab_run(&lab);
	assert_int_equal(spawn_rc, -EEXIST);
	assert_true(actor_lookup(lab.system, "/user/one") == a);
	actor_system_stop(lab.system, a);
	lab_run(&lab);
	assert_true(actor_lookup(lab.system, "/user/one") == 0);
	other = spawn(&lab, (struct node){.letter = 'a'}, "one");
	assert_true(other != a);
	assert_true(actor_lookup(lab.system, "/user/one") == other);
	/* The old ref does not reach the new bearer of the name. */
	trail[0] = '\0';
	tell(&lab, a, (struct order_message){NOTE});
	lab_run(&lab);
	assert_string_equal(trail, "+a");
	end(&lab);
}

static void paths_name_each_ancestor_and_are_cut_to_fit(void **state)
{
	struct lab lab, elsewhere;
	actor_ref a, b, anonymous;
	char path[256];

	begin(&lab);
	a = spawn(&lab, (struct node){.letter = 'a'}, "shop");
	anonymous = spawn(&lab, (struct node){.letter = 'a'}, NULL);
	tell(&lab, a, (struct order_message){SPAWN, 'b'});
	lab_run(&lab);
	b = actor_lookup(lab.system, "/user/shop/b");
	assert_int_equal(actor_path(lab.system, b, path, sizeof(path)), 12);
	assert_string_equal(path, "/user/shop/b");
	assert_int_equal(actor_path(lab.system, b, path, 8), 7);
	assert_string_equal(path, "/user/s");
	assert_int_equal(actor_path(lab.system, b, path, 1), 0);
	assert_string_equal(path, "");
	assert_int_equal(actor_path(lab.system, b, path, 0), 0);
	assert_true(actor_path(lab.system, anonymous, path, sizeof(path)) > 0);
	assert_memory_equal(path, "/user/$", 7);
	assert_int_equal(actor_path(lab.system, ACTOR_NONE, path, sizeof(path)), -ENOENT);
	assert_int_equal(actor_path(lab.system, a + 1, path, sizeof(path)), -ENOENT);
	lab_open(&elsewhere, NULL);
	assert_int_equal(actor_path(elsewhere.system, a, path, sizeof(path)), -ENOENT);
	lab_close(&elsewhere);
	actor_system_stop(lab.system, a);
	lab_run(&lab);
	assert_int_equal(actor_path(lab.system, a, path, sizeof(path)), -ENOENT);
	assert_true(actor_lookup(lab.system, "/user") == 0);
	assert_true(actor_lookup(lab.system, "/user/") == 0);
	assert_true(actor_lookup(lab.system, "shop") == 0);
	assert_true(actor_lookup(lab.system, NULL) == 0);
	end(&lab);
}

static void wrong_spawn_options_are_refused(void **state)
{
	static char long_name[ACTOR_NAME_BYTES + 2];
	static struct actor_class nameless = {
		.size = sizeof(nameless), .on_message = node_message};
	static struct actor_class mute = {.size = sizeof(mute), .name = "mute"};
	static struct actor_class small = {.name = "small", .on_message = node_message};
	static struct actor_class huge = {.size = sizeof(huge),
		.name = "huge",
		.on_message = node_message,
		.state_bytes = SIZE_MAX};
	const struct {
		struct actor_class *cls;
		struct actor_spawn_options options;
		int rc;
	} rows[] = {
		{NULL, {.size = sizeof(rows[0].options)}, ACTOR_ECLASS},
		{&nameless, {.size = sizeof(rows[0].options)}, ACTOR_ECLASS},
		{&mute, {.size = sizeof(rows[0].options)}, ACTOR_ECLASS},
		{&small, {.size = sizeof(rows[0].options)}, ACTOR_ECLASS},
		{&huge, {.size = sizeof(rows[0].options)}, -ENOMEM},
		{&node_class, {.size = 0}, ACTOR_EOPTIONS},
		{&node_class, {.size = sizeof(rows[0].options), .throughput = -1}, ACTOR_EBUDGET},
		{&node_class, {.size = sizeof(rows[0].options), .throughput = 1000001},
			ACTOR_EBUDGET},
		{&node_class, {.size = sizeof(rows[0].options), .name = ""}, ACTOR_ENAME},
		{&node_class, {.size = sizeof(rows[0].options), .name = "a/b"}, ACTOR_ENAME},
		{&node_class, {.size = sizeof(rows[0].options), .name = "$1"}, ACTOR_ENAME},
		{&node_class, {.size = sizeof(rows[0].options), .name = "a\nb"}, ACTOR_ENAME},
		{&node_class, {.size = sizeof(rows[0].options), .name = long_name}, ACTOR_ENAME},
		{&node_class, {.size = sizeof(rows[0].options), .loop = 2}, ACTOR_EOPTIONS},
		{&node_class, {.size = sizeof(rows[0].options), .loop = -1}, ACTOR_EOPTIONS},
	};
	struct lab lab;
	actor_ref ref;

	memset(long_name, 'n', ACTOR_NAME_BYTES + 1);
	begin(&lab);
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(
			actor_system_spawn(lab.system, rows[i].cls, &rows[i].options, &ref),
			rows[i].rc);
	long_name[ACTOR_NAME_BYTES] = '\0';
	spawn(&lab, (struct node){.letter = 'a'}, long_name);
	lab_run(&lab);
	assert_int_equal(lab_stats(&lab).created, 1);
	end(&lab);
}

/* ---- across loops ---- */

static void a_child_on_another_loop_stops_before_its_parent(void **state)
{
	for (int round = 0; round < 20; round++) {
		struct lab lab;
		actor_ref a, b = 0;

		trail[0] = '\0';
		lab_open_owned(&lab, 3);
		a = spawn(&lab, (struct node){.letter = 'a'}, "a");
		for (int i = 0; i < 6; i++)
			tell(&lab, a, (struct order_message){SPAWN, (char)('b' + i), 1 + i % 3});
		for (int i = 0; i < 10000 && !b; i++, sleep_ms(1))
			b = actor_lookup(lab.system, "/user/a/g");
		assert_true(b != 0);
		tell(&lab, b, (struct order_message){SPAWN, 'h', 1});
		tell(&lab, b, (struct order_message){SPAWN, 'i', 2});
		actor_system_stop(lab.system, round % 2 ? a : b);
		/* Whether b gets to spawn before its parent stops it is open in every other round. */
		if (round % 2 == 0) {
			assert_true(lab_wait_terminated(&lab, 3));
			actor_system_stop(lab.system, a);
		}
		for (int i = 0; i < 10000 && actor_lookup(lab.system, "/user/a"); i++)
			sleep_ms(1);
		assert_true(lab_wait_terminated(&lab, lab_stats(&lab).created));
		assert_int_equal(lab_stats(&lab).created, lab_stats(&lab).terminated);
		lab_close(&lab);
		for (char c = 'b'; c <= 'g'; c++) {
			char text[3] = {'-', c, 0};

			assert_non_null(strstr(trail, text));
			assert_true(strstr(trail, text) < strstr(trail, "-a"));
		}
	}
}

static void a_child_elsewhere_may_stop_by_itself_and_leaves_its_name(void **state)
{
	struct lab lab;
	actor_ref a, b = 0;

	trail[0] = '\0';
	lab_open_owned(&lab, 2);
	a = spawn(&lab, (struct node){.letter = 'a'}, "a");
	for (int round = 0; round < 50; round++) {
		tell(&lab, a, (struct order_message){SPAWN, 'b', 2});
		for (int i = 0; i < 10000 && !(b = actor_lookup(lab.system, "/user/a/b")); i++)
			sleep_ms(1);
		tell(&lab, b, (struct order_message){STOP_SELF});
		assert_true(lab_wait_terminated(&lab, (uint64_t)round + 1));
	}
	lab_close(&lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mail_told_before_the_start_is_handled_after_it),
		cmocka_unit_test(children_stop_before_their_parent),
		cmocka_unit_test(stop_waits_for_what_was_told_before_and_no_longer),
		cmocka_unit_test(stop_self_sends_the_rest_of_the_batch_to_dead_letters),
		cmocka_unit_test(a_stopping_parent_with_mail_and_a_slow_child_does_not_spin),
		cmocka_unit_test(a_stopping_actor_cannot_spawn),
		cmocka_unit_test(a_failing_handler_ends_its_turn_and_is_logged_once),
		cmocka_unit_test(the_text_of_one_failure_is_not_in_the_log_of_the_next),
		cmocka_unit_test(a_failing_start_stops_the_actor_and_its_children_with_on_stop),
		cmocka_unit_test(names_are_unique_among_siblings_and_free_again_after_the_stop),
		cmocka_unit_test(paths_name_each_ancestor_and_are_cut_to_fit),
		cmocka_unit_test(wrong_spawn_options_are_refused),
		cmocka_unit_test(a_child_on_another_loop_stops_before_its_parent),
		cmocka_unit_test(a_child_elsewhere_may_stop_by_itself_and_leaves_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
