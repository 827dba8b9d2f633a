/* SPDX-License-Identifier: MIT */
/* What happens to an actor before it has arrived on its loop. */
#include "tests/lab.h"

/* A handler on the loop where a new actor is about to arrive: it is told things before it does. */
static _Atomic bool awaited;
static _Atomic actor_ref expected;
static _Atomic int early_started, early_stopped;

static int early_start(struct actor_ctx *ctx)
{
	atomic_fetch_add(&early_started, 1);
	return 0;
}

static int early_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	return 0;
}

static void early_stop(struct actor_ctx *ctx)
{
	atomic_fetch_add(&early_stopped, 1);
}

static struct actor_class early_class = {.size = sizeof(early_class),
	.name = "early",
	.on_start = early_start,
	.on_message = early_message,
	.on_stop = early_stop};

static int await_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	actor_ref ref;
	int rc;

	atomic_store(&awaited, true);
	while (!(ref = atomic_load(&expected)))
		sleep_ms(1);
	rc = actor_terminate(ctx, ref);
	for (int i = 0; i < 3 && !rc; i++)
		rc = actor_tell(ctx, ref, &plain_type, NULL, 0);
	return rc;
}

static struct actor_class await_class = {
	.size = sizeof(await_class), .name = "await", .on_message = await_message};

static void a_child_terminated_and_told_before_it_arrives_ends(void **state)
{
	static const struct actor_mailbox_options boxes[] = {
		{.size = sizeof(boxes[0])}, {.size = sizeof(boxes[0]), .capacity = 2}};

	for (size_t i = 0; i < COUNT(boxes); i++) {
		struct actor_spawn_options options = {
			.size = sizeof(options), .loop = 2, .mailbox = &boxes[i]};
		struct lab lab;
		actor_ref ref;

		atomic_store(&awaited, false);
		atomic_store(&expected, ACTOR_NONE);
		early_started = early_stopped = 0;
		lab_open_owned(&lab, 2);
		assert_int_equal(
			actor_system_spawn(lab.system, &await_class,
				&(struct actor_spawn_options){.size = sizeof(options), .loop = 2},
				&ref),
			0);
		assert_int_equal(actor_system_tell(lab.system, ref, &plain_type, NULL, 0), 0);
		while (!atomic_load(&awaited))
			sleep_ms(1);
		assert_int_equal(actor_system_spawn(lab.system, &early_class, &options, &ref), 0);
		atomic_store(&expected, ref);
		assert_true(lab_wait_terminated(&lab, 1));
		assert_int_equal(early_started, early_stopped);
		assert_int_equal(lab_stats(&lab).failed, 0);
		assert_int_equal(lab_stats(&lab).dropped + lab.dead_letters, 3);
		lab_close(&lab);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_terminated_and_told_before_it_arrives_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
