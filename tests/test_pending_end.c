/* SPDX-License-Identifier: MIT */
/* Pending handlers and what ends or measures them: time, budgets, payloads, closing, no memory. */
#include "tests/pender.h"

/* ---- time ---- */

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
	lab_open_with(&lab, lab_by_hand);
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
	lab_open_with(&lab, lab_by_hand);
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

static int on_complete(
	struct actor_ctx *ctx, int status, const struct actor_message *message, void *data)
{
	mark('c');
	return status;
}

static void on_in_time(uv_timer_t *timer)
{
	rc_wrong += actor_complete(timer->data, kept_token, 0, on_complete, NULL) != 0;
	uv_close((uv_handle_t *)timer, NULL);
}

static void closing_waits_for_a_completion_that_comes_in_time(void **state)
{
	uv_timer_t timer;
	struct lab lab;
	actor_ref ref;

	(void)state;
	trail[0] = '\0';
	lab_open_with(&lab, drain_long);
	ref = spawn(&lab, &quiet_class, NULL);
	tell(&lab, ref, "pb");
	lab_run(&lab);
	uv_timer_init(&lab.loop, &timer);
	timer.data = lab.system;
	uv_timer_start(&timer, on_in_time, 30, 0);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_receive_time_out_counts_from_the_end_of_a_pending_handler_case_20),
		TEST(a_fixed_delay_counts_from_the_end_of_a_pending_handler),
		TEST(a_handler_that_never_ends_spends_its_turns_like_any_other),
		TEST(the_payload_is_released_once_when_the_handler_ends),
		TEST(closing_abandons_a_pending_handler_after_the_drain),
		TEST(closing_waits_for_a_completion_that_comes_in_time),
		TEST(closing_reaches_a_pending_child_of_an_actor_that_stops),
		TEST(without_memory_a_handler_does_not_become_pending),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
