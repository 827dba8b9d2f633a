/* SPDX-License-Identifier: MIT */
/* Payloads: what arrives, who owns it, and that each is destroyed once on every way it can take. */
#include "tests/lab.h"

#include <assert.h>
#include <stdio.h>

static uint8_t seen[256];
static size_t seen_bytes;
static const struct actor_type *seen_type;
static actor_ref seen_sender, seen_self;
static uintptr_t seen_address;
static _Atomic uint32_t handled;
static void *kept;

enum what { KEEP_OFF, TAKE, FAIL, PASS_ON, REPLY_TWICE, STOP_HERE };
static enum what what;
static actor_ref next;

static int note_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	seen_bytes = message->bytes;
	seen_type = message->type;
	seen_sender = message->sender;
	seen_self = actor_self(ctx);
	seen_address = (uintptr_t)message->payload;
	if (message->bytes)
		memcpy(seen, message->payload, message->bytes);
	atomic_fetch_add(&handled, 1);
	switch (what) {
	case TAKE:
		kept = actor_take(ctx);
		return 0;
	case FAIL:
		return -EIO;
	case PASS_ON: { /* an owned block goes on to the next actor */
		void *payload = actor_take(ctx);
		int rc = actor_tell(ctx, next, &counted_type, payload, sizeof(struct counted));

		what = KEEP_OFF;
		return rc;
	}
	case REPLY_TWICE:
		what = KEEP_OFF;
		actor_reply(ctx, &counted_type, counted_new(1), sizeof(struct counted));
		return actor_reply(ctx, &counted_type, counted_new(2), sizeof(struct counted));
	case STOP_HERE:
		actor_stop_self(ctx);
		return 0;
	default:
		return 0;
	}
}

static int tell_in_hook(struct actor_ctx *ctx)
{
	assert_null(actor_take(ctx)); /* there is no message */
	return 0;
}

static void take_in_hook(struct actor_ctx *ctx)
{
	actor_take(ctx);
	actor_fail(ctx, -EIO, "nobody cares");
}

static struct actor_class note_class = {.size = sizeof(note_class),
	.name = "note",
	.on_start = tell_in_hook,
	.on_message = note_message,
	.on_stop = take_in_hook};

static actor_ref spawn(struct lab *lab, int loop)
{
	struct actor_spawn_options options = {.size = sizeof(options), .loop = loop};
	actor_ref ref;

	assert_int_equal(actor_system_spawn(lab->system, &note_class, &options, &ref), 0);
	return ref;
}

static int setup(void **state)
{
	handled = 0;
	what = KEEP_OFF;
	counted_alive = tokens_alive = 0;
	return 0;
}

static int teardown(void **state)
{
	assert_int_equal(counted_alive, 0);
	assert_int_equal(tokens_alive, 0);
	return 0;
}

static int tell_counted(struct lab *lab, actor_ref to)
{
	return actor_system_tell(
		lab->system, to, &counted_type, counted_new(1), sizeof(struct counted));
}

static int tell_token(struct lab *lab, actor_ref to)
{
	uint64_t token = token_new(1);

	return actor_system_tell(lab->system, to, &token_type, &token, sizeof(token));
}

/* ---- sizes ---- */

static void payloads_of_every_size_arrive_whole(void **state)
{
	uint8_t bytes[200];
	struct lab lab;
	actor_ref ref;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 37 + 1);
	lab_open(&lab, NULL);
	ref = spawn(&lab, 0);
	for (size_t size = 0; size <= sizeof(bytes); size++) {
		memset(seen, 0, sizeof(seen));
		assert_int_equal(
			actor_system_tell(lab.system, ref, &plain_type, bytes, size), 0);
		lab_run(&lab);
		assert_int_equal(seen_bytes, size);
		assert_memory_equal(seen, bytes, size);
		assert_ptr_equal(seen_type, &plain_type);
		assert_true(seen_sender == ACTOR_NONE);
		assert_true(seen_self == ref);
		if (size && size <= ACTOR_INLINE_BYTES)
			assert_int_equal(seen_address % 16, 0);
	}
	lab_close(&lab);
}

struct relay {
	actor_ref to;
	size_t bytes;
};

static int relay_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	const struct relay *relay = message->payload;
	uint8_t bytes[64];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 41 + 3);
	return actor_tell(ctx, relay->to, &plain_type, bytes, relay->bytes);
}

