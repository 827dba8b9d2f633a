/* SPDX-License-Identifier: MIT */
/* Handlers that go on after their return: completed once, from anywhere, in a turn of their actor. */
#include "tests/lab.h"

#include <stdio.h>
#include <unistd.h>

static char trail[512];

static void mark(char letter)
{
	size_t n = strlen(trail);

	assert_true(n < sizeof(trail) - 1);
	trail[n] = letter;
	trail[n + 1] = '\0';
}

/* ---- an actor whose handler becomes pending, and who completes it ---- */

enum completer {
	BY_ITSELF,        /* inside the handler */
	BY_THREAD_BEFORE, /* another thread, before the handler returns */
	BY_THREAD_AFTER,
	BY_ACTOR, /* another actor of the loop */
	BY_TIMER, /* a callback of libuv */
	COMPLETERS,
};

static const struct {
	int status;
	bool cb;
	int cb_rc;
	int handler_rc; /* by itself and before only: it fails all the same */
	uint64_t failed;
	const char *trail;
} rows[] = {
	{0, false, 0, 0, 0, "pabX"},
	{0, true, 0, 0, 0, "pcabX"},
	{7, true, 0, 0, 0, "pcabX"},
	{7, false, 0, 0, 0, "pabX"},
	{-EIO, false, 0, 0, 1, "pX"},
	{-EIO, true, 0, 0, 0, "pcabX"}, /* the callback has dealt with it */
	{0, true, -EPIPE, 0, 1, "pcX"},
	{0, true, 0, -EPIPE, 1, "pcX"},
	{0, false, 0, -EPIPE, 1, "pX"},
};

struct act {
	struct lab *lab;
	size_t row;
	enum completer by;
	actor_ref other;
	struct actor_token token;
	pthread_t thread; /* BY_THREAD_AFTER */
};

static _Atomic uint32_t rc_wrong;

static int on_complete(
	struct actor_ctx *ctx, int status, const struct actor_message *message, void *data)
{
	const struct act *act = data;

	mark('c');
	rc_wrong += status != rows[act->row].status;
	rc_wrong += message->bytes != 1 || *(const char *)message->payload != 'p';
	rc_wrong += actor_self(ctx) != act->token.actor;
	return rows[act->row].cb_rc;
}

static void complete(struct act *act)
{
	actor_complete_cb cb = rows[act->row].cb ? on_complete : NULL;
	struct actor_token wrong = act->token;
	int status = rows[act->row].status;

	wrong.number += 1000000;
	rc_wrong += actor_complete(act->lab->system, wrong, 0, on_complete, act) != -ESTALE;
	rc_wrong += actor_complete(act->lab->system, act->token, status, cb, act) != 0;
	rc_wrong += actor_complete(act->lab->system, act->token, 0, on_complete, act) != -ESTALE;
}

static void *complete_thread(void *act)
{
	complete(act);
	return NULL;
}

static void *complete_thread_later(void *act)
{
	sleep_ms(5);
	complete(act);
	return NULL;
}

static void on_timer(uv_timer_t *timer)
{
	if (timer->data)
		complete(timer->data);
	uv_close((uv_handle_t *)timer, NULL);
}

static int pender_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	static uv_timer_t timer;
	struct act *act = *(struct act **)actor_state(ctx);
	char letter = *(const char *)m->payload;

	mark(letter);
	if (letter != 'p')
		return 0;
	rc_wrong += actor_pending(ctx, &act->token) != 0;
	switch (act->by) {
	case BY_ITSELF:
		complete(act);
		return rows[act->row].handler_rc;
	case BY_THREAD_BEFORE:
		rc_wrong += pthread_create(&act->thread, NULL, complete_thread, act) != 0;
		pthread_join(act->thread, NULL);
		return rows[act->row].handler_rc;
	case BY_THREAD_AFTER:
		return -pthread_create(&act->thread, NULL, complete_thread_later, act);
	case BY_ACTOR:
		return actor_tell(ctx, act->other, &plain_type, &act, sizeof(act));
	default:
		uv_timer_init(actor_ctx_loop(ctx), &timer);
		timer.data = act;
		return uv_timer_start(&timer, on_timer, 5, 0);
	}
}

static void pender_stop(struct actor_ctx *ctx)
{
	mark('X');
}

