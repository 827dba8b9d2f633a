/* SPDX-License-Identifier: MIT */
/* What becomes of the error of a unit: the caller's sink, or log and event, and stderr if they
 * fail. */
#include "tests/hearer.h"
#include "tests/lab.h"

static struct lab lab;
static uint32_t sunk;
static int sunk_code, sink_result;
static actor_ref sunk_actor;
static bool inside_execute; /* the custom dispatcher runs units where it must not */

static int on_error(void *data, const char *id, int code, actor_ref actor)
{
	sunk++;
	sunk_code = code;
	sunk_actor = actor;
	return sink_result;
}

/* A dispatcher of the program's own, on top of the default one. */
static void foreign_execute(void *self, struct actor_unit *unit)
{
	struct actor_dispatcher *standard;

	if (inside_execute) {
		actor_unit_run(unit);
		return;
	}
	assert_int_equal(actor_system_dispatcher(lab.system, 1, NULL, &standard), 0);
	actor_dispatcher_execute(standard, unit);
}

static const struct actor_dispatcher_ops foreign_ops = {
	.size = sizeof(foreign_ops), .execute = foreign_execute};

static int failing_run(struct actor_unit *unit)
{
	return -EIO;
}

enum what { DEFAULT, OWN, FOREIGN, WHATS };

static struct actor_dispatcher_spec spec_of(enum what what, bool with_sink)
{
	struct actor_dispatcher_spec spec;

	if (what == FOREIGN)
		actor_dispatcher_custom(&spec, &foreign_ops, NULL, "foreign");
	else if (what == OWN)
		actor_dispatcher_immediate(&spec, "own");
	else
		actor_dispatcher_hybrid(&spec, 64, "default");
	if (with_sink)
		spec.on_error = on_error;
	return spec;
}

struct alarm {
	uint32_t count;
	struct actor_dispatcher_error error;
};

static int alarm_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct alarm *alarm = *(struct alarm **)actor_state(ctx);

	assert_ptr_equal(m->type, &actor_event_dispatcher_error);
	assert_int_equal(m->bytes, sizeof(alarm->error));
	alarm->count++;
	memcpy(&alarm->error, m->payload, m->bytes);
	return 0;
}

static struct actor_class alarm_class = {.size = sizeof(alarm_class),
	.name = "alarm",
	.state_bytes = sizeof(struct alarm *),
	.on_message = alarm_message};

/* Opens the lab with a default dispatcher, and an alarm that runs on another one. */
static void open_with(struct alarm *alarm, const struct actor_dispatcher_spec *standard)
{
	struct actor_spawn_options options = {.size = sizeof(options), .init = &alarm};
	struct actor_dispatcher_spec quiet;
	actor_ref ref;

	sunk = 0;
	sink_result = 0;
	inside_execute = false;
	memset(alarm, 0, sizeof(*alarm));
	lab_open(&lab, standard);
	actor_dispatcher_hybrid(&quiet, 64, "quiet");
	options.dispatcher = &quiet;
	assert_int_equal(actor_system_spawn(lab.system, &alarm_class, &options, &ref), 0);
	subscribe(&lab, ref, &actor_event_dispatcher_error);
	lab_run(&lab);
}

static void fail_on(const struct actor_dispatcher_spec *spec)
{
	static struct actor_unit unit;
	struct actor_dispatcher *dispatcher;

	actor_unit_init(&unit, failing_run);
	assert_int_equal(actor_system_dispatcher(lab.system, 1, spec, &dispatcher), 0);
	assert_int_equal(actor_dispatcher_execute(dispatcher, &unit), 0);
	lab_run(&lab);
}

static void case_23_a_failing_unit_goes_to_the_callers_sink_else_to_log_and_event(void **state)
{
	static const char *const ids[] = {"default", "own", "foreign"};

	for (int i = 0; i < 2 * WHATS; i++) {
		bool with_sink = i / WHATS;
		struct actor_dispatcher_spec standard = spec_of(DEFAULT, with_sink);
		struct actor_dispatcher_spec spec = spec_of((enum what)(i % WHATS), with_sink);
		struct alarm alarm;

		open_with(&alarm, &standard);
		for (uint32_t n = 1; n < 4; n++) {
			fail_on(&spec);
			assert_int_equal(sunk, with_sink ? n : 0);
			assert_int_equal(lab.logged, with_sink ? 0 : n);
			assert_int_equal(alarm.count, with_sink ? 0 : n);
		}
		assert_int_equal(lab_stats(&lab).dispatcher_errors, 3);
		if (with_sink) {
			assert_int_equal(sunk_code, -EIO);
			assert_int_equal(sunk_actor, 0);
		} else {
			assert_non_null(strstr(lab.last_log, ids[i % WHATS]));
			assert_non_null(strstr(lab.last_log, actor_strerror(-EIO)));
			assert_string_equal(alarm.error.dispatcher, ids[i % WHATS]);
			assert_int_equal(alarm.error.code, -EIO);
			assert_int_equal(alarm.error.actor, 0);
		}
		/* What the caller described is as it was. */
		assert_true(spec.on_error == (with_sink ? on_error : NULL));
		lab_close(&lab);
	}
}

static int nothing(struct actor_ctx *ctx, const struct actor_message *m)
{
	return 0;
}

