/* SPDX-License-Identifier: MIT */
/* The word of an end on its way: through mailboxes and loops, in order, and without memory. */
#include "tests/watching.h"

/* ---- mailboxes ---- */

static int64_t first_rank(const struct actor_message *message, void *data)
{
	return message->type == &order_type ? 5 : 9;
}

static int refuse_push(void *self, struct actor_mail *mail)
{
	return *(uint32_t *)self >= 2 ? -ENOSPC : (++*(uint32_t *)self, -ENOSPC);
}

static struct actor_mail *refuse_pop(void *self)
{
	return NULL;
}

static size_t refuse_count(const void *self)
{
	return 0;
}

static uint32_t refused;
static const struct actor_mailbox_ops refusing = {
	.size = sizeof(refusing), .push = refuse_push, .pop = refuse_pop, .count = refuse_count};

static const struct actor_mailbox_options boxes[] = {
	{.size = sizeof(boxes[0])},
	{.size = sizeof(boxes[0]), .capacity = 2},
	{.size = sizeof(boxes[0]), .capacity = 2, .overflow = ACTOR_DROP_NEW},
	{.size = sizeof(boxes[0]), .capacity = 2, .overflow = ACTOR_REJECT},
	{.size = sizeof(boxes[0]), .rank = first_rank},
	{.size = sizeof(boxes[0]), .capacity = 2, .rank = first_rank},
	{.size = sizeof(boxes[0]), .capacity = 2, .rank = first_rank, .overflow = ACTOR_DROP_NEW},
	{.size = sizeof(boxes[0]), .capacity = 2, .rank = first_rank, .overflow = ACTOR_REJECT},
	{.size = sizeof(boxes[0]), .ops = &refusing, .ops_data = &refused},
};

/* Watches what it is made for when it starts, and is suspended by a pending handler meanwhile. */
static uint32_t words;
static uint32_t handled;
static struct actor_token token;
static actor_ref boxed_subject;

static int boxed_start(struct actor_ctx *ctx)
{
	return actor_watch(ctx, boxed_subject);
}

static int boxed_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	words += m->type == &actor_terminated;
	handled += m->type == &order_type;
	if (m->type == &plain_type)
		return actor_pending(ctx, &token);
	return 0;
}

static struct actor_class boxed_class = {.size = sizeof(boxed_class),
	.name = "boxed",
	.on_start = boxed_start,
	.on_message = boxed_message};

/* With the throttle dry as well: it holds back no word. */
static void case_12_word_of_an_end_is_never_evicted(void **state)
{
	const struct actor_throttle_options dry = {
		.size = sizeof(dry), .messages = 1, .per_ms = 3600000};

	for (size_t i = 0; i < COUNT(boxes); i++) {
		struct actor_spawn_options options = {.size = sizeof(options),
			.mailbox = &boxes[i],
			.throttle = boxes[i].rank ? NULL : &dry}; /* what has rank before it would wait */
		struct lab lab;
		actor_ref w;
		bool custom = boxes[i].ops != NULL;

		words = handled = refused = 0;
		lab_open(&lab, NULL);
		boxed_subject = spawn(&lab, 's', 0);
		lab_run(&lab);
		assert_int_equal(actor_system_spawn(lab.system, &boxed_class, &options, &w), 0);
		lab_run(&lab);
		if (!custom) {
			actor_system_tell(lab.system, w, &plain_type, NULL, 0);
			lab_run(&lab);
		}
		actor_system_stop(lab.system, boxed_subject);
		if (!custom)
			lab_run(&lab);
		/* Queued, and then more than the capacity behind it. */
		for (int n = 0; n < 5; n++) {
			struct order note = {NOTE};

			actor_system_tell(lab.system, w, &order_type, &note, sizeof(note));
			if (!custom)
				lab_run(&lab);
		}
		assert_int_equal(words, 0);
		if (!custom)
			assert_int_equal(actor_complete(lab.system, token, 0, NULL, NULL), 0);
		lab_run(&lab);
		assert_int_equal(words, 1);
		if (boxes[i].capacity)
			assert_true(lab_stats(&lab).dropped || boxes[i].overflow == ACTOR_REJECT);
		lab_close(&lab);
	}
}

/* ---- order ---- */

#define CHATTER 3000

