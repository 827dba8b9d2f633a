/* SPDX-License-Identifier: MIT */
/* Dispatchers of the program's own: wrap and delegate, hold back, and what they may not do. */
#include "tests/workload.h"

static char trail[4096]; /* what happened, one letter each */
static uint32_t opened, closed, errors;
static int last_code;
static actor_ref last_actor;
static char last_id[64];

static void mark(const char *text)
{
	strncat(trail, text, sizeof(trail) - strlen(trail) - 1);
}

static int on_error(void *data, const char *id, int code, actor_ref actor)
{
	errors++;
	last_code = code;
	last_actor = actor;
	strncpy(last_id, id, sizeof(last_id) - 1);
	return 0;
}

static void reset(void)
{
	trail[0] = '\0';
	opened = closed = errors = 0;
	last_code = 0;
	last_actor = 0;
}

static int turn_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	mark(".");
	return 0;
}

static struct actor_class turn_class = {
	.size = sizeof(turn_class), .name = "turn", .on_message = turn_message};

/* ---- wrap and delegate ---- */

struct layer {
	struct lab *lab;
	const char *before, *after;
	struct actor_dispatcher_spec inner; /* what it delegates to */
	struct actor_dispatcher *delegate;
	int (*run)(struct actor_unit *unit);
	int wrapped; /* the last result of wrapping */
};

static int layer_run(struct actor_unit *unit)
{
	struct layer *layer = actor_unit_unwrap(unit);
	int rc;

	mark(layer->before);
	rc = actor_unit_inner(unit);
	mark(layer->after);
	return rc;
}

static int layer_open(void **self, struct actor_dispatcher *dispatcher, void *data)
{
	struct layer *layer = data;

	*self = layer;
	opened++;
	return actor_system_dispatcher(layer->lab->system, 1, &layer->inner, &layer->delegate);
}

static void layer_execute(void *self, struct actor_unit *unit)
{
	struct layer *layer = self;

	layer->wrapped = actor_unit_wrap(unit, layer_run, layer);
	actor_dispatcher_execute(layer->delegate, unit);
}

static void layer_close(void *self)
{
	closed++;
}

static const struct actor_dispatcher_ops layer_ops = {
	sizeof(layer_ops), layer_open, layer_execute, layer_close};

static void layer_init(struct layer *layer, struct lab *lab, const char *name, const char *marks,
	const struct actor_dispatcher_spec *inner, struct actor_dispatcher_spec *spec)
{
	memset(layer, 0, sizeof(*layer));
	layer->lab = lab;
	layer->before = marks;
	layer->after = marks + 2;
	layer->inner = *inner;
	assert_int_equal(actor_dispatcher_custom(spec, &layer_ops, layer, name), 0);
}

static actor_ref spawn_on(struct lab *lab, const struct actor_dispatcher_spec *spec)
{
	struct actor_spawn_options options = {.size = sizeof(options), .dispatcher = spec};
	actor_ref ref;

	assert_int_equal(actor_system_spawn(lab->system, &turn_class, &options, &ref), 0);
	lab_run(lab);
	return ref;
}

static void tell(struct lab *lab, actor_ref ref)
{
	assert_int_equal(actor_system_tell(lab->system, ref, &plain_type, NULL, 0), 0);
}

static void wrappers_nest_and_run_around_the_turn(void **state)
{
	struct actor_dispatcher_spec bottom, metering, tracing;
	struct layer meter, trace;
	actor_ref a, b;
	struct lab lab;

	reset();
	lab_open(&lab, NULL);
	actor_dispatcher_hybrid(&bottom, 7, NULL);
	layer_init(&meter, &lab, "metering", "[\0]", &bottom, &metering);
	layer_init(&trace, &lab, "tracing", "(\0)", &metering, &tracing);
	a = spawn_on(&lab, &tracing);
	b = spawn_on(&lab, &metering);
	assert_int_equal(opened, 2);
	trail[0] = '\0';
	tell(&lab, a);
	lab_run(&lab);
	assert_string_equal(trail, "[(.)]");
	trail[0] = '\0';
	tell(&lab, b);
	tell(&lab, a);
	tell(&lab, b);
	lab_run(&lab);
	assert_string_equal(trail, "[..][(.)]");
	assert_int_equal(errors, 0);
	lab_close(&lab);
	assert_int_equal(closed, 2);
}

static void wrapped_units_keep_the_budget_of_what_they_are_delegated_to(void **state)
{
	struct actor_dispatcher_spec bottom, tracing;
	struct layer trace;
	struct lab lab;

	reset();
	lab_open(&lab, NULL);
	actor_dispatcher_throughput(&bottom, 4, NULL);
	layer_init(&trace, &lab, "tracing", "(\0)", &bottom, &tracing);
	lab_count(&lab);
	queue_on(&lab, &tracing, 0, 50, 0);
	run_counted(&lab);
	lab_count_stop(&lab);
	assert_passes(&lab, 4, 50, "wrapped throughput(4)");
	lab_close(&lab);
}