static struct actor_class pender_class = {.size = sizeof(struct actor_class),
	.name = "pender",
	.state_bytes = sizeof(struct act *),
	.on_message = pender_message,
	.on_stop = pender_stop};

static int other_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	complete(*(struct act **)m->payload);
	return 0;
}

static struct actor_class other_class = {
	.size = sizeof(struct actor_class), .name = "other", .on_message = other_message};

static actor_ref spawn(struct lab *lab, struct actor_class *cls, void *state)
{
	struct actor_spawn_options options = {
		.size = sizeof(options), .init = &state, .strategy = &lab_stops};
	actor_ref ref;

	assert_int_equal(actor_system_spawn(lab->system, cls, &options, &ref), 0);
	return ref;
}

static void tell(struct lab *lab, actor_ref ref, const char *letters)
{
	for (; *letters; letters++)
		assert_int_equal(
			actor_system_tell(lab->system, ref, &plain_type, letters, 1), 0);
}

static void run_until(struct lab *lab, uint64_t delivered)
{
	uint64_t end = now_ns() + 20000000000u;

	while (lab_stats(lab).delivered < delivered && now_ns() < end) {
		uv_run(&lab->loop, UV_RUN_NOWAIT);
		sleep_ms(1);
	}
	assert_int_equal(lab_stats(lab).delivered, delivered);
}

static void try_row(size_t row, enum completer by)
{
	struct act act = {.row = row, .by = by};
	bool fails = rows[row].failed != 0;
	struct lab lab;
	actor_ref ref;

	trail[0] = '\0';
	lab_open(&lab, NULL);
	act.lab = &lab;
	act.other = spawn(&lab, &other_class, NULL);
	ref = spawn(&lab, &pender_class, &act);
	tell(&lab, ref, "pab");
	if (by == BY_THREAD_BEFORE || by == BY_THREAD_AFTER)
		lab_count(&lab); /* keeps the loop alive */
	run_until(&lab, (uint64_t)(fails ? 1 : 3) + (by == BY_ACTOR));
	if (by == BY_THREAD_AFTER)
		pthread_join(act.thread, NULL);
	lab_close(&lab);
	assert_string_equal(trail, rows[row].trail);
	assert_int_equal(lab.dead_letters, fails ? 2 : 0);
	assert_int_equal(lab.logged, fails ? 1 : 0);
	assert_int_equal(rc_wrong, 0);
}

static void whoever_completes_a_handler_it_ends_once_in_a_turn_of_its_actor(void **state)
{
	(void)state;
	for (size_t row = 0; row < COUNT(rows); row++)
		for (int by = 0; by < COMPLETERS; by++)
			if (!rows[row].handler_rc || by <= BY_THREAD_BEFORE)
				try_row(row, (enum completer)by);
}

/* ---- nothing else runs meanwhile ---- */

static struct actor_token kept_token;
static struct actor_ctx *kept_ctx;
static const void *kept_payload;

static int quiet_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	char letter = *(const char *)m->payload;

	mark(letter);
	if (letter == 's')
		actor_stop_self(ctx);
	if (letter != 'p' && letter != 's')
		return 0;
	kept_ctx = ctx;
	kept_payload = m->payload;
	return actor_pending(ctx, &kept_token);
}

static struct actor_class quiet_class = {.size = sizeof(struct actor_class),
	.name = "quiet",
	.on_message = quiet_message,
	.on_stop = pender_stop};

static int on_same_payload(
	struct actor_ctx *ctx, int status, const struct actor_message *message, void *data)
{
	rc_wrong += message->payload != kept_payload || *(const char *)message->payload != 'p';
	return 0;
}

static void a_pending_actor_takes_no_turn_and_its_message_stays_in_place(void **state)
{
	struct actor_stats before;
	struct lab lab;
	actor_ref ref;

	(void)state;
	trail[0] = '\0';
	lab_open(&lab, NULL);
	ref = spawn(&lab, &quiet_class, NULL);
	tell(&lab, ref, "a");
	lab_run(&lab);
	tell(&lab, ref, "p");
	lab_run(&lab);
	before = lab_stats(&lab);
	for (int i = 0; i < 100; i++) {
		tell(&lab, ref, "b");
		lab_run(&lab); /* returns: nothing is ready */
	}
	assert_int_equal(lab_stats(&lab).turns, before.turns);
	assert_int_equal(lab_stats(&lab).delivered, 1);
	assert_string_equal(trail, "ap");
	assert_int_equal(actor_complete(lab.system, kept_token, 0, on_same_payload, NULL), 0);
	lab_run(&lab);
	assert_int_equal(lab_stats(&lab).delivered, 102);
	assert_int_equal(rc_wrong, 0);
	lab_close(&lab);
}

