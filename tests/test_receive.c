/* SPDX-License-Identifier: MIT */
/* Mail of foreign threads without memory for it: a stop waits, an ask is refused, none is lost. */
#include "tests/lab.h"

#include "runtime/core.h"

static uint32_t handled;

static int count_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	handled++;
	return 0;
}

static struct actor_class count_class = {
	.size = sizeof(count_class), .name = "count", .on_message = count_message};

static int setup(void **state)
{
	handled = 0;
	lab_heap_begin();
	return 0;
}

static int teardown(void **state)
{
	lab_heap_end();
	return 0;
}

static actor_ref spawn(struct lab *lab)
{
	actor_ref ref = 0;

	assert_int_equal(actor_system_spawn(lab->system, &count_class, NULL, &ref), 0);
	return ref;
}

/* Tells until no mailbox of the loop can grow any more; letters can still be made. */
static uint32_t fill(struct lab *lab, actor_ref ref)
{
	uint32_t told = 1;

	/* The loop's first chunks. */
	assert_int_equal(actor_system_tell(lab->system, ref, &plain_type, NULL, 0), 0);
	lab_heap_fail(1, LAB_FAIL_FROM_THEN_ON, ACTOR__SLAB_BYTES);
	while (actor_system_tell(lab->system, ref, &plain_type, NULL, 0) == 0)
		told++;
	assert_true(told > 15);
	return told;
}

struct outside {
	struct lab *lab;
	actor_ref ref;
	struct counted *payload;
	uint32_t tells;
	_Atomic int rc;
};

/* Runs passes until what the thread does has ended; its first letter is in the inbox before. */
static void with_thread(struct outside *o, void *(*main)(void *outside))
{
	struct actor__loop *loop = o->lab->system->loops[0];
	pthread_t thread;

	atomic_store(&o->rc, 1);
	assert_int_equal(pthread_create(&thread, NULL, main, o), 0);
	for (int i = 0; i < 10000 && actor__inbox_empty(&loop->inbox); i++)
		sleep_ms(1);
	for (int i = 0; i < 10000 && atomic_load(&o->rc) == 1; i++) {
		uv_run(&o->lab->loop, UV_RUN_NOWAIT);
		sleep_ms(1);
	}
	pthread_join(thread, NULL);
}

static void *stop_main(void *argument)
{
	struct outside *o = argument;
	int rc = actor_system_stop(o->lab->system, o->ref);

	for (uint32_t i = 0; i < o->tells && !rc; i++)
		rc = actor_system_tell(o->lab->system, o->ref, &plain_type, NULL, 0);
	atomic_store(&o->rc, rc);
	return NULL;
}

static void an_accepted_stop_waits_for_room_in_the_mailbox(void **state)
{
	struct outside o = {.tells = 5};
	struct lab lab;
	uint32_t told;

	lab_open(&lab, NULL);
	o.lab = &lab;
	o.ref = spawn(&lab);
	lab_run(&lab);
	told = fill(&lab, o.ref);
	with_thread(&o, stop_main);
	assert_int_equal(o.rc, 0);
	for (int i = 0; i < 1000 && !lab_stats(&lab).terminated; i++)
		uv_run(&lab.loop, UV_RUN_NOWAIT);
	assert_int_equal(lab_stats(&lab).terminated, 1);
	/* What was told before it is handled, what was told after it is not. */
	assert_int_equal(handled, told);
	for (int i = 0; i < 1000 && lab.dead_letters < o.tells; i++)
		uv_run(&lab.loop, UV_RUN_NOWAIT);
	assert_int_equal(lab.dead_letters, o.tells);
	lab_heap_fail(0, LAB_FAIL_ONCE, 0);
	lab_close(&lab);
}

static void an_idle_actor_stops_without_memory(void **state)
{
	struct lab lab;
	actor_ref full, idle, fresh;

	lab_open(&lab, NULL);
	full = spawn(&lab);
	idle = spawn(&lab);
	lab_run(&lab);
	fresh = spawn(&lab); /* has not started yet */
	fill(&lab, full);
	assert_int_equal(actor_system_tell(lab.system, idle, &plain_type, NULL, 0), -ENOMEM);
	assert_int_equal(actor_system_stop(lab.system, idle), 0);
	assert_int_equal(actor_system_stop(lab.system, idle), 0);
	assert_int_equal(actor_system_stop(lab.system, fresh), 0);
	/* Mail is queued before this one, and there is no place behind it. */
	assert_int_equal(actor_system_stop(lab.system, full), -ENOMEM);
	lab_run(&lab);
	assert_int_equal(lab_stats(&lab).terminated, 2);
	lab_heap_fail(0, LAB_FAIL_ONCE, 0);
	assert_int_equal(actor_system_stop(lab.system, full), 0);
	lab_run(&lab);
	assert_int_equal(lab_stats(&lab).terminated, 3);
	lab_close(&lab);
}

static void *ask_main(void *argument)
{
	struct outside *o = argument;
	size_t bytes = 0;
	int rc = actor_system_ask(o->lab->system, o->ref, o->payload ? &counted_type : &plain_type,
		o->payload, o->payload ? sizeof(*o->payload) : 0, 60000, NULL, &bytes);

	atomic_store(&o->rc, rc);
	return NULL;
}

static void an_ask_that_finds_no_memory_fails_at_once(void **state)
{
	for (int owned = 0; owned < 2; owned++) {
		struct outside o = {.payload = owned ? counted_new(1) : NULL};
		struct lab lab;

		lab_open(&lab, NULL);
		o.lab = &lab;
		o.ref = spawn(&lab);
		lab_run(&lab);
		fill(&lab, o.ref);
		with_thread(&o, ask_main);
		assert_int_equal(o.rc, -ENOMEM);
		/* The payload is the asker's again. */
		assert_int_equal(counted_alive, owned);
		if (owned)
			counted_type.destroy(o.payload, sizeof(*o.payload));
		lab_heap_fail(0, LAB_FAIL_ONCE, 0);
		lab_close(&lab);
		assert_int_equal(lab.dead_letters, 0);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_accepted_stop_waits_for_room_in_the_mailbox),
		TEST(an_idle_actor_stops_without_memory),
		TEST(an_ask_that_finds_no_memory_fails_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