static int noop_run(struct actor_unit *unit)
{
	return 0;
}

static void a_third_wrapper_finds_no_room(void **state)
{
	struct actor_dispatcher_spec specs[4];
	struct layer layers[3];
	struct actor_unit unit;
	actor_ref ref;
	struct lab lab;

	actor_unit_init(&unit, noop_run);
	assert_int_equal(actor_unit_wrap(&unit, layer_run, NULL), 0);
	assert_int_equal(actor_unit_wrap(&unit, layer_run, NULL), 0);
	assert_int_equal(actor_unit_wrap(&unit, layer_run, NULL), -ENOBUFS);
	actor_unit_unwrap(&unit);
	actor_unit_unwrap(&unit);
	assert_int_equal(actor_unit_inner(&unit), 0);

	/* In a chain of three the innermost sees the refusal, and the turn still runs. */
	reset();
	lab_open(&lab, NULL);
	actor_dispatcher_hybrid(&specs[0], 64, "bottom");
	layer_init(&layers[0], &lab, "first", "1\0-", &specs[0], &specs[1]);
	layer_init(&layers[1], &lab, "second", "2\0-", &specs[1], &specs[2]);
	layer_init(&layers[2], &lab, "third", "3\0-", &specs[2], &specs[3]);
	ref = spawn_on(&lab, &specs[3]);
	trail[0] = '\0';
	tell(&lab, ref);
	lab_run(&lab);
	assert_int_equal(layers[0].wrapped, -ENOBUFS);
	assert_string_equal(trail, "23.--");
	lab_close(&lab);
}

/* ---- a dispatcher that holds units and runs them by itself ---- */

struct holder {
	uv_timer_t timer;
	struct actor_unit *held[64];
	uint32_t count;
	bool wrong_twice; /* runs each unit twice */
	bool wrong_now;   /* runs units inside execute */
};

static void on_holder_timer(uv_timer_t *timer)
{
	struct holder *h = timer->data;
	struct actor_unit *held[64];
	uint32_t count = h->count;

	memcpy(held, h->held, sizeof(held));
	h->count = 0;
	for (uint32_t i = 0; i < count; i++) {
		actor_unit_run(held[i]);
		if (h->wrong_twice)
			actor_unit_run(held[i]);
	}
}

static int holder_open(void **self, struct actor_dispatcher *dispatcher, void *data)
{
	struct holder *h = data;

	*self = h;
	opened++;
	uv_timer_init(actor_dispatcher_loop(dispatcher), &h->timer);
	h->timer.data = h;
	return 0;
}

static void holder_execute(void *self, struct actor_unit *unit)
{
	struct holder *h = self;

	if (h->wrong_now) {
		actor_unit_run(unit);
		return;
	}
	h->held[h->count++] = unit;
	uv_timer_start(&h->timer, on_holder_timer, 0, 0);
}

static void holder_close(void *self)
{
	struct holder *h = self;

	closed++;
	uv_close((uv_handle_t *)&h->timer, NULL);
}

static const struct actor_dispatcher_ops holder_ops = {
	sizeof(holder_ops), holder_open, holder_execute, holder_close};

static void holder_spec(struct holder *h, struct actor_dispatcher_spec *spec)
{
	memset(h, 0, sizeof(*h));
	assert_int_equal(actor_dispatcher_custom(spec, &holder_ops, h, "holder"), 0);
	spec->on_error = on_error;
}

static void a_dispatcher_may_run_units_from_its_own_timer(void **state)
{
	struct actor_dispatcher_spec spec;
	struct holder holder;
	actor_ref a, b;
	struct lab lab;

	reset();
	holder_spec(&holder, &spec);
	lab_open(&lab, &spec);
	a = spawn_on(&lab, NULL);
	b = spawn_on(&lab, NULL);
	for (int i = 0; i < 20; i++) {
		tell(&lab, a);
		tell(&lab, b);
	}
	lab_run(&lab);
	assert_int_equal(strlen(trail), 40);
	jobs_queue(&lab, 0, 5, 2);
	ordered = 0;
	lab_run(&lab);
	assert_int_equal(ordered, 15);
	assert_int_equal(errors, 0);
	lab_close(&lab);
	assert_int_equal(opened, 1);
	assert_int_equal(closed, 1);
}

static void *run_elsewhere(void *unit)
{
	actor_unit_run(unit);
	return NULL;
}