enum stop { STOP_BY_MESSAGE, STOP_ITSELF, STOP_WITH_PARENT, STOPS };

static int parent_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	actor_ref *child = actor_state(ctx);

	if (!*child)
		return actor_spawn(ctx, &quiet_class, NULL, child);
	if (*(const char *)m->payload == 'x') {
		actor_stop_self(ctx);
		return 0;
	}
	return actor_tell(ctx, *child, &plain_type, m->payload, 1);
}

static struct actor_class parent_class = {.size = sizeof(struct actor_class),
	.name = "parent",
	.state_bytes = sizeof(actor_ref),
	.on_message = parent_message};

static void a_stop_waits_for_the_completion(void **state)
{
	(void)state;
	for (int how = 0; how < STOPS; how++) {
		uint64_t actors = how == STOP_WITH_PARENT ? 2 : 1;
		struct lab lab;
		actor_ref ref;

		trail[0] = '\0';
		lab_open(&lab, NULL);
		ref = how == STOP_WITH_PARENT ? spawn(&lab, &parent_class, NULL)
					      : spawn(&lab, &quiet_class, NULL);
		tell(&lab, ref, how == STOP_ITSELF ? "sb" : how == STOP_WITH_PARENT ? "-pb" : "p");
		lab_run(&lab);
		if (how == STOP_WITH_PARENT)
			tell(&lab, ref, "x");
		else
			actor_system_stop(lab.system, ref);
		lab_run(&lab);
		assert_int_equal(lab_stats(&lab).terminated, 0);
		assert_int_equal(strlen(trail), 1);
		assert_int_equal(actor_complete(lab.system, kept_token, 0, NULL, NULL), 0);
		lab_run(&lab);
		assert_int_equal(lab_stats(&lab).terminated, actors);
		assert_int_equal(trail[1], 'X');
		assert_int_equal(actor_complete(lab.system, kept_token, 0, NULL, NULL), -ESTALE);
		lab_close(&lab);
	}
}

/* ---- a chain: a completion that goes on ---- */

static struct actor_token links[3];

static int on_link(
	struct actor_ctx *ctx, int status, const struct actor_message *message, void *data)
{
	struct actor_token *next = data;

	mark((char)('0' + status));
	rc_wrong += message->payload != kept_payload;
	if (status == 3)
		return actor_reply(ctx, &plain_type, "r", 1);
	rc_wrong += actor_stash(ctx) != -EINVAL; /* and that is logged */
	return actor_pending(ctx, next);
}

static int chain_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	mark(*(const char *)m->payload);
	kept_payload = m->payload;
	return *(const char *)m->payload == 'p' ? actor_pending(ctx, &links[0]) : 0;
}

static struct actor_class chain_class = {
	.size = sizeof(struct actor_class), .name = "chain", .on_message = chain_message};

static int on_answer(
	struct actor_ctx *ctx, int status, const struct actor_message *reply, void *data)
{
	rc_wrong += status != 0;
	mark(reply ? *(const char *)reply->payload : '?');
	return 0;
}

static int asker_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	return actor_ask(ctx, *(actor_ref *)actor_state(ctx), &plain_type, m->payload, 1, 60000,
		on_answer, NULL);
}

static struct actor_class asker_class = {.size = sizeof(struct actor_class),
	.name = "asker",
	.state_bytes = sizeof(actor_ref),
	.on_message = asker_message};

static void a_completion_may_go_on_pending_and_answer_in_the_end(void **state)
{
	static const char *const so_far[] = {"p", "p1", "p12"};
	struct lab lab;
	actor_ref ref, asker;

	(void)state;
	trail[0] = '\0';
	lab_open(&lab, NULL);
	ref = spawn(&lab, &chain_class, NULL);
	asker = spawn(&lab, &asker_class, (void *)(uintptr_t)ref);
	tell(&lab, asker, "p");
	lab_run(&lab);
	tell(&lab, ref, "b");
	for (int i = 0; i < 3; i++) {
		assert_string_equal(trail, so_far[i]);
		assert_int_equal(actor_complete(lab.system, links[i], i + 1, on_link,
					 &links[(i + 1) % 3]),
			0);
		assert_int_equal(actor_complete(lab.system, links[i], 0, NULL, NULL), -ESTALE);
		lab_run(&lab);
	}
	assert_string_equal(trail, "p123br");
	assert_int_equal(lab_stats(&lab).delivered, 4);
	assert_int_equal(rc_wrong, 0);
	assert_int_equal(lab.logged, 2);
	lab_close(&lab);
}

