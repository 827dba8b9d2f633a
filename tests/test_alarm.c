/* SPDX-License-Identifier: MIT */
/* Deadlines on a loop: they fire in order, in a later pass, by one timer that keeps nothing alive. */
#include "tests/lab.h"

#include "runtime/alarm.h"

static uint32_t fired[16];
static uint32_t fired_count;

struct bell {
	struct actor__deadline deadline; /* first */
	uint32_t number;
	struct bell *arms; /* another one, for now */
};

static void on_bell(struct actor__loop *loop, struct actor__deadline *deadline)
{
	struct bell *bell = (struct bell *)deadline;

	assert_false(actor__deadline_armed(deadline));
	fired[fired_count++] = bell->number;
	if (bell->arms)
		actor__deadline_arm(loop, &bell->arms->deadline, 0, on_bell);
}

static struct actor__loop *first_loop(struct lab *lab)
{
	return lab->system->loops[0];
}

static void arm(struct lab *lab, struct bell *bell, uint64_t in_ms)
{
	struct actor__loop *loop = first_loop(lab);

	actor__deadline_arm(loop, &bell->deadline, actor__now_ms(loop) + in_ms, on_bell);
}

static void on_tick(uv_timer_t *timer)
{
	(void)timer; /* it keeps the loop alive, and lets uv_run() return */
}

/* Runs the loop until `count` bells have rung; the caller's time limit is the test's. */
static void run_until(struct lab *lab, uint32_t count)
{
	static uv_timer_t keep;

	uv_timer_init(&lab->loop, &keep);
	uv_timer_start(&keep, on_tick, 1, 1);
	while (fired_count < count)
		uv_run(&lab->loop, UV_RUN_ONCE);
	uv_close((uv_handle_t *)&keep, NULL);
	assert_int_equal(fired_count, count);
}

static void deadlines_fire_in_order(void **state)
{
	static const uint64_t in_ms[] = {30, 10, 20, 10, 0, 40};
	static const uint32_t order[] = {4, 1, 3, 0};
	struct bell bells[COUNT(in_ms)] = {0};
	struct lab lab;

	fired_count = 0;
	lab_open(&lab, NULL);
	uv_run(&lab.loop, UV_RUN_NOWAIT);
	for (uint32_t i = 0; i < COUNT(in_ms); i++) {
		bells[i].number = i;
		arm(&lab, &bells[i], in_ms[i]);
	}
	actor__deadline_cancel(&bells[2].deadline);
	arm(&lab, &bells[5], 60000); /* moved: it does not fire here */
	assert_false(uv_loop_alive(&lab.loop));
	run_until(&lab, COUNT(order));
	assert_memory_equal(fired, order, sizeof(order));
	actor__deadline_cancel(&bells[5].deadline);
	lab_close(&lab);
}

static void one_armed_while_others_fire_waits_for_its_turn(void **state)
{
	struct bell third = {.number = 3};
	struct bell first = {.number = 1, .arms = &third}, second = {.number = 2};
	struct lab lab;

	fired_count = 0;
	lab_open(&lab, NULL);
	arm(&lab, &first, 0);
	arm(&lab, &second, 0);
	actor__alarm_expire(first_loop(&lab));
	assert_int_equal(fired_count, 2);
	assert_int_equal(actor__alarm_next_ms(first_loop(&lab)), actor__now_ms(first_loop(&lab)));
	run_until(&lab, 3);
	assert_int_equal(actor__alarm_next_ms(first_loop(&lab)), UINT64_MAX);
	lab_close(&lab);
}

/* Somebody closes all handles of the loop by uv_walk(): what is armed fires nevertheless. */
static void close_handle(uv_handle_t *handle, void *data)
{
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

static void deadlines_survive_a_walk_that_closes_all_handles(void **state)
{
	struct bell bell = {.number = 7};
	struct lab lab;

	fired_count = 0;
	lab_open(&lab, NULL);
	arm(&lab, &bell, 15);
	uv_walk(&lab.loop, close_handle, NULL);
	uv_run(&lab.loop, UV_RUN_NOWAIT);
	actor__handles_ensure(first_loop(&lab));
	run_until(&lab, 1);
	lab_close(&lab);
}

static void a_loop_closes_with_armed_deadlines(void **state)
{
	struct bell bell = {0};
	struct lab lab;

	fired_count = 0;
	lab_open(&lab, NULL);
	arm(&lab, &bell, 60000);
	lab_close(&lab); /* which checks that no handle is left */
	assert_int_equal(fired_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deadlines_fire_in_order),
		cmocka_unit_test(one_armed_while_others_fire_waits_for_its_turn),
		cmocka_unit_test(deadlines_survive_a_walk_that_closes_all_handles),
		cmocka_unit_test(a_loop_closes_with_armed_deadlines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