static void a_unit_run_on_another_thread_is_logged_and_stays_queued(void **state)
{
	struct actor_dispatcher_spec spec;
	struct holder holder;
	pthread_t thread;
	actor_ref ref;
	struct lab lab;

	reset();
	holder_spec(&holder, &spec);
	lab_open(&lab, &spec);
	ref = spawn_on(&lab, NULL);
	tell(&lab, ref);
	assert_int_equal(holder.count, 1);
	assert_int_equal(pthread_create(&thread, NULL, run_elsewhere, holder.held[0]), 0);
	pthread_join(thread, NULL);
	assert_string_equal(trail, "");
	assert_int_equal(lab.logged, 1);
	assert_non_null(strstr(lab.last_log, "actor_unit_run"));
	lab_run(&lab);
	assert_string_equal(trail, ".");
	assert_int_equal(errors, 0);
	lab_close(&lab);
}

static void a_unit_run_inside_execute_is_reported_once_and_runs_later(void **state)
{
	struct actor_dispatcher_spec spec;
	struct holder holder;
	actor_ref ref;
	struct lab lab;

	reset();
	holder_spec(&holder, &spec);
	lab_open(&lab, &spec);
	ref = spawn_on(&lab, NULL);
	holder.wrong_now = true;
	tell(&lab, ref);
	assert_string_equal(trail, ""); /* not on the teller's stack */
	assert_int_equal(errors, 1);
	assert_int_equal(last_code, ACTOR_EUNIT);
	assert_true(last_actor == ref);
	assert_string_equal(last_id, "holder");
	lab_run(&lab);
	assert_string_equal(trail, ".");
	assert_int_equal(errors, 1);
	assert_int_equal(lab_stats(&lab).dispatcher_errors, 1);

	/* The same for a unit of the program's own. */
	ordered = 0;
	jobs_queue(&lab, 0, 1, 0);
	assert_int_equal(ordered, 0);
	assert_int_equal(errors, 2);
	assert_true(last_actor == 0);
	lab_run(&lab);
	assert_int_equal(ordered, 1);
	assert_int_equal(lab.logged, 0);
	holder.wrong_now = false;
	lab_close(&lab);
}

static void a_unit_run_inside_execute_runs_later_without_memory(void **state)
{
	struct actor_dispatcher_spec spec;
	struct holder holder;
	actor_ref ref;
	struct lab lab;

	reset();
	lab_heap_begin();
	holder_spec(&holder, &spec);
	lab_open(&lab, &spec);
	ref = spawn_on(&lab, NULL);
	tell(&lab, ref);
	lab_run(&lab);
	lab_heap_fail(1, LAB_FAIL_FROM_THEN_ON, 0);
	holder.wrong_now = true;
	tell(&lab, ref);
	lab_run(&lab);
	assert_string_equal(trail, "..");
	assert_int_equal(errors, 1);
	holder.wrong_now = false;
	lab_close(&lab);
	lab_heap_end();
}

static void a_unit_run_twice_is_reported_and_has_one_turn(void **state)
{
	struct actor_dispatcher_spec spec;
	struct holder holder;
	actor_ref ref;
	struct lab lab;

	reset();
	holder_spec(&holder, &spec);
	lab_open(&lab, &spec);
	ref = spawn_on(&lab, NULL);
	holder.wrong_twice = true;
	tell(&lab, ref);
	tell(&lab, ref);
	lab_run(&lab);
	assert_string_equal(trail, "..");
	assert_int_equal(errors, 1);
	assert_int_equal(last_code, ACTOR_EUNIT);
	holder.wrong_twice = false;
	lab_close(&lab);
}

/* ---- a turn inside a turn ---- */

static struct holder *nesting;

static int nest_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	mark("<");
	while (nesting->count)
		actor_unit_run(nesting->held[--nesting->count]);
	mark(">");
	return 0;
}

static struct actor_class nest_class = {
	.size = sizeof(nest_class), .name = "nest", .on_message = nest_message};

static void a_unit_run_inside_a_turn_is_reported_and_runs_after_it(void **state)
{
	struct actor_dispatcher_spec spec;
	struct holder holder;
	actor_ref held, outer;
	struct lab lab;

	reset();
	holder_spec(&holder, &spec);
	nesting = &holder;
	lab_open(&lab, NULL);
	held = spawn_on(&lab, &spec);
	assert_int_equal(actor_system_spawn(lab.system, &nest_class, NULL, &outer), 0);
	lab_run(&lab);
	tell(&lab, held);
	uv_timer_stop(&holder.timer);
	tell(&lab, outer);
	lab_run(&lab);
	assert_string_equal(trail, "<>.");
	assert_int_equal(errors, 1);
	assert_true(last_actor == held);
	lab_close(&lab);
}