/* ---- time ---- */

static void by_hand(struct actor_system_options *options)
{
	options->manual_ms = 1000;
}

static int timed_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	if (m->type == &actor_timeout) {
		mark('!');
		return 0;
	}
	mark(*(const char *)m->payload);
	if (*(const char *)m->payload == 't')
		return actor_receive_timeout(ctx, 50);
	if (*(const char *)m->payload == 'd')
		return actor_timer_fixed_delay(ctx, 1, 10, 10, &plain_type, "k", 1);
	return actor_pending(ctx, &kept_token);
}

static struct actor_class timed_class = {
	.size = sizeof(struct actor_class), .name = "timed", .on_message = timed_message};

static void advance(struct lab *lab, uint64_t ms)
{
	assert_int_equal(actor_system_advance(lab->system, ms), 0);
	lab_run(lab);
}

static void finish(struct lab *lab)
{
	assert_int_equal(actor_complete(lab->system, kept_token, 0, NULL, NULL), 0);
	lab_run(lab);
}

static void a_receive_time_out_counts_from_the_end_of_a_pending_handler_case_20(void **state)
{
	struct lab lab;
	actor_ref ref;

	(void)state;
	trail[0] = '\0';
	lab_open_with(&lab, by_hand);
	ref = spawn(&lab, &timed_class, NULL);
	tell(&lab, ref, "tp");
	lab_run(&lab);
	advance(&lab, 500);
	finish(&lab);
	advance(&lab, 49);
	assert_string_equal(trail, "tp");
	advance(&lab, 1);
	assert_string_equal(trail, "tp!");
	lab_close(&lab);
}

static void a_fixed_delay_counts_from_the_end_of_a_pending_handler(void **state)
{
	struct lab lab;
	actor_ref ref;

	(void)state;
	trail[0] = '\0';
	lab_open_with(&lab, by_hand);
	ref = spawn(&lab, &timed_class, NULL);
	tell(&lab, ref, "d");
	lab_run(&lab);
	advance(&lab, 10);
	assert_string_equal(trail, "dk");
	advance(&lab, 25);
	finish(&lab);
	advance(&lab, 9);
	assert_string_equal(trail, "dk");
	advance(&lab, 1);
	assert_string_equal(trail, "dkk");
	finish(&lab);
	lab_close(&lab);
}

/* ---- budgets ---- */

static void no_drain(struct actor_system_options *options)
{
	options->drain_ms = -1;
}

static uint32_t rounds;

/* Goes on for ever, completed at once. */
static int on_eternal(
	struct actor_ctx *ctx, int status, const struct actor_message *message, void *data)
{
	struct actor_token token;
	int rc = actor_pending(ctx, &token);

	rounds++;
	if (rc == ACTOR_ECLOSED)
		return 0;
	rc_wrong += rc != 0;
	return actor_complete(actor_ctx_system(ctx), token, 0, on_eternal, NULL);
}

static int eternal_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	return on_eternal(ctx, 0, m, NULL);
}

static struct actor_class eternal_class = {
	.size = sizeof(struct actor_class), .name = "eternal", .on_message = eternal_message};

static void a_handler_that_never_ends_spends_its_turns_like_any_other(void **state)
{
	struct actor_spawn_options options = {.size = sizeof(options), .throughput = 5};
	struct lab lab;
	actor_ref ref;

	(void)state;
	lab_open_with(&lab, no_drain);
	assert_int_equal(actor_system_spawn(lab.system, &eternal_class, &options, &ref), 0);
	lab_run(&lab);
	tell(&lab, ref, "a");
	uv_run(&lab.loop, UV_RUN_NOWAIT);
	for (uint32_t pass = 1; pass <= 10; pass++) {
		uint64_t turns = lab_stats(&lab).turns;

		rounds = 0;
		uv_run(&lab.loop, UV_RUN_NOWAIT);
		assert_int_equal(lab_stats(&lab).turns - turns, 64);
		assert_int_equal(rounds, 320);
	}
	assert_int_equal(lab_stats(&lab).delivered, 0);
	assert_int_equal(rc_wrong, 0);
	/* Not while it is about to go on: its chain ends when it may not become pending any more. */
	lab_close(&lab);
}