static struct actor_class relay_class = {
	.size = sizeof(relay_class), .name = "relay", .on_message = relay_message};

static void actors_tell_every_size_and_are_the_sender(void **state)
{
	struct lab lab;
	actor_ref ref, relay;

	lab_open(&lab, NULL);
	ref = spawn(&lab, 0);
	assert_int_equal(actor_system_spawn(lab.system, &relay_class, NULL, &relay), 0);
	for (size_t size = 0; size <= 33; size++) {
		struct relay r = {.to = ref, .bytes = size};

		assert_int_equal(
			actor_system_tell(lab.system, relay, &plain_type, &r, sizeof(r)), 0);
		lab_run(&lab);
		assert_int_equal(seen_bytes, size);
		for (size_t i = 0; i < size; i++)
			assert_int_equal(seen[i], (uint8_t)(i * 41 + 3));
		assert_true(seen_sender == relay);
	}
	lab_close(&lab);
}

static void wrong_messages_are_refused_and_stay_the_callers(void **state)
{
	static struct actor_type no_size = {.name = "x"};
	static struct actor_type no_name = {.size = sizeof(no_name)};
	static struct actor_type bad_name = ACTOR_TYPE("a/b");
	uint64_t token = 1;
	struct lab lab;
	actor_ref ref;

	lab_open(&lab, NULL);
	ref = spawn(&lab, 0);
	assert_int_equal(actor_system_tell(lab.system, ref, NULL, NULL, 0), ACTOR_ETYPE);
	assert_int_equal(actor_system_tell(lab.system, ref, &no_size, NULL, 0), ACTOR_ETYPE);
	assert_int_equal(actor_system_tell(lab.system, ref, &no_name, NULL, 0), ACTOR_ETYPE);
	assert_int_equal(actor_system_tell(lab.system, ref, &bad_name, NULL, 0), ACTOR_ETYPE);
	assert_int_equal(actor_system_tell(lab.system, ref, &plain_type, NULL, 5), ACTOR_ETYPE);
	assert_int_equal(actor_system_tell(lab.system, ACTOR_NONE, &token_type, &token, 8), -EINVAL);
	assert_int_equal(actor_system_tell(lab.system, ACTOR_NONE, &plain_type, seen, 99), -EINVAL);
	lab_run(&lab);
	assert_int_equal(handled, 0);
	lab_close(&lab);
}

/* ---- destroyed once ---- */

static void handled_payloads_are_destroyed_once(void **state)
{
	struct lab lab;
	actor_ref ref;

	lab_open(&lab, NULL);
	ref = spawn(&lab, 0);
	for (int i = 0; i < 50; i++) {
		tell_counted(&lab, ref);
		tell_token(&lab, ref);
	}
	assert_int_equal(counted_alive, 50);
	assert_int_equal(tokens_alive, 50);
	lab_run(&lab);
	assert_int_equal(handled, 100);
	assert_int_equal(counted_alive, 0);
	assert_int_equal(tokens_alive, 0);
	lab_close(&lab);
}

static void a_taken_payload_is_the_handlers(void **state)
{
	struct lab lab;
	actor_ref ref;

	lab_open(&lab, NULL);
	ref = spawn(&lab, 0);
	what = TAKE;
	tell_counted(&lab, ref);
	lab_run(&lab);
	assert_int_equal(counted_alive, 1);
	counted_type.destroy(kept, sizeof(struct counted));
	tell_token(&lab, ref);
	lab_run(&lab);
	assert_int_equal(tokens_alive, 1);
	tokens_alive = 0;
	/* Taking one message does not spare the next. */
	what = KEEP_OFF;
	tell_counted(&lab, ref);
	tell_token(&lab, ref);
	lab_run(&lab);
	assert_int_equal(counted_alive, 0);
	assert_int_equal(tokens_alive, 0);
	lab_close(&lab);
}

static void a_copied_block_that_is_taken_is_freed_by_the_handler(void **state)
{
	uint8_t bytes[100] = {1, 2, 3};
	struct lab lab;
	actor_ref ref;

	lab_open(&lab, NULL);
	ref = spawn(&lab, 0);
	what = TAKE;
	assert_int_equal(actor_system_tell(lab.system, ref, &plain_type, bytes, 100), 0);
	lab_run(&lab);
	assert_memory_equal(kept, bytes, 100);
	free(kept);
	lab_close(&lab);
}

