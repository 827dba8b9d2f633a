/* SPDX-License-Identifier: MIT */
/* Known ways for an actor runtime to go wrong that concern nothing else of the tests. */
#include "tests/lab.h"
#include "runtime/probes.h"

/* ---- answers find their own asker ---- */

#define ROUNDS 100

struct asking {
	actor_ref oracle;
	uint64_t base; /* numbers of this system begin here */
	uint32_t answers, strange;
};

static int oracle_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	return actor_reply(ctx, &plain_type, message->payload, message->bytes);
}

static struct actor_class oracle_class = {
	.size = sizeof(oracle_class), .name = "oracle", .on_message = oracle_message};

static int on_answer(
	struct actor_ctx *ctx, int status, const struct actor_message *reply, void *data)
{
	struct asking *asking = *(struct asking **)actor_state(ctx);

	if (status || *(const uint64_t *)reply->payload != asking->base + (uintptr_t)data)
		asking->strange++;
	asking->answers++;
	return 0;
}

static int asker_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	struct asking *asking = *(struct asking **)actor_state(ctx);
	int rc = 0;

	for (uint64_t i = 0; i < ROUNDS && !rc; i++) {
		uint64_t number = asking->base + i;

		rc = actor_ask(ctx, asking->oracle, &plain_type, &number, sizeof(number), 0,
			on_answer, (void *)(uintptr_t)i);
	}
	return rc;
}

static struct actor_class asker_class = {.size = sizeof(asker_class),
	.name = "asker",
	.state_bytes = sizeof(struct asking *),
	.on_message = asker_message};

/* The same program twice, on one thread and with the same names and order: what an answer is
 * addressed to must not be the same too. */
static void case_25_asks_of_two_systems_do_not_meet(void **state)
{
	struct actor_system_options options = {.size = sizeof(options), .name = "twin"};
	struct actor_system *systems[2];
	struct asking asking[2] = {{.base = 1000}, {.base = 2000}};
	uv_loop_t loop;

	assert_int_equal(uv_loop_init(&loop), 0);
	options.loop = &loop;
	for (int i = 0; i < 2; i++) {
		struct asking *init = &asking[i];
		struct actor_spawn_options asker = {.size = sizeof(asker), .init = &init};
		actor_ref ref;

		assert_int_equal(actor_system_open(&systems[i], &options), 0);
		assert_int_equal(
			actor_system_spawn(systems[i], &oracle_class, NULL, &asking[i].oracle), 0);
		assert_int_equal(actor_system_spawn(systems[i], &asker_class, &asker, &ref), 0);
		assert_int_equal(actor_system_tell(systems[i], ref, &plain_type, NULL, 0), 0);
	}
	assert_true(asking[0].oracle != asking[1].oracle);
	uv_run(&loop, UV_RUN_DEFAULT);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(asking[i].answers, ROUNDS);
		assert_int_equal(asking[i].strange, 0);
		assert_int_equal(actor_system_close(systems[i], NULL, NULL), 0);
	}
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
}

/* ---- observation never costs a turn ---- */

static uint32_t handled;

static int counting_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	handled++;
	return 0;
}

static struct actor_class counting_class = {
	.size = sizeof(counting_class), .name = "counting", .on_message = counting_message};

/* Every probe alone and all together are said to be listened to, by somebody who takes nothing,
 * and no memory is left: each message is handled all the same, and the actor goes on. */
static void case_30_an_observation_that_fails_costs_no_turn(void **state)
{
	volatile uint16_t *semaphores = (volatile uint16_t *)&actor__semaphores;
	const size_t n = sizeof(struct actor__semaphores) / sizeof(uint16_t);
	struct lab lab;
	actor_ref ref;

	lab_heap_begin();
	lab_open(&lab, NULL);
	assert_int_equal(actor_system_spawn(lab.system, &counting_class, NULL, &ref), 0);
	lab_run(&lab);
	for (size_t which = 0; which <= n; which++) {
		handled = 0;
		for (int i = 0; i < 1000; i++) /* before, for these need memory themselves */
			assert_int_equal(
				actor_system_tell(lab.system, ref, &plain_type, NULL, 0), 0);
		for (size_t i = 0; i < n; i++)
			semaphores[i] = which == n || which == i;
		lab_heap_fail(1, LAB_FAIL_FROM_THEN_ON, 0);
		lab_run(&lab);
		lab_heap_fail(0, LAB_FAIL_ONCE, 0);
		for (size_t i = 0; i < n; i++)
			semaphores[i] = 0;
		assert_int_equal(handled, 1000);
	}
	assert_int_equal(lab_stats(&lab).failed, 0);
	assert_int_equal(lab.logged, 0);
	lab_close(&lab);
	lab_heap_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(case_25_asks_of_two_systems_do_not_meet),
		cmocka_unit_test(case_30_an_observation_that_fails_costs_no_turn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