struct talk {
	actor_ref listener;
	uint32_t told;
};

static int chatter_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct talk *talk = actor_state(ctx);

	for (int i = 0; i < 300; i++)
		if (actor_tell(ctx, talk->listener, &order_type, &(struct order){NOTE},
			    sizeof(struct order)) == 0)
			talk->told++;
	if (talk->told >= CHATTER)
		actor_stop_self(ctx);
	else
		actor_tell(ctx, actor_self(ctx), &plain_type, NULL, 0);
	return 0;
}

static struct actor_class chatter_class = {.size = sizeof(chatter_class),
	.name = "chatter",
	.state_bytes = sizeof(struct talk),
	.on_message = chatter_message};

static _Atomic uint32_t listened, listened_at_the_end, ends_told;

static int listener_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct talk talk = {.listener = actor_self(ctx)};
	struct actor_spawn_options options = {.size = sizeof(options), .init = &talk};
	actor_ref ref;
	int rc = 0;

	if (m->type == &order_type) {
		atomic_fetch_add(&listened, 1);
	} else if (m->type == &actor_terminated) {
		listened_at_the_end = listened;
		atomic_fetch_add(&ends_told, 1);
	} else {
		options.loop = *(const int *)m->payload;
		rc = actor_spawn(ctx, &chatter_class, &options, &ref);
		rc = rc ? rc : actor_watch(ctx, ref);
		rc = rc ? rc : actor_tell(ctx, ref, &plain_type, NULL, 0);
	}
	return rc;
}

static struct actor_class listener_class = {
	.size = sizeof(listener_class), .name = "listener", .on_message = listener_message};

static void wait_for(_Atomic uint32_t *what, uint32_t count)
{
	for (int i = 0; i < 20000 && atomic_load(what) < count; i++)
		sleep_ms(1);
	assert_int_equal(*what, count);
}

/* Through small rings that are full most of the time. */
static void word_comes_behind_all_that_the_subject_has_told(void **state)
{
	for (int64_t slots = 2; slots <= 1024; slots *= 8) {
		for (int to = 1; to <= 2; to++) {
			struct actor_system_options options = {
				.size = sizeof(options), .loops = 2, .ring_slots = slots};
			struct actor_spawn_options spawn_options = {
				.size = sizeof(spawn_options), .loop = 1};
			struct actor_system *system;
			actor_ref ref;

			listened = listened_at_the_end = ends_told = 0;
			assert_int_equal(actor_system_open(&system, &options), 0);
			assert_int_equal(actor_system_spawn(
						 system, &listener_class, &spawn_options, &ref),
				0);
			actor_system_tell(system, ref, &plain_type, &to, sizeof(to));
			wait_for(&ends_told, 1);
			assert_int_equal(listened_at_the_end, CHATTER);
			assert_int_equal(actor_system_close_wait(system), 0);
			assert_int_equal(ends_told, 1);
		}
	}
}

/* ---- other loops ---- */

static void watches_go_from_loop_to_loop(void **state)
{
	for (int here = 1; here <= 2; here++) {
		struct lab lab;
		actor_ref w, s;

		trail_reset();
		lab_open_owned(&lab, 2);
		w = spawn(&lab, 'w', here);
		s = spawn(&lab, 's', 3 - here);
		assert_true(trail_becomes('s', "+s") && trail_becomes('w', "+w"));
		ask_for(&lab, w, WATCH, s);
		assert_true(trail_becomes('w', "+ww"));
		give(&lab, s, (struct order){.kind = FAIL});
		assert_true(trail_becomes('s', "+s!s-s+s"));
		actor_system_stop(lab.system, s);
		assert_true(trail_becomes('s', "+s!s-s+s-s(s"));
		ask_for(&lab, w, WATCH, s); /* gone */
		assert_true(trail_becomes('s', "+s!s-s+s-s(s(s"));
		assert_int_equal(last_reason, -ENOENT);
		s = spawn(&lab, 'u', 3 - here);
		ask_for(&lab, w, WATCH, s);
		ask_for(&lab, w, UNWATCH, s);
		give(&lab, w, (struct order){.kind = WATCH_WITH, .ref = s, .number = 'x'});
		assert_true(trail_becomes('w', "+wwwwww"));
		actor_system_stop(lab.system, s);
		assert_true(trail_becomes('x', "(x"));
		s = spawn(&lab, 'v', 3 - here);
		give(&lab, w, (struct order){.kind = WATCH_WITH, .ref = s, .number = 'y'});
		assert_true(trail_becomes('w', "+wwwwwww"));
		actor_system_stop(lab.system, w);
		assert_true(trail_becomes('w', "+wwwwwww-w"));
		actor_system_stop(lab.system, s);
		assert_true(trail_becomes('v', "+v-v"));
		lab_close(&lab);
		assert_string_equal(trail_of('y'), "");
		assert_int_equal(tokens_alive, 0);
		assert_int_equal(lab.dead_letters, 0);
	}
}