/* ---- payloads ---- */

enum keep { KEEP, TAKE_BEFORE, TAKE_LATER, KEEPS };

static enum keep keep;

static void take(struct actor_ctx *ctx, bool inlined)
{
	struct counted *counted = actor_take(ctx);

	assert_non_null(counted);
	if (inlined) {
		atomic_fetch_sub(&tokens_alive, 1);
	} else {
		atomic_fetch_sub(&counted_alive, 1);
		free(counted);
	}
}

static int on_owner(
	struct actor_ctx *ctx, int status, const struct actor_message *message, void *data)
{
	if (keep == TAKE_LATER)
		take(ctx, message->type == &token_type);
	return status;
}

static int owner_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	int rc = actor_pending(ctx, &kept_token);

	if (keep == TAKE_BEFORE)
		take(ctx, m->type == &token_type);
	return rc;
}

static struct actor_class owner_class = {
	.size = sizeof(struct actor_class), .name = "owner", .on_message = owner_message};

static void the_payload_is_released_once_when_the_handler_ends(void **state)
{
	(void)state;
	for (int i = 0; i < KEEPS * 4; i++) {
		int status = i % 4 / 2 ? -EIO : 0;
		struct lab lab;
		actor_ref ref;

		keep = (enum keep)(i / 4);
		lab_open(&lab, NULL);
		ref = spawn(&lab, &owner_class, NULL);
		if (i % 2) {
			uint64_t token = token_new(1);

			actor_system_tell(
				lab.system, ref, &token_type, &token, sizeof(token));
		} else {
			actor_system_tell(lab.system, ref, &counted_type, counted_new(1),
				sizeof(struct counted));
		}
		lab_run(&lab);
		assert_int_equal(counted_alive + tokens_alive, keep == TAKE_BEFORE ? 0 : 1);
		assert_int_equal(
			actor_complete(lab.system, kept_token, status, on_owner, NULL), 0);
		lab_run(&lab);
		assert_int_equal(counted_alive + tokens_alive, 0);
		assert_int_equal(lab_stats(&lab).failed, status ? 1 : 0);
		lab_close(&lab);
	}
}

/* ---- closing ---- */

static int never(struct actor_ctx *ctx, int status, const struct actor_message *m, void *data)
{
	rc_wrong++;
	return 0;
}

static void drain_20_ms(struct actor_system_options *options)
{
	options->drain_ms = 20;
}

static void drain_long(struct actor_system_options *options)
{
	options->drain_ms = 60000;
}

static void closing_abandons_a_pending_handler_after_the_drain(void **state)
{
	void (*const drains[])(struct actor_system_options *) = {drain_20_ms, no_drain};

	(void)state;
	for (size_t i = 0; i < COUNT(drains); i++) {
		struct lab lab;
		actor_ref ref;

		trail[0] = '\0';
		keep = KEEP;
		lab_open_with(&lab, drains[i]);
		ref = spawn(&lab, &owner_class, NULL);
		actor_system_tell(lab.system, ref, &counted_type, counted_new(1),
			sizeof(struct counted));
		tell(&lab, ref, "b");
		lab_run(&lab);
		lab_close(&lab);
		assert_int_equal(lab.dead_letters, 1);
		assert_int_equal(counted_alive, 0);
		assert_int_equal(lab.logged, 0);
	}
}

static void closing_waits_for_a_completion_that_comes_in_time(void **state)
{
	struct act act = {.row = 1};
	uv_timer_t timer;
	struct lab lab;
	actor_ref ref;

	(void)state;
	trail[0] = '\0';
	lab_open_with(&lab, drain_long);
	act.lab = &lab;
	ref = spawn(&lab, &quiet_class, NULL);
	tell(&lab, ref, "pb");
	lab_run(&lab);
	act.token = kept_token;
	uv_timer_init(&lab.loop, &timer);
	timer.data = &act;
	uv_timer_start(&timer, on_timer, 30, 0);
	lab_close(&lab);
	assert_string_equal(trail, "pcbX");
	assert_int_equal(lab.dead_letters, 0);
	assert_int_equal(rc_wrong, 0);
}

