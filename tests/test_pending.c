/* SPDX-License-Identifier: MIT */
/* Handlers that go on after their return: completed once, from anywhere, in a turn of their actor. */
#include "tests/pender.h"

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

static struct actor_class pender_class = {.size = sizeof(struct actor_class),
	.name = "pender",
	.state_bytes = sizeof(struct act *),
	.on_message = pender_message,
	.on_stop = quiet_stop};

static int other_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	complete(*(struct act **)m->payload);
	return 0;
}

static struct actor_class other_class = {
	.size = sizeof(struct actor_class), .name = "other", .on_message = other_message};

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

/* ---- misuse ---- */

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(whoever_completes_a_handler_it_ends_once_in_a_turn_of_its_actor),
		TEST(a_pending_actor_takes_no_turn_and_its_message_stays_in_place),
		TEST(a_stop_waits_for_the_completion),
		TEST(a_completion_may_go_on_pending_and_answer_in_the_end),
		TEST(wrong_calls_are_refused_and_logged),
		TEST(a_handler_that_fails_is_not_pending),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
