/* SPDX-License-Identifier: MIT */
/* Watching the end of others: who is told, when, how often, and what undoes it. */
#include "tests/family.h"

#include <unistd.h>

static int setup(void **state)
{
	trail_reset();
	members_alive = 0;
	tokens_alive = 0;
	counted_alive = 0;
	return 0;
}

static int teardown(void **state)
{
	assert_int_equal(members_alive, 0);
	assert_int_equal(tokens_alive, 0);
	assert_int_equal(counted_alive, 0);
	return 0;
}

static actor_ref spawn(struct lab *lab, char letter, int loop)
{
	return member_spawn(lab, &member_class, (struct member){.letter = letter}, NULL, NULL, loop);
}

static void ask_for(struct lab *lab, actor_ref to, enum order_kind kind, actor_ref ref)
{
	give(lab, to, (struct order){.kind = kind, .ref = ref});
}

/* A watcher w and a subject s on one loop that have started. */
static void pair_open(struct lab *lab, actor_ref *w, actor_ref *s)
{
	lab_open(lab, NULL);
	*w = spawn(lab, 'w', 0);
	*s = spawn(lab, 's', 0);
	lab_run(lab);
	trail_reset();
}

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

/* ---- memory ---- */

static void by_hand(struct actor_system_options *options)
{
	options->manual_ms = 1000;
}

/* The n-th allocation fails, alone or with all behind it. Returns how many there were. What was
 * accepted is told when there is memory again. */
static int64_t scarce_run(int64_t n, enum lab_heap_failure how)
{
	struct lab lab;
	actor_ref w, s, gone;
	int64_t asked;
	char expected[8] = "";

	trail_reset();
	lab_open_with(&lab, by_hand);
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
	lab_open_with(&lab, by_hand);
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
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
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
		TEST(case_12_word_of_an_end_is_never_evicted),
		TEST(case_13_name_that_is_spawned_again_is_another_subject),
		TEST(name_is_free_when_the_end_is_told),
		TEST(word_comes_behind_all_that_the_subject_has_told),
		TEST(watches_go_from_loop_to_loop),
		TEST(closing_ends_all_watches),
		TEST(wrong_calls_are_refused),
		TEST(end_is_told_when_there_is_memory_again),
		TEST(word_waits_for_memory_of_the_mailbox),
		TEST(word_waits_for_memory_of_the_way_to_another_loop),
		TEST(word_that_waits_for_memory_can_be_taken_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
