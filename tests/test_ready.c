/* SPDX-License-Identifier: MIT */
/* The order of ready units, and how several dispatchers and drains by hand share a pass. */
#include "tests/workload.h"

/* ---- order ---- */

static uint32_t queued;

static void queue_more(struct lab *lab, uint32_t count)
{
	if (queued + count > UNITS)
		count = UNITS - queued;
	jobs_queue(lab, queued, queued + count, 0);
	queued += count;
}

static int queueing_run(struct actor_unit *unit)
{
	struct job *job = (struct job *)unit;

	job_run(unit);
	if (job->number % 3 == 0)
		queue_more(job->lab, 1);
	return 0;
}

static void on_more(uv_timer_t *timer)
{
	struct lab *lab = timer->data;

	queue_more(lab, 3);
	if (queued == UNITS)
		uv_close((uv_handle_t *)timer, NULL);
	else
		uv_timer_start(timer, on_more, 0, 0);
}

static void on_more_prepare(uv_prepare_t *prepare)
{
	struct lab *lab = prepare->data;

	queue_more(lab, 2);
	if (queued == UNITS)
		uv_close((uv_handle_t *)prepare, NULL);
}

static void case_27_units_run_in_the_order_they_were_queued(void **state)
{
	static const struct {
		bool hybrid;
		int64_t budget;
	} rows[] = {{true, 1}, {true, 2}, {true, 3}, {true, 64}, {false, 1}, {false, 2},
		{false, 16}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct actor_dispatcher_spec spec;
		uv_prepare_t prepare;
		uv_timer_t timer;
		struct lab lab;

		if (rows[i].hybrid)
			actor_dispatcher_hybrid(&spec, rows[i].budget, NULL);
		else
			actor_dispatcher_throughput(&spec, rows[i].budget, NULL);
		lab_open(&lab, &spec);
		ordered = queued = 0;
		queue_more(&lab, 20);
		for (uint32_t n = 0; n < queued; n++)
			jobs[n].unit.run = queueing_run;
		uv_timer_init(&lab.loop, &timer);
		uv_prepare_init(&lab.loop, &prepare);
		timer.data = prepare.data = &lab;
		uv_timer_start(&timer, on_more, 0, 0);
		uv_prepare_start(&prepare, on_more_prepare);
		lab_run(&lab);
		assert_int_equal(ordered, UNITS);
		for (uint32_t n = 0; n < UNITS; n++)
			assert_int_equal(order[n], n);
		lab_close(&lab);
	}
}

/* ---- rearming ---- */

static void case_28_units_that_queue_themselves_never_raise_the_count_per_pass(void **state)
{
	static const struct {
		enum actor_dispatcher_kind kind;
		int64_t budget;
		uint32_t units, per_pass;
	} rows[] = {
		{ACTOR_THROUGHPUT_DISPATCHER, 1, 2, 1},
		{ACTOR_THROUGHPUT_DISPATCHER, 4, 4, 4},
		{ACTOR_THROUGHPUT_DISPATCHER, 16, 40, 16},
		{ACTOR_THROUGHPUT_DISPATCHER, 16, 3, 3},
		{ACTOR_HYBRID, 1, 2, 1},
		{ACTOR_HYBRID, 64, 3, 64},
		{ACTOR_IMMEDIATE, 1, 5, 1},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct actor_dispatcher_spec spec;
		struct lab lab;

		if (rows[i].kind == ACTOR_HYBRID)
			actor_dispatcher_hybrid(&spec, rows[i].budget, NULL);
		else if (rows[i].kind == ACTOR_IMMEDIATE)
			actor_dispatcher_immediate(&spec, NULL);
		else
			actor_dispatcher_throughput(&spec, rows[i].budget, NULL);
		lab_open(&lab, &spec);
		lab_count(&lab);
		jobs_queue(&lab, 0, rows[i].units, 200);
		for (int pass = 0; pass < 150; pass++)
			uv_run(&lab.loop, UV_RUN_NOWAIT);
		lab_count_stop(&lab);
		for (uint32_t n = 1; n < lab.passes && n * rows[i].per_pass < 200 * rows[i].units; n++)
			assert_int_equal(lab.pass_units[n], rows[i].per_pass);
		lab_run(&lab);
		lab_close(&lab);
	}
}