static void closing_ends_all_watches(void **state)
{
	lab_heap_begin();
	for (int round = 0; round < 6; round++) { /* tables of the process stay from the first on */
		int loops = 3 - round % 3;
		struct lab lab;
		actor_ref refs[30];
		int64_t blocks = lab_heap_blocks;

		lab_open_owned(&lab, loops);
		for (int i = 0; i < 30; i++)
			refs[i] = spawn(&lab, (char)('a' + i % 26), 1 + i % loops);
		for (int i = 0; i < 30; i++)
			for (int n = 1; n < 30; n++)
				give(&lab, refs[i],
					(struct order){.kind = n % 2 ? WATCH : WATCH_WITH,
						.ref = refs[(i + n) % 30],
						.number = '$'});
		for (int i = 0; i < 10; i++)
			actor_system_stop(lab.system, refs[i]);
		lab_close(&lab);
		assert_int_equal(tokens_alive, 0);
		if (round)
			assert_int_equal(lab_heap_blocks, blocks);
	}
	lab_heap_end();
}

/* ---- memory ---- */

/* The n-th allocation fails, alone or with all behind it. Returns how many there were. What was
 * accepted is told when there is memory again. */
static int64_t scarce_run(int64_t n, enum lab_heap_failure how)
{
	struct lab lab;
	actor_ref w, s, gone;
	int64_t asked;
	char expected[8] = "";

	trail_reset();
	lab_open_with(&lab, lab_by_hand);
	w = spawn(&lab, 'w', 0);
	s = spawn(&lab, 's', 0);
	gone = spawn(&lab, 'g', 0);
	actor_system_stop(lab.system, gone);
	lab_run(&lab);
	trail_reset();
	for (int i = 0; i < 3; i++) { /* what tells needs memory itself */
		lab_heap_fail(0, how, 0);
		if (i == 0)
			ask_for(&lab, w, WATCH, s);
		else if (i == 1)
			ask_for(&lab, w, WATCH, gone);
		else
			ask_for(&lab, s, STOP_SELF, 0);
		lab_heap_fail(n, how, 0);
		lab_run(&lab);
		asked = lab_heap_asked;
		if (i < 2 && last_rc)
			assert_int_equal(last_rc, -ENOMEM);
		else if (i < 2)
			strcat(expected, i ? "(g" : "(s");
	}
	lab_heap_fail(0, LAB_FAIL_ONCE, 0);
	for (int i = 0; i < 5; i++) {
		actor_system_advance(lab.system, 1);
		lab_run(&lab);
	}
	assert_int_equal(strstr(trail, "(g") != NULL, strstr(expected, "(g") != NULL);
	assert_int_equal(strstr(trail, "(s") != NULL, strstr(expected, "(s") != NULL);
	lab_close(&lab);
	assert_int_equal(lab.dead_letters, 0);
	return asked;
}

static void end_is_told_when_there_is_memory_again(void **state)
{
	lab_heap_begin();
	for (int how = LAB_FAIL_ONCE; how <= LAB_FAIL_FROM_THEN_ON; how++) {
		scarce_run(0, how);
		for (int64_t n = 1; n <= 12; n++)
			scarce_run(n, how);
	}
	lab_heap_end();
}

