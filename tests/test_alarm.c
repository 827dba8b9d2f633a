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

static void with_manual_clock(struct actor_system_options *options)
{
	options->manual_ms = 5;
}

struct echo {
	struct actor__deadline deadline; /* first */
	uint64_t at[8];
	uint32_t count;
};

/* Every 10 ms, seven times. */
static void on_echo(struct actor__loop *loop, struct actor__deadline *deadline)
{
	struct echo *echo = (struct echo *)deadline;

	echo->at[echo->count++] = actor__now_ms(loop);
	assert_int_equal(actor__fresh_ms(loop), actor__now_ms(loop));
	if (echo->count < 7)
		actor__deadline_arm(loop, deadline, actor__now_ms(loop) + 10, on_echo);
}

static void a_clock_by_hand_goes_from_instant_to_instant(void **state)
{
	struct bell bells[3] = {{.number = 0}, {.number = 1}, {.number = 2}};
	struct echo echo = {0};
	struct lab lab;

	fired_count = 0;
	lab_open_with(&lab, with_manual_clock);
	actor__deadline_arm(first_loop(&lab), &echo.deadline, 15, on_echo);
	arm(&lab, &bells[0], 25);
	arm(&lab, &bells[1], 20);
	arm(&lab, &bells[2], 25);
	assert_false(uv_is_active((uv_handle_t *)&first_loop(&lab)->handles->timer));
	assert_int_equal(actor_system_advance(lab.system, 9), 0);
	assert_int_equal(echo.count, 0);
	assert_int_equal(actor_system_advance(lab.system, 25), 0);
	assert_int_equal(echo.count, 3);
	assert_int_equal(fired_count, 3);
	assert_memory_equal(fired, ((uint32_t[]){1, 0, 2}), 3 * sizeof(uint32_t));
	assert_int_equal(actor_system_advance(lab.system, 1000), 0);
	assert_int_equal(echo.count, 7);
	for (uint32_t i = 0; i < echo.count; i++)
		assert_int_equal(echo.at[i], 15 + 10 * i);
	assert_int_equal(actor__now_ms(first_loop(&lab)), 1039);
	lab_close(&lab);
}

static void a_real_clock_is_not_moved(void **state)
{
	struct lab lab;

	lab_open(&lab, NULL);
	assert_int_equal(actor_system_advance(lab.system, 1), -EINVAL);
	lab_close(&lab);
	lab_open_with(&lab, with_manual_clock);
	assert_int_equal(actor_system_advance(lab.system, UINT64_MAX), -EINVAL);
	lab_close(&lab);
}

/* Arming takes the time of this moment, also late in a pass, and never fires early. */
static void the_fresh_time_is_on_the_clock_of_the_loop(void **state)
{
	struct actor__loop *loop;
	struct lab lab;

	lab_open(&lab, NULL);
	loop = first_loop(&lab);
	uv_update_time(&lab.loop);
	assert_in_range(actor__fresh_ms(loop), uv_now(&lab.loop), uv_now(&lab.loop) + 60000);
	spin_ns(30000000);
	assert_in_range(actor__fresh_ms(loop), uv_now(&lab.loop) + 29, uv_now(&lab.loop) + 60000);
	lab_close(&lab);
}

static _Atomic int remote_status = 1;

static int on_remote_reply(
	struct actor_ctx *ctx, int status, const struct actor_message *reply, void *data)
{
	atomic_store(&remote_status, status);
	return 0;
}

static int silent_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	if (message->bytes)
		return actor_ask(ctx, actor_self(ctx), &plain_type, NULL, 0, 3000, on_remote_reply,
			NULL);
	return 0;
}

static struct actor_class silent_class = {
	.size = sizeof(silent_class), .name = "silent", .on_message = silent_message};

static void loops_with_threads_follow_the_clock_by_hand(void **state)
{
	struct actor_system_options options = {
		.size = sizeof(options), .loops = 2, .manual_ms = 1};
	struct actor_spawn_options second = {.size = sizeof(second), .loop = 2};
	struct actor_system *system;
	uint64_t one = 1;
	actor_ref ref;

	assert_int_equal(actor_system_open(&system, &options), 0);
	assert_int_equal(actor_system_spawn(system, &silent_class, &second, &ref), 0);
	assert_int_equal(actor_system_tell(system, ref, &plain_type, &one, sizeof(one)), 0);
	/* The ask may be told before or after a step: it is never later than the second one. */
	for (uint32_t i = 0; i < 60000 && atomic_load(&remote_status) == 1; i++) {
		assert_int_equal(actor_system_advance(system, 3000), 0);
		sleep_ms(1);
	}
	assert_int_equal(atomic_load(&remote_status), -ETIMEDOUT);
	assert_int_equal(actor_system_close_wait(system), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deadlines_fire_in_order),
		cmocka_unit_test(one_armed_while_others_fire_waits_for_its_turn),
		cmocka_unit_test(deadlines_survive_a_walk_that_closes_all_handles),
		cmocka_unit_test(a_loop_closes_with_armed_deadlines),
		cmocka_unit_test(a_clock_by_hand_goes_from_instant_to_instant),
		cmocka_unit_test(a_real_clock_is_not_moved),
		cmocka_unit_test(the_fresh_time_is_on_the_clock_of_the_loop),
		cmocka_unit_test(loops_with_threads_follow_the_clock_by_hand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