/* ---- several dispatchers on a loop ---- */

static void dispatchers_that_share_a_loop_add_up(void **state)
{
	struct actor_dispatcher_spec hybrid, throughput, immediate;
	struct lab lab;

	actor_dispatcher_hybrid(&hybrid, 10, NULL);
	actor_dispatcher_throughput(&throughput, 4, NULL);
	actor_dispatcher_immediate(&immediate, NULL);
	lab_open(&lab, NULL);
	lab_count(&lab);
	queue_on(&lab, &hybrid, 0, 40, 0);
	queue_on(&lab, &throughput, 40, 56, 0);
	queue_on(&lab, &immediate, 56, 60, 0);
	run_counted(&lab);
	lab_count_stop(&lab);
	assert_passes(&lab, 15, 60, "hybrid(10), throughput(4) and immediate");
	lab_close(&lab);
}

static void immediate_dispatchers_share_one_unit_per_pass_by_turns(void **state)
{
	static const uint32_t expected[] = {0, 4, 1, 5, 2, 6, 3, 7};
	struct actor_dispatcher_spec a, b;
	struct lab lab;

	actor_dispatcher_immediate(&a, "one");
	actor_dispatcher_immediate(&b, "other");
	lab_open(&lab, NULL);
	lab_count(&lab);
	ordered = 0;
	queue_on(&lab, &a, 0, 4, 0);
	queue_on(&lab, &b, 4, 8, 0);
	run_counted(&lab);
	lab_count_stop(&lab);
	assert_passes(&lab, 1, 8, "two immediate dispatchers");
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(order[i], expected[i]);
	lab_close(&lab);
}

/* A unit of one dispatcher queues one on a throughput dispatcher: it waits for the next pass. */
static struct job late;

static int late_queue(struct actor_unit *unit)
{
	job_run(unit);
	return actor_dispatcher_execute(late.unit.dispatcher, &late.unit);
}

static void throughput_runs_only_what_was_queued_when_the_pass_began(void **state)
{
	/* Opened before and behind the hybrid dispatcher, with and without work of its own. */
	for (int variant = 0; variant < 4; variant++) {
		struct actor_dispatcher_spec hybrid, throughput;
		uint32_t units[LAB_PASSES];
		struct lab lab;

		actor_dispatcher_hybrid(&hybrid, 10, NULL);
		actor_dispatcher_throughput(&throughput, 4, NULL);
		lab_open(&lab, NULL);
		dispatcher_of(&lab, variant & 1 ? &hybrid : &throughput);
		ordered = 0;
		queue_on(&lab, &hybrid, 0, 1, 0);
		jobs[0].unit.run = late_queue;
		if (variant & 2)
			queue_on(&lab, &throughput, 1, 2, 0);
		actor_unit_init(&late.unit, job_run);
		late.lab = &lab;
		late.number = 99;
		late.unit.dispatcher = dispatcher_of(&lab, &throughput);
		lab_count(&lab);
			run_counted(&lab);
		lab_count_stop(&lab);
		assert_int_equal(lab_busy_passes(&lab, units, LAB_PASSES), 2);
		assert_int_equal(units[0], variant & 2 ? 2 : 1);
		assert_int_equal(units[1], 1);
		assert_int_equal(order[ordered - 1], 99);
		lab_close(&lab);
	}
}

/* ---- drain by hand ---- */

static int drained[3];

static void on_drain(uv_timer_t *timer)
{
	struct lab *lab = timer->data;

	jobs_queue(lab, 0, UNITS, 0);
	for (int i = 0; i < 3; i++)
		drained[i] = actor_system_drain(lab->system);
	uv_close((uv_handle_t *)timer, NULL);
}