/* The watcher's mailbox cannot grow when the word comes, for a while. */
static void word_waits_for_memory_of_the_mailbox(void **state)
{
	struct lab lab;
	actor_ref w, s;

	lab_heap_begin();
	lab_open_with(&lab, lab_by_hand);
	w = spawn(&lab, 'w', 0);
	s = spawn(&lab, 's', 0);
	give(&lab, w, (struct order){.kind = WATCH_WITH, .ref = s, .number = 'x'});
	lab_run(&lab);
	trail_reset();
	/* So much mail that the pool is used up, the last chunk of it to the brim. */
	for (int i = 0; i < 100000; i++) {
		struct order note = {NOTE};

		if (i == 30000)
			lab_heap_fail(1, LAB_FAIL_FROM_THEN_ON, 0);
		if (actor_system_tell(lab.system, w, &order_type, &note, sizeof(note)))
			break;
	}
	assert_int_equal(actor_system_terminate(lab.system, s), 0);
	while (!strstr(trail, "-s"))
		uv_run(&lab.loop, UV_RUN_NOWAIT);
	lab_heap_fail(0, LAB_FAIL_ONCE, 0);
	for (int i = 0; i < 3; i++) {
		actor_system_advance(lab.system, 1);
		lab_run(&lab);
	}
	assert_string_equal(trail_of('x'), "(x");
	lab_close(&lab);
	lab_heap_end();
}

/* The first word from one loop to another needs a channel between them. */
static void word_waits_for_memory_of_the_way_to_another_loop(void **state)
{
	struct lab lab;
	actor_ref w, s;

	lab_heap_begin();
	lab_open_owned(&lab, 2);
	w = spawn(&lab, 'w', 1);
	s = spawn(&lab, 's', 2);
	assert_true(trail_becomes('s', "+s"));
	give(&lab, w, (struct order){.kind = WATCH_WITH, .ref = s, .number = 'x'});
	assert_true(trail_becomes('w', "+ww"));
	give(&lab, s, (struct order){.kind = SLEEP, .number = 200});
	ask_for(&lab, s, STOP_SELF, 0);
	assert_true(trail_becomes('s', "+ss"));
	lab_heap_fail(1, LAB_FAIL_FROM_THEN_ON, 0);
	assert_true(trail_becomes('s', "+sss-s"));
	sleep_ms(20);
	assert_string_equal(trail_of('x'), "");
	lab_heap_fail(0, LAB_FAIL_ONCE, 0);
	assert_true(trail_becomes('x', "(x"));
	lab_close(&lab);
	assert_string_equal(trail_of('x'), "(x");
	lab_heap_end();
}

/* Nor is it told to anybody any more if the watcher thinks better of it, or ends, meanwhile. */
static void word_that_waits_for_memory_can_be_taken_back(void **state)
{
	for (int how = 0; how < 3; how++) {
		struct lab lab;
		actor_ref w, s;

		trail_reset();
		lab_heap_begin();
		lab_open_owned(&lab, 2);
		w = spawn(&lab, 'w', 1);
		s = spawn(&lab, 's', 2);
		assert_true(trail_becomes('s', "+s"));
		give(&lab, w, (struct order){.kind = WATCH_WITH, .ref = s, .number = 'x'});
		assert_true(trail_becomes('w', "+ww"));
		give(&lab, w, (struct order){.kind = SLEEP, .number = 400});
		ask_for(&lab, w, how ? STOP_SELF : UNWATCH, s);
		give(&lab, s, (struct order){.kind = SLEEP, .number = 100});
		ask_for(&lab, s, STOP_SELF, 0);
		assert_true(trail_becomes('s', "+ss"));
		lab_heap_fail(1, LAB_FAIL_FROM_THEN_ON, 0);
		assert_true(trail_becomes('s', "+sss-s"));
		if (how < 2)
			assert_true(trail_becomes('w', how ? "+wwww-w" : "+wwww"));
		sleep_ms(20);
		lab_heap_fail(0, LAB_FAIL_ONCE, 0);
		sleep_ms(20);
		lab_close(&lab);
		if (how < 2)
			assert_string_equal(trail_of('x'), "");
		assert_int_equal(tokens_alive, 0);
		lab_heap_end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(case_12_word_of_an_end_is_never_evicted),
		TEST(word_comes_behind_all_that_the_subject_has_told),
		TEST(watches_go_from_loop_to_loop),
		TEST(closing_ends_all_watches),
		TEST(end_is_told_when_there_is_memory_again),
		TEST(word_waits_for_memory_of_the_mailbox),
		TEST(word_waits_for_memory_of_the_way_to_another_loop),
		TEST(word_that_waits_for_memory_can_be_taken_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