/* Its only message makes it pending; its parent waits for it, and nobody completes it. */
static void closing_reaches_a_pending_child_of_an_actor_that_stops(void **state)
{
	struct lab lab;
	actor_ref ref;

	(void)state;
	trail[0] = '\0';
	lab_open_with(&lab, drain_20_ms);
	ref = spawn(&lab, &parent_class, NULL);
	tell(&lab, ref, "-pb");
	lab_run(&lab);
	tell(&lab, ref, "x");
	lab_run(&lab);
	lab_close(&lab);
	assert_string_equal(trail, "pX");
	assert_int_equal(lab.dead_letters, 1);
}

static struct lab *closing_lab;
static int pending_rc;

static void late_stop(struct actor_ctx *ctx)
{
	struct actor_token token;

	pending_rc = actor_pending(ctx, &token);
}

static int late_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct actor_token token;

	return actor_complete(actor_ctx_system(ctx), token = (struct actor_token){0, 0}, 0, never,
		       NULL) == -ESTALE
		       ? 0
		       : -1;
}

static int late_start(struct actor_ctx *ctx)
{
	struct actor_token token;

	pending_rc = actor_pending(ctx, &token);
	return 0;
}

static struct actor_class late_class = {.size = sizeof(struct actor_class),
	.name = "late",
	.on_start = late_start,
	.on_message = late_message,
	.on_stop = late_stop};

static void wrong_calls_are_refused_and_logged(void **state)
{
	struct lab lab, other;
	actor_ref ref;

	(void)state;
	closing_lab = &lab;
	pending_rc = 0;
	lab_open(&lab, NULL);
	ref = spawn(&lab, &late_class, NULL);
	lab_run(&lab);
	assert_int_equal(pending_rc, -EINVAL); /* on_start */
	assert_int_equal(lab.logged, 1);
	tell(&lab, ref, "a");
	pending_rc = 0;
	actor_system_stop(lab.system, ref);
	lab_run(&lab);
	assert_int_equal(pending_rc, -EINVAL); /* on_stop */
	assert_int_equal(lab_stats(&lab).failed, 0);
	ref = spawn(&lab, &quiet_class, NULL);
	tell(&lab, ref, "p");
	lab_run(&lab);
	assert_int_equal(actor_pending(kept_ctx, &kept_token), -EINVAL); /* no handler runs */
	assert_int_equal(actor_pending(NULL, &kept_token), -EINVAL);
	assert_int_equal(actor_complete(NULL, kept_token, 0, never, NULL), -EINVAL);
	lab_open(&other, NULL);
	assert_int_equal(actor_complete(other.system, kept_token, 0, never, NULL), -ESTALE);
	lab_close(&other);
	assert_int_equal(actor_complete(lab.system, kept_token, 0, NULL, NULL), 0);
	lab_run(&lab);
	assert_int_equal(lab.logged, 3);
	assert_int_equal(rc_wrong, 0);
	lab_close(&lab);
}

static int twice_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct actor_token token;

	rc_wrong += actor_pending(ctx, NULL) != -EINVAL;
	rc_wrong += actor_pending(ctx, &kept_token) != 0;
	rc_wrong += actor_pending(ctx, &token) != -EINVAL;
	rc_wrong += actor_stash(ctx) != -EINVAL;
	return -EIO; /* and so it is not pending */
}

static struct actor_class twice_class = {
	.size = sizeof(struct actor_class), .name = "twice", .on_message = twice_message};

static void a_handler_that_fails_is_not_pending(void **state)
{
	struct lab lab;
	actor_ref ref;

	(void)state;
	lab_open(&lab, NULL);
	ref = spawn(&lab, &twice_class, NULL);
	tell(&lab, ref, "a");
	lab_run(&lab);
	assert_int_equal(lab_stats(&lab).failed, 1);
	assert_int_equal(lab_stats(&lab).delivered, 1);
	assert_int_equal(lab_stats(&lab).terminated, 1);
	assert_int_equal(lab.logged, 4);
	assert_int_equal(actor_complete(lab.system, kept_token, 0, never, NULL), -ESTALE);
	assert_int_equal(rc_wrong, 0);
	lab_close(&lab);
}

/* ---- without memory ---- */