static void drain_spends_the_pass_s_own_counts(void **state)
{
	for (enum which kind = 0; kind < KINDS; kind++) {
		uint32_t per_pass = kinds[kind].per_pass;
		uv_timer_t timer;
		struct lab lab;

		lab_open_kind(&lab, kind);
		lab_count(&lab);
		uv_timer_init(&lab.loop, &timer);
		timer.data = &lab;
		uv_timer_start(&timer, on_drain, 1, 0);
		run_counted(&lab);
		lab_count_stop(&lab);
		assert_int_equal(drained[0], per_pass);
		assert_int_equal(drained[1], 0);
		assert_int_equal(drained[2], 0);
		/* Run in the timer phase, so the first prepare after it sees them already. */
		assert_passes(&lab, per_pass, UNITS, kinds[kind].name);
		lab_close(&lab);
	}
}

static void drains_by_hand_let_immediate_dispatchers_take_turns(void **state)
{
	static const uint32_t expected[] = {0, 4, 1, 5, 2, 6, 3, 7};
	struct actor_dispatcher_spec a, b;
	struct lab lab;

	lab_open(&lab, NULL);
	actor_dispatcher_immediate(&a, "one");
	actor_dispatcher_immediate(&b, "other");
	ordered = 0;
	queue_on(&lab, &a, 0, 4, 0);
	queue_on(&lab, &b, 4, 8, 0);
	for (int i = 0; i < 8; i++) {
		assert_int_equal(actor_system_drain(lab.system), 1);
		assert_int_equal(actor_system_drain(lab.system), 0);
		uv_run(&lab.loop, UV_RUN_NOWAIT);
	}
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(order[i], expected[i]);
	lab_close(&lab);
}

static int inside;

static int drain_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	inside = actor_system_drain(actor_ctx_system(ctx));
	return 0;
}

static struct actor_class drain_class = {
	.size = sizeof(drain_class), .name = "drain", .on_message = drain_message};

static int drain_run(struct actor_unit *unit)
{
	struct job *job = (struct job *)unit;

	inside = actor_system_drain(job->lab->system);
	return 0;
}

static void *drain_elsewhere(void *argument)
{
	struct lab *lab = argument;

	inside = actor_system_drain(lab->system);
	return NULL;
}

static void drain_is_refused_inside_a_turn_and_on_other_threads(void **state)
{
	pthread_t thread;
	actor_ref ref;
	struct lab lab;

	lab_open(&lab, NULL);
	actor_system_spawn(lab.system, &drain_class, NULL, &ref);
	actor_system_tell(lab.system, ref, &plain_type, NULL, 0);
	lab_run(&lab);
	assert_int_equal(inside, -EBUSY);
	inside = 0;
	jobs_queue(&lab, 0, 1, 0);
	jobs[0].unit.run = drain_run;
	lab_run(&lab);
	assert_int_equal(inside, -EBUSY);
	pthread_create(&thread, NULL, drain_elsewhere, &lab);
	pthread_join(thread, NULL);
	assert_int_equal(inside, ACTOR_ETHREAD);
	lab_close(&lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(case_27_units_run_in_the_order_they_were_queued),
		cmocka_unit_test(case_28_units_that_queue_themselves_never_raise_the_count_per_pass),
		cmocka_unit_test(dispatchers_that_share_a_loop_add_up),
		cmocka_unit_test(immediate_dispatchers_share_one_unit_per_pass_by_turns),
		cmocka_unit_test(throughput_runs_only_what_was_queued_when_the_pass_began),
		cmocka_unit_test(drain_spends_the_pass_s_own_counts),
		cmocka_unit_test(drains_by_hand_let_immediate_dispatchers_take_turns),
		cmocka_unit_test(drain_is_refused_inside_a_turn_and_on_other_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