static void a_taken_payload_may_be_told_on(void **state)
{
	struct lab lab;
	actor_ref ref;

	lab_open(&lab, NULL);
	ref = spawn(&lab, 0);
	next = spawn(&lab, 0);
	what = PASS_ON;
	tell_counted(&lab, ref);
	lab_run(&lab);
	assert_int_equal(handled, 2);
	assert_true(seen_self == next);
	lab_close(&lab);
}

static void payloads_of_failed_handlers_and_dead_letters_are_destroyed_once(void **state)
{
	struct lab lab;
	actor_ref ref;

	lab_open(&lab, NULL);
	ref = spawn(&lab, 0);
	what = FAIL;
	for (int i = 0; i < 10; i++) {
		tell_counted(&lab, ref);
		tell_token(&lab, ref);
	}
	lab_run(&lab);
	/* Restarted ten times, then stopped. */
	assert_int_equal(handled, 11);
	assert_int_equal(lab.dead_letters, 9);
	what = KEEP_OFF;
	/* A ref of an actor that is gone, and one that never was. */
	tell_counted(&lab, ref);
	tell_counted(&lab, ref + (5ull << 32));
	tell_counted(&lab, 0xfe00000100000001ull);
	tell_token(&lab, ref);
	lab_run(&lab);
	assert_int_equal(lab.dead_letters, 13);
	lab_close(&lab);
}

static void hooks_that_take_or_fail_do_not_touch_the_next_message(void **state)
{
	struct lab lab;
	actor_ref a, b;

	lab_open(&lab, NULL);
	a = spawn(&lab, 0);
	b = spawn(&lab, 0);
	lab_run(&lab);
	what = FAIL;
	actor_system_stop(lab.system, a);
	tell_counted(&lab, b);
	lab_run(&lab);
	assert_int_equal(counted_alive, 0);
	assert_int_equal(lab_stats(&lab).failed, 1); /* b's own failure, not a's */
	lab_close(&lab);
}

static void replies_to_nobody_are_dead_letters(void **state)
{
	struct lab lab;
	actor_ref ref;

	lab_open(&lab, NULL);
	ref = spawn(&lab, 0);
	what = REPLY_TWICE;
	tell_token(&lab, ref);
	lab_run(&lab);
	assert_int_equal(lab.dead_letters, 2);
	lab_close(&lab);
}

static void no_drain(struct actor_system_options *options)
{
	options->drain_ms = -1;
}

static void payloads_still_queued_at_the_end_are_destroyed_once(void **state)
{
	struct lab lab;
	actor_ref ref;

	lab_open_with(&lab, no_drain);
	ref = spawn(&lab, 0);
	for (int i = 0; i < 1000; i++) {
		tell_counted(&lab, ref);
		tell_token(&lab, ref);
	}
	lab_close(&lab);
	assert_int_equal(handled + lab.dead_letters, 2000);
}

/* ---- across loops and threads ---- */

static void *tell_many(void *argument)
{
	struct lab *lab = argument;

	for (int i = 0; i < 2000; i++) {
		assert(tell_counted(lab, next) == 0);
		assert(tell_token(lab, next) == 0);
	}
	return NULL;
}

static void payloads_from_foreign_threads_are_destroyed_once(void **state)
{
	for (int round = 0; round < 3; round++) {
		pthread_t threads[2];
		struct lab lab;

		handled = 0;
		lab_open_owned(&lab, 2);
		next = spawn(&lab, 2);
		if (round == 1)
			actor_system_stop(lab.system, next);
		for (int i = 0; i < 2; i++)
			pthread_create(&threads[i], NULL, tell_many, &lab);
		for (int i = 0; i < 2; i++)
			pthread_join(threads[i], NULL);
		lab_close(&lab);
		assert_int_equal(handled + lab.dead_letters, 8000);
		assert_int_equal(counted_alive, 0);
		assert_int_equal(tokens_alive, 0);
	}
}

static int spread_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	uint64_t token;

	for (int i = 0; i < 3000; i++) {
		int rc = actor_tell(
			ctx, next, &counted_type, counted_new(1), sizeof(struct counted));

		token = token_new(1);
		if (rc || actor_tell(ctx, next, &token_type, &token, sizeof(token)))
			return -EIO;
	}
	return 0;
}

