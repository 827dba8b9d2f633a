/* SPDX-License-Identifier: MIT */
/* Several systems on one uv_loop_t: one unit of an immediate dispatcher per pass, by turns. */
#include "tests/court.h"

/* ---- by turns ---- */

static void systems_on_a_loop_share_one_unit_per_pass(void **state)
{
	static const uv_run_mode modes[] = {UV_RUN_NOWAIT, UV_RUN_ONCE};

	for (uint32_t count = 1; count <= SIDES; count++) {
		for (size_t mode = 0; mode < COUNT(modes); mode++) {
			court_open(count);
			for (uint32_t i = 0; i < count; i++)
				side_play(&sides[i]);
			passes_run(100); /* starts and the first hits */
			hits_reset(count);
			lab_count(&lab);
			for (uint32_t i = 0; i < count * 100; i++)
				uv_run(&lab.loop, modes[mode]);
			lab_count_stop(&lab);
			assert_int_equal(lab.passes, count * 100 + 1);
			assert_each_pass(1, "all play");
			for (uint32_t i = 0; i < count; i++)
				assert_int_equal(sides[i].hits, 100);
			court_close(count);
		}
	}
}

/* The order of the check handles, the order of joining and whose turn it is are independent. */
static void any_order_of_joining_will_do(void **state)
{
	static const int orders[][3] = {
		{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

	for (size_t o = 0; o < COUNT(orders); o++) {
		court_open(0);
		actor_dispatcher_hybrid(&immediate, 64, NULL);
		for (int i = 0; i < 3; i++)
			side_open(&sides[i], -1);
		actor_dispatcher_immediate(&immediate, NULL);
		ordered = 0;
		lab_count(&lab);
		for (int i = 0; i < 3; i++) {
			side_queue(&sides[orders[o][i]], (uint32_t)i * 10, (uint32_t)i * 10 + 10);
			passes_run(1); /* the others join while this one has units */
		}
		run_counted(&lab);
		lab_count_stop(&lab);
		assert_passes(&lab, 1, 30, "one after the other");
		/* The last ones have as many left as they came later. */
		for (uint32_t i = 6; i + 2 < 24; i++)
			assert_true(order[i] / 10 != order[i + 1] / 10 &&
				    order[i] / 10 != order[i + 2] / 10);
		court_close(3);
	}
}

static void other_dispatchers_do_not_share(void **state)
{
	struct actor_dispatcher_spec hybrid;

	court_open(2);
	side_play(&sides[0]);
	side_play(&sides[1]);
	actor_dispatcher_hybrid(&hybrid, 5, NULL);
	passes_run(50);
	queue_on(&lab, &hybrid, 0, 200, 0);
	lab_count(&lab);
	passes_run(40);
	lab_count_stop(&lab);
	assert_each_pass(6, "five of the lab's, one of theirs");
	court_close(2);
}

static void a_system_at_rest_leaves_all_passes_to_the_others(void **state)
{
	court_open(3);
	for (int i = 0; i < 3; i++)
		side_play(&sides[i]);
	sides[1].stop = true;
	passes_run(100);
	hits_reset(3);
	lab_count(&lab);
	passes_run(100);
	lab_count_stop(&lab);
	assert_each_pass(1, "two of three play");
	assert_int_equal(sides[0].hits, 50);
	assert_int_equal(sides[2].hits, 50);
	court_close(3);
}

/* ---- loops of several threads ---- */

static int counting_run(struct actor_unit *unit)
{
	((struct job *)unit)->lab->units++;
	return 0;
}

static void *court_of_its_own(void *argument)
{
	struct lab *own = calloc(1, sizeof(*own));
	struct actor_dispatcher_spec spec;

	actor_dispatcher_immediate(&spec, NULL);
	for (int round = 0; round < 50; round++) {
		struct actor_system_options options = {.size = sizeof(options)};
		struct job mine[10];
		struct actor_system *second;
		struct actor_dispatcher *dispatcher;

		lab_open(own, &spec);
		options.loop = &own->loop;
		options.dispatcher = &spec;
		assert_int_equal(actor_system_open(&second, &options), 0);
		lab_count(own);
		for (uint32_t i = 0; i < COUNT(mine); i++) {
			struct actor_system *system = i % 2 ? second : own->system;

			actor_system_dispatcher(system, 1, NULL, &dispatcher);
			actor_unit_init(&mine[i].unit, counting_run);
			mine[i].lab = own;
			actor_dispatcher_execute(dispatcher, &mine[i].unit);
		}
		run_counted(own);
		lab_count_stop(own);
		assert_passes(own, 1, COUNT(mine), "a thread's own loop");
		actor_system_close(second, NULL, NULL);
		lab_close(own);
	}
	free(own);
	return NULL;
}

static void loops_of_several_threads_have_nothing_in_common(void **state)
{
	pthread_t threads[3];

	for (size_t i = 0; i < COUNT(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, court_of_its_own, NULL), 0);
	for (size_t i = 0; i < COUNT(threads); i++)
		pthread_join(threads[i], NULL);
}

/* ---- closing ---- */

static void one_closes_and_the_other_goes_on(void **state)
{
	for (int first = 0; first < 2; first++) {
		struct side *leaver = &sides[first], *stayer = &sides[1 - first];

		court_open(2);
		side_play(leaver);
		side_play(stayer);
		lab_count(&lab);
		passes_run(50);
		side_close(leaver);
		for (int i = 0; i < 1000 && !leaver->closed; i++)
			passes_run(1);
		assert_true(leaver->closed);
		for (uint32_t i = 0; i < lab.passes; i++)
			assert_true(lab.pass_units[i] <= 1);
		lab_count_stop(&lab);
		passes_run(1);
		stayer->hits = 0;
		lab_count(&lab);
		passes_run(100);
		lab_count_stop(&lab);
		assert_each_pass(1, "one is left");
		assert_int_equal(stayer->hits, 100);
		leaver->system = NULL;
		court_close(2);
	}
}

static int close_on_tenth(struct side *side)
{
	if (side->hits != 10)
		return 0;
	for (int i = 0; i < 3; i++)
		if (&sides[i] == side || sides[i].stop)
			side_close(&sides[i]);
	return 0;
}

/* From inside a turn: the own system, and another one whose check comes before or after. */
static void systems_may_close_inside_a_turn_on_their_loop(void **state)
{
	for (int closer = 0; closer < 3; closer++) {
		for (int other = 0; other < 3; other++) {
			uint32_t left = closer == other ? 2 : 1;

			court_open(3);
			for (int i = 0; i < 3; i++)
				side_play(&sides[i]);
			sides[closer].on_hit = close_on_tenth;
			sides[other].stop = other != closer;
			for (int i = 0; i < 1000 && !sides[closer].closed; i++) {
				lab.units = 0;
				passes_run(1);
				assert_true(lab.units <= 1);
			}
			assert_true(sides[closer].closed);
			passes_run(100);
			assert_true(sides[other].closed);
			hits_reset(3);
			passes_run(100);
			for (int i = 0; i < 3; i++)
				assert_int_equal(sides[i].hits, sides[i].closed ? 0 : 100 / left);
			court_close(3);
		}
	}
}

static void a_closing_system_runs_what_is_queued(void **state)
{
	court_open(1);
	side_play(&sides[0]);
	passes_run(10);
	side_open(&sides[1], 60000);
	ordered = 0;
	side_queue(&sides[1], 0, UNITS);
	lab_count(&lab);
	side_close(&sides[1]);
	passes_run(UNITS * 2 + 10);
	lab_count_stop(&lab);
	assert_int_equal(ordered, UNITS);
	assert_each_pass(1, "one plays, one drains");
	for (int i = 0; i < 1000 && !sides[1].closed; i++) {
		sleep_ms(1);
		passes_run(1);
	}
	assert_true(sides[1].closed);
	court_close(2);
}

/* Its dispatchers are closed some passes before its close callback. */
static void a_system_that_has_ended_opens_no_dispatcher(void **state)
{
	struct actor_dispatcher *dispatcher;
	uint32_t refused = 0;

	court_open(1);
	side_open(&sides[1], -1);
	side_close(&sides[1]);
	for (int i = 0; i < 1000 && !sides[1].closed; i++) {
		int rc = actor_system_dispatcher(sides[1].system, 1, &immediate, &dispatcher);

		assert_true(rc == 0 || rc == ACTOR_ECLOSED);
		refused += rc != 0;
		sleep_ms(1);
		passes_run(1);
	}
	assert_true(sides[1].closed);
	assert_true(refused > 0);
	court_close(2);
}

static void nothing_is_left_for_the_next_loop_at_the_same_address(void **state)
{
	for (int i = 0; i < 200; i++) {
		court_open(2);
		side_play(&sides[i % 2]);
		side_play(&sides[1 - i % 2]);
		passes_run((uint32_t)i % 7);
		court_close(2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(systems_on_a_loop_share_one_unit_per_pass),
		cmocka_unit_test(any_order_of_joining_will_do),
		cmocka_unit_test(other_dispatchers_do_not_share),
		cmocka_unit_test(a_system_at_rest_leaves_all_passes_to_the_others),
		cmocka_unit_test(loops_of_several_threads_have_nothing_in_common),
		cmocka_unit_test(one_closes_and_the_other_goes_on),
		cmocka_unit_test(systems_may_close_inside_a_turn_on_their_loop),
		cmocka_unit_test(a_closing_system_runs_what_is_queued),
		cmocka_unit_test(a_system_that_has_ended_opens_no_dispatcher),
		cmocka_unit_test(nothing_is_left_for_the_next_loop_at_the_same_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