static int frugal_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct actor_token token;
	int rc = actor_pending(ctx, &token);

	if (rc == -ENOMEM)
		return 0; /* handled at once */
	rc_wrong += rc != 0;
	rc_wrong += actor_complete(actor_ctx_system(ctx), token, 0, NULL, NULL) != 0;
	return 0;
}

static struct actor_class frugal_class = {
	.size = sizeof(struct actor_class), .name = "frugal", .on_message = frugal_message};

static void without_memory_a_handler_does_not_become_pending(void **state)
{
	uint64_t handled = 0;

	(void)state;
	for (int64_t n = 1; n < 12; n++) {
		struct lab lab;
		actor_ref ref;

		lab_heap_begin();
		lab_open(&lab, NULL);
		ref = spawn(&lab, &frugal_class, NULL);
		lab_run(&lab);
		tell(&lab, ref, "abcdefgh");
		lab_heap_fail(n, LAB_FAIL_ONCE, 0);
		lab_run(&lab);
		lab_heap_fail(0, LAB_FAIL_ONCE, 0);
		handled += lab_stats(&lab).delivered;
		assert_int_equal(lab_stats(&lab).delivered, 8);
		lab_close(&lab);
		assert_int_equal(lab.dead_letters, 0);
		lab_heap_end();
	}
	assert_int_equal(handled, 88);
	assert_int_equal(rc_wrong, 0);
}

/* ---- stress ---- */

#define LOOPS   3
#define ACTORS  12
#define THREADS 3
#define ROOM    4096

static struct {
	pthread_mutex_t lock;
	struct actor_token at[ROOM];
	uint32_t count;
} tokens = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Atomic uint64_t accepted, completed, called, stale, ended_at_once;
static _Atomic bool over;
static uint64_t seed;

static uint64_t new_random(void)
{
	static _Atomic uint64_t count;

	return (seed + atomic_fetch_add(&count, 1) * 0x9e3779b97f4a7c15ull) | 1;
}

static bool token_put(struct actor_token token)
{
	bool ok;

	pthread_mutex_lock(&tokens.lock);
	ok = tokens.count < ROOM;
	if (ok)
		tokens.at[tokens.count++] = token;
	pthread_mutex_unlock(&tokens.lock);
	return ok;
}

static bool token_get(struct actor_token *token, uint64_t random)
{
	bool ok;

	pthread_mutex_lock(&tokens.lock);
	ok = tokens.count != 0;
	if (ok) {
		uint32_t i = (uint32_t)(random % tokens.count);

		*token = tokens.at[i];
		tokens.at[i] = tokens.at[--tokens.count];
	}
	pthread_mutex_unlock(&tokens.lock);
	return ok;
}

struct worker {
	uint64_t random;
	bool busy; /* from the handler's start to its end */
};

static int on_worked(
	struct actor_ctx *ctx, int status, const struct actor_message *message, void *data)
{
	struct worker *self = actor_state(ctx);
	struct actor_token token;

	atomic_fetch_add(&called, 1);
	rc_wrong += !self->busy;
	if (random_below(&self->random, 4) == 0 && actor_pending(ctx, &token) == 0) {
		if (!token_put(token))
			actor_complete(actor_ctx_system(ctx), token, 0, NULL, NULL);
		return 0;
	}
	self->busy = false;
	return 0;
}

static int worker_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct worker *self = actor_state(ctx);
	uint32_t roll = random_below(&self->random, 8);
	struct actor_token token;

	if (!self->random)
		self->random = new_random();
	rc_wrong += self->busy;
	if (roll == 0 && actor_stash(ctx) == 0)
		return actor_unstash_all(ctx) == 1 ? 0 : -1;
	if (roll < 3 || actor_pending(ctx, &token)) {
		atomic_fetch_add(&ended_at_once, 1);
		return 0;
	}
	self->busy = true;
	if (!token_put(token)) {
		atomic_fetch_add(&completed, 1);
		rc_wrong += actor_complete(
				    actor_ctx_system(ctx), token, 0, on_worked, NULL) != 0;
	}
	return 0;
}

static struct actor_class worker_class = {.size = sizeof(struct actor_class),
	.name = "worker",
	.state_bytes = sizeof(struct worker),
	.on_message = worker_message};

struct thread {
	pthread_t id;
	struct actor_system *system;
	const actor_ref *refs;
};

