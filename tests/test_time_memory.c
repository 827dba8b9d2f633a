/* SPDX-License-Identifier: MIT */
/* Timers, time-outs and throttles without memory: an error code, and nothing accepted is lost. */
#include "tests/lab.h"

#define SINGLES 2003u

struct tally {
	uint32_t accepted; /* timers and mail for a later time */
	uint32_t handled;
	uint32_t refused;
	uint32_t wrong;
};

static struct tally tally;
static actor_ref actor;
static struct lab lab;
static struct actor_type begin_type = ACTOR_TYPE("begin");

static void count(int rc)
{
	if (rc == 0)
		tally.accepted++;
	else if (rc == -ENOMEM)
		tally.refused++;
	else
		tally.wrong++;
}

static int counted_copy(void *to, const void *from, size_t bytes)
{
	memcpy(to, from, bytes);
	atomic_fetch_add(&counted_alive, 1);
	return 0;
}

static void copied_destroy(void *payload, size_t bytes)
{
	atomic_fetch_sub(&counted_alive, 1);
	free(payload);
}

static struct actor_type copied_type = {
	sizeof(copied_type), "copied", copied_destroy, counted_copy, 0};

/* After an error the payload is the caller's again. */
static int owned_single(struct actor_ctx *ctx, uint64_t key, int64_t delay_ms)
{
	struct counted *c = counted_new(key);
	int rc = actor_timer_single(ctx, key, delay_ms, &copied_type, c, sizeof(*c));

	if (rc)
		copied_destroy(c, sizeof(*c));
	return rc;
}

static int later(struct actor_ctx *ctx)
{
	struct counted *c = counted_new(0);
	int rc = actor_system_schedule(
		actor_ctx_system(ctx), actor_self(ctx), 10, &copied_type, c, sizeof(*c));

	if (rc)
		copied_destroy(c, sizeof(*c));
	return rc;
}

/* All that needs memory once. The rate and the delay tell more than once and are not counted. */
static int all_kinds(struct actor_ctx *ctx)
{
	const struct actor_throttle_options throttle = {
		.size = sizeof(throttle), .messages = 1000000, .per_ms = 1};
	int rc;

	for (uint64_t key = 0; key < 40; key++)
		count(owned_single(ctx, key, 10));
	count(later(ctx));
	rc = actor_timer_fixed_rate(ctx, 100, 3, 3, &begin_type, "-", 1);
	rc = rc ? rc : actor_timer_fixed_delay(ctx, 101, 3, 3, &begin_type, "-", 1);
	rc = rc ? rc : actor_receive_timeout(ctx, 50);
	rc = rc ? rc : actor_throttle(ctx, &throttle);
	tally.refused += rc == -ENOMEM;
	tally.wrong += rc && rc != -ENOMEM;
	return 0;
}

static int many_singles(struct actor_ctx *ctx)
{
	for (uint64_t key = 0; key < SINGLES; key++)
		count(owned_single(ctx, key, 10));
	return 0;
}

static int actor_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	if (m->type == &copied_type)
		tally.handled++;
	if (m->type != &begin_type || m->bytes)
		return 0;
	return *(int *)actor_state(ctx) ? many_singles(ctx) : all_kinds(ctx);
}

static struct actor_class forgetful_class = {.size = sizeof(struct actor_class),
	.name = "forgetful",
	.state_bytes = sizeof(int),
	.on_message = actor_message};

static void with_manual_clock(struct actor_system_options *options)
{
	options->manual_ms = 1;
}

static void begin(int many)
{
	struct actor_spawn_options options = {.size = sizeof(options), .init = &many};

	memset(&tally, 0, sizeof(tally));
	counted_alive = 0;
	lab_open_with(&lab, with_manual_clock);
	assert_int_equal(actor_system_spawn(lab.system, &forgetful_class, &options, &actor), 0);
	lab_run(&lab);
}

static void end(void)
{
	lab_close(&lab);
	assert_int_equal(tally.wrong, 0);
	assert_int_equal(tally.handled, tally.accepted);
	assert_int_equal(counted_alive, 0);
}

static void pass_and_run(uint64_t ms)
{
	assert_int_equal(actor_system_advance(lab.system, ms), 0);
	lab_run(&lab);
}

static void any_allocation_may_fail_once(void **state)
{
	uint32_t refused = 0;
	int64_t before = 0;

	/* Without a failure first: what the process keeps, names, is there afterwards. */
	for (int64_t n = 0; n <= 60; n++) {
		begin(0);
		assert_int_equal(actor_system_tell(lab.system, actor, &begin_type, NULL, 0), 0);
		lab_heap_fail(n, LAB_FAIL_ONCE, 0);
		lab_run(&lab);
		for (int i = 0; i < 20; i++)
			pass_and_run(1);
		lab_heap_fail(0, LAB_FAIL_ONCE, 0);
		pass_and_run(2);
		refused += tally.refused;
		end();
		if (n == 0)
			before = lab_heap_blocks;
		assert_int_equal(lab_heap_blocks, before);
	}
	assert_true(refused >= 10);
}

static void a_timer_that_finds_no_memory_tells_later(void **state)
{
	begin(1);
	assert_int_equal(actor_system_tell(lab.system, actor, &begin_type, NULL, 0), 0);
	lab_run(&lab);
	assert_int_equal(tally.accepted, SINGLES);
	lab_heap_fail(1, LAB_FAIL_FROM_THEN_ON, 0);
	pass_and_run(10);
	/* Some found places that were free already, the others wait. */
	assert_in_range(tally.handled, 0, SINGLES - 1);
	lab_heap_fail(0, LAB_FAIL_ONCE, 0);
	pass_and_run(1);
	end();
}

static int setup(void **state)
{
	lab_heap_begin();
	return 0;
}

static int teardown(void **state)
{
	lab_heap_end();
	return 0;
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(any_allocation_may_fail_once),
		TEST(a_timer_that_finds_no_memory_tells_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