static struct actor_class spread_class = {
	.size = sizeof(spread_class), .name = "spread", .on_message = spread_message};

static void payloads_in_full_rings_are_handled_or_destroyed_at_the_end(void **state)
{
	for (int round = 0; round < 6; round++) {
		struct actor_spawn_options options = {.size = sizeof(options), .loop = 1};
		struct lab lab;
		actor_ref ref;

		handled = 0;
		memset(&lab, 0, sizeof(lab));
		lab.options.size = sizeof(lab.options);
		lab.options.loops = 2;
		lab.options.ring_slots = 2;
		lab.options.drain_ms = round % 2 ? -1 : 10000;
		assert_int_equal(actor_system_open(&lab.system, &lab.options), 0);
		next = spawn(&lab, 2);
		actor_system_spawn(lab.system, &spread_class, &options, &ref);
		actor_system_tell(lab.system, ref, &plain_type, NULL, 0);
		if (round >= 4)
			actor_system_stop(lab.system, next);
		if (round % 2 == 0)
			for (int i = 0; i < 10000; i++) {
				struct actor_stats s = lab_stats(&lab);

				if (s.delivered - (round >= 4) + s.dead_letters >= 6000)
					break;
				sleep_ms(1);
			}
		lab_close(&lab);
		assert_int_equal(counted_alive, 0);
		assert_int_equal(tokens_alive, 0);
		if (round == 0)
			assert_int_equal(handled, 6000);
	}
}

/* ---- the first use of a type and a class by many threads at once ---- */

static struct actor_type fresh_types[64];
static struct actor_class fresh_classes[64];

static void *use_fresh(void *argument)
{
	struct lab *lab = argument;

	for (size_t i = 0; i < COUNT(fresh_types); i++) {
		actor_ref ref;

		actor_system_spawn(lab->system, &fresh_classes[i], NULL, &ref);
		actor_system_tell(lab->system, ref, &fresh_types[i], NULL, 0);
	}
	return NULL;
}

static int fresh_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	atomic_fetch_add(&handled, 1);
	for (size_t i = 0; i < COUNT(fresh_types); i++)
		if (message->type == &fresh_types[i])
			return i == 63 ? 0 : actor_tell(ctx, next, &fresh_types[63 - i], NULL, 0);
	return -EINVAL;
}

static void types_and_classes_may_be_used_first_by_several_threads(void **state)
{
	static char names[64][16];
	pthread_t threads[3];
	struct lab lab;

	for (size_t i = 0; i < COUNT(fresh_types); i++) {
		snprintf(names[i], sizeof(names[i]), "fresh-%zu", i);
		fresh_types[i] = (struct actor_type)ACTOR_TYPE(names[i]);
		fresh_classes[i] = (struct actor_class){.size = sizeof(struct actor_class),
			.name = names[i],
			.on_message = fresh_message};
	}
	lab_open_owned(&lab, 3);
	next = spawn(&lab, 1);
	for (size_t i = 0; i < COUNT(threads); i++)
		pthread_create(&threads[i], NULL, use_fresh, &lab);
	for (size_t i = 0; i < COUNT(threads); i++)
		pthread_join(threads[i], NULL);
	lab_close(&lab);
	assert_int_equal(handled, 3 * 64 + 3 * 63);
	assert_int_equal(lab.logged, 1); /* on_stop of `next` */
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(payloads_of_every_size_arrive_whole),
		TEST(actors_tell_every_size_and_are_the_sender),
		TEST(wrong_messages_are_refused_and_stay_the_callers),
		TEST(handled_payloads_are_destroyed_once),
		TEST(a_taken_payload_is_the_handlers),
		TEST(a_copied_block_that_is_taken_is_freed_by_the_handler),
		TEST(a_taken_payload_may_be_told_on),
		TEST(payloads_of_failed_handlers_and_dead_letters_are_destroyed_once),
		TEST(hooks_that_take_or_fail_do_not_touch_the_next_message),
		TEST(replies_to_nobody_are_dead_letters),
		TEST(payloads_still_queued_at_the_end_are_destroyed_once),
		TEST(payloads_from_foreign_threads_are_destroyed_once),
		TEST(payloads_in_full_rings_are_handled_or_destroyed_at_the_end),
		TEST(types_and_classes_may_be_used_first_by_several_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