/* Tells, and completes what it finds; now and then twice, of which one is too late. */
static void *thread_main(void *argument)
{
	struct thread *t = argument;
	uint64_t random = new_random();

	while (!atomic_load(&over)) {
		struct actor_token token;

		for (uint32_t i = random_below(&random, 20); i; i--) {
			uint64_t n = token_new(1);

			if (actor_system_tell(t->system, t->refs[random_below(&random, ACTORS)],
				    &token_type, &n, sizeof(n)) == 0)
				atomic_fetch_add(&accepted, 1);
		}
		for (uint32_t i = random_below(&random, 40);
			i && token_get(&token, random_next(&random)); i--) {
			int rc = actor_complete(t->system, token, 0, on_worked, NULL);

			atomic_fetch_add(rc ? &stale : &completed, 1);
			if (rc && rc != -ESTALE)
				rc_wrong++;
			if (actor_complete(t->system, token, 0, never, NULL) != -ESTALE)
				rc_wrong++;
		}
		if (random_below(&random, 8) == 0)
			sleep_ms(1);
	}
	return NULL;
}

static void stress_once(uint64_t ms)
{
	struct thread threads[THREADS];
	actor_ref refs[ACTORS];
	struct lab lab;
	uint64_t delivered;

	accepted = completed = called = stale = ended_at_once = 0;
	tokens.count = 0;
	over = false;
	lab_open_owned(&lab, LOOPS);
	for (int i = 0; i < ACTORS; i++) {
		struct actor_spawn_options options = {
			.size = sizeof(options), .loop = i % LOOPS + 1};

		assert_int_equal(
			actor_system_spawn(lab.system, &worker_class, &options, &refs[i]), 0);
	}
	for (int i = 0; i < THREADS; i++) {
		threads[i] = (struct thread){.system = lab.system, .refs = refs};
		pthread_create(&threads[i].id, NULL, thread_main, &threads[i]);
	}
	sleep_ms((unsigned int)ms);
	/* Half of the time the rest is completed, else it is abandoned. */
	atomic_store(&over, true);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i].id, NULL);
	delivered = lab_stats(&lab).delivered;
	assert_true(delivered > 0);
	lab_close(&lab);
	assert_int_equal(rc_wrong, 0);
	assert_int_equal(called, completed);
	assert_int_equal(tokens_alive, 0);
	assert_true(stale == 0 && called > 0 && ended_at_once > 0);
}

static void drain_short(struct actor_system_options *options)
{
	options->drain_ms = 30;
}

static void foreign_threads_complete_what_they_find_exactly_once(void **state)
{
	const char *wish = getenv("STRESS_SECONDS");
	const char *again = getenv("STRESS_SEED");
	uint64_t end = now_ns() + (wish ? (uint64_t)atoll(wish) : 3) * 1000000000u;

	(void)state;
	(void)drain_short;
	seed = again ? strtoull(again, NULL, 0) : now_ns() ^ (uint64_t)getpid() << 40;
	print_message("seed %#llx\n", (unsigned long long)seed);
	do
		stress_once(200);
	while (now_ns() < end);
}

static int setup(void **state)
{
	rc_wrong = 0;
	return 0;
}

#define TEST(f) cmocka_unit_test_setup(f, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(whoever_completes_a_handler_it_ends_once_in_a_turn_of_its_actor),
		TEST(a_pending_actor_takes_no_turn_and_its_message_stays_in_place),
		TEST(a_stop_waits_for_the_completion),
		TEST(a_completion_may_go_on_pending_and_answer_in_the_end),
		TEST(a_receive_time_out_counts_from_the_end_of_a_pending_handler_case_20),
		TEST(a_fixed_delay_counts_from_the_end_of_a_pending_handler),
		TEST(a_handler_that_never_ends_spends_its_turns_like_any_other),
		TEST(the_payload_is_released_once_when_the_handler_ends),
		TEST(closing_abandons_a_pending_handler_after_the_drain),
		TEST(closing_waits_for_a_completion_that_comes_in_time),
		TEST(closing_reaches_a_pending_child_of_an_actor_that_stops),
		TEST(wrong_calls_are_refused_and_logged),
		TEST(a_handler_that_fails_is_not_pending),
		TEST(without_memory_a_handler_does_not_become_pending),
		TEST(foreign_threads_complete_what_they_find_exactly_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