/* ---- plain units ---- */

static int failing_run(struct actor_unit *unit)
{
	mark("x");
	return -EIO;
}

static void a_failing_unit_goes_to_on_error_or_to_the_log_once(void **state)
{
	for (int with_sink = 0; with_sink < 2; with_sink++) {
		struct actor_dispatcher_spec spec;
		struct lab lab;

		reset();
		actor_dispatcher_hybrid(&spec, 64, "mine");
		if (with_sink)
			spec.on_error = on_error;
		lab_open(&lab, &spec);
		jobs_queue(&lab, 0, 3, 0);
		jobs[1].unit.run = failing_run;
		ordered = 0;
		lab_run(&lab);
		assert_string_equal(trail, "x");
		assert_int_equal(ordered, 2); /* the others ran */
		assert_int_equal(errors, with_sink);
		assert_int_equal(lab.logged, !with_sink);
		if (with_sink) {
			assert_int_equal(last_code, -EIO);
			assert_string_equal(last_id, "mine");
			assert_true(last_actor == 0);
		} else {
			assert_non_null(strstr(lab.last_log, "mine"));
		}
		assert_int_equal(lab_stats(&lab).dispatcher_errors, 1);
		lab_close(&lab);
	}
}

static void *execute_elsewhere(void *argument)
{
	last_code = actor_dispatcher_execute(argument, &jobs[0].unit);
	return NULL;
}

static void a_queued_unit_is_refused_and_so_is_another_thread(void **state)
{
	struct actor_dispatcher *dispatcher;
	pthread_t thread;
	struct lab lab;

	reset();
	lab_open(&lab, NULL);
	dispatcher = dispatcher_of(&lab, NULL);
	jobs_queue(&lab, 0, 1, 0);
	assert_int_equal(actor_dispatcher_execute(dispatcher, &jobs[0].unit), -EALREADY);
	ordered = 0;
	lab_run(&lab);
	assert_int_equal(ordered, 1);
	pthread_create(&thread, NULL, execute_elsewhere, dispatcher);
	pthread_join(thread, NULL);
	assert_int_equal(last_code, ACTOR_ETHREAD);
	lab_close(&lab);
}

/* ---- opening ---- */

static int refuse_open(void **self, struct actor_dispatcher *dispatcher, void *data)
{
	return -EPERM;
}

static void refuse_execute(void *self, struct actor_unit *unit)
{
}

static const struct actor_dispatcher_ops refuse_ops = {
	sizeof(refuse_ops), refuse_open, refuse_execute, NULL};

static void a_dispatcher_that_does_not_open_fails_spawn_and_system(void **state)
{
	struct actor_spawn_options spawn = {.size = sizeof(spawn)};
	struct actor_system_options options = {.size = sizeof(options)};
	struct actor_dispatcher_spec spec;
	struct actor_system *system = NULL;
	uv_loop_t loop;
	actor_ref ref;
	struct lab lab;

	actor_dispatcher_custom(&spec, &refuse_ops, NULL, "refuse");
	spawn.dispatcher = &spec;
	lab_open(&lab, NULL);
	assert_int_equal(actor_system_spawn(lab.system, &turn_class, &spawn, &ref), -EPERM);
	lab_close(&lab);

	options.dispatcher = &spec;
	options.loops = 2;
	assert_int_equal(actor_system_open(&system, &options), -EPERM);
	uv_loop_init(&loop);
	options.loop = &loop;
	assert_int_equal(actor_system_open(&system, &options), -EPERM);
	assert_int_equal(uv_loop_close(&loop), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrappers_nest_and_run_around_the_turn),
		cmocka_unit_test(wrapped_units_keep_the_budget_of_what_they_are_delegated_to),
		cmocka_unit_test(a_third_wrapper_finds_no_room),
		cmocka_unit_test(a_dispatcher_may_run_units_from_its_own_timer),
		cmocka_unit_test(a_unit_run_on_another_thread_is_logged_and_stays_queued),
		cmocka_unit_test(a_unit_run_inside_execute_is_reported_once_and_runs_later),
		cmocka_unit_test(a_unit_run_inside_execute_runs_later_without_memory),
		cmocka_unit_test(a_unit_run_twice_is_reported_and_has_one_turn),
		cmocka_unit_test(a_unit_run_inside_a_turn_is_reported_and_runs_after_it),
		cmocka_unit_test(a_failing_unit_goes_to_on_error_or_to_the_log_once),
		cmocka_unit_test(a_queued_unit_is_refused_and_so_is_another_thread),
		cmocka_unit_test(a_dispatcher_that_does_not_open_fails_spawn_and_system),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