static struct actor_class idle_class = {
	.size = sizeof(idle_class), .name = "idle", .on_message = nothing};

static void an_error_with_an_actors_turn_is_an_event_whatever_its_dispatcher_is(void **state)
{
	for (int with_sink = 0; with_sink < 2; with_sink++) {
		struct actor_dispatcher_spec standard = spec_of(DEFAULT, false);
		struct actor_dispatcher_spec spec = spec_of(FOREIGN, with_sink);
		struct actor_spawn_options options = {
			.size = sizeof(options), .dispatcher = &spec, .name = "crunchy"};
		struct alarm alarm;
		actor_ref ref;

		open_with(&alarm, &standard);
		assert_int_equal(actor_system_spawn(lab.system, &idle_class, &options, &ref), 0);
		lab_run(&lab);
		inside_execute = true;
		assert_int_equal(actor_system_tell(lab.system, ref, &plain_type, NULL, 0), 0);
		lab_run(&lab);
		inside_execute = false;
		assert_int_equal(sunk, with_sink);
		assert_int_equal(lab.logged, !with_sink);
		assert_int_equal(alarm.count, 1);
		assert_int_equal(alarm.error.actor, ref);
		assert_int_equal(alarm.error.code, ACTOR_EUNIT);
		assert_string_equal(alarm.error.dispatcher, "foreign");
		lab_close(&lab);
	}
}

static void order_of(const char *text, const char *first, const char *second)
{
	const char *a = strstr(text, first), *b = strstr(text, second);

	if (!a || !b || a > b)
		fail_msg("not %s before %s: %s", first, second, text);
}

static void a_sink_that_fails_leaves_both_errors_on_stderr_the_cause_first(void **state)
{
	struct actor_dispatcher_spec spec = spec_of(OWN, true);
	struct actor_dispatcher_spec standard = spec_of(DEFAULT, false);
	struct alarm alarm;
	char text[4096];

	open_with(&alarm, &standard);
	sink_result = -EDOM;
	lab_stderr_catch();
	fail_on(&spec);
	lab_stderr_release(text, sizeof(text));
	order_of(text, "dispatcher own: a unit failed", "on_error failed too");
	order_of(text, actor_strerror(-EIO), actor_strerror(-EDOM));
	assert_int_equal(sunk, 1);
	lab_close(&lab);
}

static int failing_write(void *data, const struct actor_log_record *record)
{
	return -ENOSPC;
}

static void a_log_that_fails_leaves_both_errors_on_stderr_and_the_event_comes(void **state)
{
	struct actor_log_sink sink = {.size = sizeof(sink), .write = failing_write};
	struct actor_dispatcher_spec standard = spec_of(DEFAULT, false);
	struct alarm alarm;
	char text[4096];

	open_with(&alarm, &standard);
	assert_true(actor_system_log_add(lab.system, &sink) > 0);
	lab_stderr_catch();
	fail_on(&standard);
	lab_stderr_release(text, sizeof(text));
	order_of(text, "dispatcher default: a unit failed", "a log sink failed too");
	order_of(text, actor_strerror(-EIO), actor_strerror(-ENOSPC));
	assert_int_equal(alarm.count, 1);
	lab_close(&lab);
}

/* Fails more often than the alarm's mailbox takes events without memory. */
static int failing_often(struct actor_unit *unit)
{
	static struct actor_unit more[200];

	for (size_t i = 0; i < COUNT(more); i++) {
		actor_unit_init(&more[i], failing_run);
		actor_dispatcher_execute(unit->dispatcher, &more[i]);
	}
	lab_heap_fail(1, LAB_FAIL_FROM_THEN_ON, 0);
	return 0;
}

static void an_event_that_cannot_be_told_leaves_both_errors_on_stderr(void **state)
{
	static char text[65536];
	struct actor_dispatcher_spec standard = spec_of(DEFAULT, false);
	struct actor_dispatcher *dispatcher;
	struct actor_unit unit;
	struct alarm alarm;
	uint32_t lost = 0;

	lab_heap_begin();
	standard.budget = 1000; /* all of them before the alarm has a turn */
	open_with(&alarm, &standard);
	assert_int_equal(actor_system_dispatcher(lab.system, 1, NULL, &dispatcher), 0);
	actor_unit_init(&unit, failing_often);
	assert_int_equal(actor_dispatcher_execute(dispatcher, &unit), 0);
	lab_stderr_catch();
	lab_run(&lab);
	lab_stderr_release(text, sizeof(text));
	lab_heap_fail(0, LAB_FAIL_ONCE, 0);
	order_of(text, "dispatcher default: a unit failed", "publishing this failed too");
	for (const char *at = text; (at = strstr(at, "publishing this failed too")); at++)
		lost++;
	assert_int_equal(alarm.count + lost, 200);
	lab_close(&lab);
	lab_heap_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			case_23_a_failing_unit_goes_to_the_callers_sink_else_to_log_and_event),
		cmocka_unit_test(
			an_error_with_an_actors_turn_is_an_event_whatever_its_dispatcher_is),
		cmocka_unit_test(a_sink_that_fails_leaves_both_errors_on_stderr_the_cause_first),
		cmocka_unit_test(a_log_that_fails_leaves_both_errors_on_stderr_and_the_event_comes),
		cmocka_unit_test(an_event_that_cannot_be_told_leaves_both_errors_on_stderr),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
