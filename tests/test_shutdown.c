/* SPDX-License-Identifier: MIT */
/* Coordinated shutdown: phases in order, tasks side by side, and what is late or fails. */
#include "tests/lab.h"

#include <stdio.h>
#include <unistd.h>

#define EVENTS 64

/* What happened, in order; on the first loop's thread. */
static char events[EVENTS][64];
static uint32_t event_count;

static void event(const char *text)
{
	assert_true(event_count < EVENTS);
	snprintf(events[event_count++], sizeof(events[0]), "%s", text);
}

static struct lab lab;
static bool closed;

static int setup(void **state)
{
	memset(events, 0, sizeof(events));
	event_count = 0;
	closed = false;
	return 0;
}

static void on_closed(struct actor_system *system, void *data)
{
	event("closed");
	*(bool *)data = true;
}

/* Runs a shutdown on the lab's loop and closes the loop. */
static void shut_down(void)
{
	assert_int_equal(actor_system_shutdown(lab.system, on_closed, &closed), 0);
	uv_run(&lab.loop, UV_RUN_DEFAULT);
	assert_true(closed);
	lab.closed = true;
	lab_close(&lab);
}

static int say(struct actor_system *system, int task, void *data)
{
	assert_ptr_equal(system, lab.system);
	event(data);
	return 0;
}

static int say_later(struct actor_system *system, int task, void *data)
{
	event(data);
	return ACTOR_SHUTDOWN_LATER;
}

static int fail_task(struct actor_system *system, int task, void *data)
{
	event("fails");
	return -EPIPE;
}

/* ---- an actor that says when it stops ---- */

static int quiet_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	event("message");
	return 0;
}

static void say_stop(struct actor_ctx *ctx)
{
	event("on_stop");
}

static struct actor_class say_class = {
	.size = sizeof(say_class), .name = "say", .on_message = quiet_message, .on_stop = say_stop};

/* ---- order ---- */

static void all_twelve_phases_run_in_order_and_then_the_actors_stop(void **state)
{
	const char *name;
	actor_ref ref;

	lab_open(&lab, NULL);
	assert_int_equal(actor_system_spawn(lab.system, &say_class, NULL, &ref), 0);
	/* Added backwards. */
	for (int phase = 12; phase >= 1; phase--) {
		name = actor_shutdown_phase_name((enum actor_shutdown_phase)phase);
		assert_true(actor_shutdown_add(lab.system, (enum actor_shutdown_phase)phase, name,
				    say, (void *)(uintptr_t)name) > 0);
	}
	assert_null(actor_shutdown_phase_name((enum actor_shutdown_phase)13));
	assert_null(actor_shutdown_phase_name(ACTOR_EACH_PHASE));
	assert_int_equal(actor_system_tell(lab.system, ref, &plain_type, NULL, 0), 0);
	shut_down();
	assert_int_equal(event_count, 15);
	for (uint32_t i = 0, phase = 1; i < 12; i++) {
		if (strcmp(events[i], "message") == 0)
			fail_msg("the message came before phase %u", i);
		assert_string_equal(
			events[i], actor_shutdown_phase_name((enum actor_shutdown_phase)phase++));
	}
	assert_string_equal(events[12], "message");
	assert_string_equal(events[13], "on_stop");
	assert_string_equal(events[14], "closed");
	assert_int_equal(lab.logged, 0);
}

static int tell_it(struct actor_system *system, int task, void *data)
{
	event("task");
	assert_int_equal(actor_system_tell(system, *(actor_ref *)data, &plain_type, NULL, 0), 0);
	assert_int_equal(actor_system_spawn(system, &say_class, NULL, NULL), 0);
	return 0;
}

static void actors_work_as_usual_until_the_last_phase_is_over(void **state)
{
	actor_ref ref;

	lab_open(&lab, NULL);
	assert_int_equal(actor_system_spawn(lab.system, &say_class, NULL, &ref), 0);
	assert_true(actor_shutdown_add(lab.system, ACTOR_SYSTEM_STOP, "tell", tell_it, &ref) > 0);
	shut_down();
	assert_int_equal(event_count, 5);
	assert_string_equal(events[0], "task");
	assert_string_equal(events[1], "message");
	assert_string_equal(events[2], "on_stop");
	assert_string_equal(events[3], "on_stop");
}

/* What user actors say at their end still reaches the system's services. */
static void serve_stop(struct actor_ctx *ctx)
{
	char path[64];
	actor_ref child = ACTOR_NONE;

	assert_true(actor_path(actor_ctx_system(ctx), actor_self(ctx), path, sizeof(path)) > 0);
	event(path);
	assert_int_equal(actor_lookup(actor_ctx_system(ctx), path), actor_self(ctx));
	assert_int_equal(actor_log(ctx, ACTOR_LOG_WARN, "stops"), 0);
	assert_int_equal(actor_spawn(ctx, &say_class, NULL, &child), ACTOR_ECLOSED);
	assert_int_equal(actor_tell(ctx, actor_parent(ctx) ? actor_parent(ctx) : actor_self(ctx),
				 &plain_type, NULL, 0),
		0);
}

static int parent_start(struct actor_ctx *ctx);

static struct actor_class child_class = {.size = sizeof(child_class),
	.name = "child",
	.on_message = quiet_message,
	.on_stop = serve_stop};
static struct actor_class parent_class = {.size = sizeof(parent_class),
	.name = "parent",
	.on_start = parent_start,
	.on_message = quiet_message,
	.on_stop = serve_stop};

static int parent_start(struct actor_ctx *ctx)
{
	struct actor_spawn_options options = {.size = sizeof(options), .name = "child"};

	return actor_spawn(ctx, &child_class, &options, NULL);
}

static void user_actors_stop_before_what_serves_them_case_16(void **state)
{
	static const char *const expected[] = {
		"before", "/user/parent/child", "/user/parent", "closed"};
	struct actor_spawn_options options = {.size = sizeof(options), .name = "parent"};

	lab_open(&lab, NULL);
	assert_int_equal(actor_system_spawn(lab.system, &parent_class, &options, NULL), 0);
	lab_run(&lab); /* the child is there */
	actor_shutdown_add(lab.system, ACTOR_BEFORE_SYSTEM_STOP, "before", say, "before");
	shut_down();
	assert_int_equal(event_count, COUNT(expected));
	for (size_t i = 0; i < COUNT(expected); i++)
		assert_string_equal(events[i], expected[i]);
	assert_int_equal(lab.logged, 2);
	assert_int_equal(lab.dead_letters, 2);
}

/* ---- side by side ---- */

static uv_timer_t timer;
static int first, second;

static void on_timer(uv_timer_t *handle)
{
	assert_int_equal(event_count, 2); /* both were begun, nothing else was */
	if (first) {
		assert_int_equal(actor_shutdown_done(lab.system, first, 0), 0);
		assert_int_equal(actor_shutdown_done(lab.system, first, 0), -ESTALE);
		first = 0;
		return;
	}
	assert_int_equal(actor_shutdown_done(lab.system, second, 0), 0);
	uv_close((uv_handle_t *)handle, NULL);
}

static void tasks_of_a_phase_run_side_by_side(void **state)
{
	lab_open(&lab, NULL);
	first = actor_shutdown_add(lab.system, ACTOR_UNBIND, "one", say_later, "one");
	second = actor_shutdown_add(lab.system, ACTOR_UNBIND, "two", say_later, "two");
	actor_shutdown_add(lab.system, ACTOR_LEAVE, "three", say, "three");
	assert_int_equal(actor_shutdown_done(lab.system, first, 0), -EINVAL);
	uv_timer_init(&lab.loop, &timer);
	uv_timer_start(&timer, on_timer, 50, 50);
	shut_down();
	assert_int_equal(event_count, 4);
	assert_string_equal(events[2], "three");
	assert_int_equal(lab.logged, 0);
}

static int done_inside(struct actor_system *system, int task, void *data)
{
	assert_int_equal(actor_shutdown_remove(system, task), -EBUSY);
	assert_int_equal(actor_shutdown_done(system, task, 0), 0);
	assert_int_equal(actor_shutdown_remove(system, task), -ESTALE);
	event("inside");
	return ACTOR_SHUTDOWN_LATER;
}

static void *done_there(void *data)
{
	sleep_ms(30);
	assert_int_equal(actor_shutdown_done(lab.system, *(int *)data, 0), 0);
	return NULL;
}

static void a_task_may_be_done_inside_itself_or_by_another_thread(void **state)
{
	pthread_t thread;
	int there;

	lab_open(&lab, NULL);
	actor_shutdown_add(lab.system, ACTOR_UNBIND, "inside", done_inside, NULL);
	there = actor_shutdown_add(lab.system, ACTOR_UNBIND, "there", say_later, "there");
	assert_int_equal(actor_system_shutdown(lab.system, on_closed, &closed), 0);
	uv_run(&lab.loop, UV_RUN_ONCE); /* the phase has begun */
	while (event_count < 2)
		uv_run(&lab.loop, UV_RUN_ONCE);
	assert_int_equal(pthread_create(&thread, NULL, done_there, &there), 0);
	uv_run(&lab.loop, UV_RUN_DEFAULT);
	pthread_join(thread, NULL);
	assert_true(closed);
	lab.closed = true;
	lab_close(&lab);
	assert_int_equal(lab.logged, 0);
}

/* ---- late and failing ---- */

static int late;

static int late_now(struct actor_system *system, int task, void *data)
{
	assert_int_equal(actor_shutdown_done(system, late, 0), -ESTALE);
	event("next");
	return 0;
}

static void a_late_task_is_logged_and_the_next_phase_comes(void **state)
{
	uint64_t began = now_ns();

	lab_open(&lab, NULL);
	assert_int_equal(actor_shutdown_timeout(lab.system, ACTOR_UNBIND, 60), 0);
	late = actor_shutdown_add(lab.system, ACTOR_UNBIND, "late", say_later, "late");
	actor_shutdown_add(lab.system, ACTOR_REQUESTS_DONE, "next", late_now, NULL);
	shut_down();
	assert_true(now_ns() - began >= 60000000);
	assert_int_equal(event_count, 3);
	assert_string_equal(events[1], "next");
	assert_int_equal(lab.logged, 1);
	assert_string_equal(
		lab.last_log, "shutdown: the task late of phase unbind is not done after 60 ms");
}

static void a_failing_task_is_logged_and_the_next_one_comes(void **state)
{
	lab_open(&lab, NULL);
	actor_shutdown_add(lab.system, ACTOR_UNBIND, "broken", fail_task, NULL);
	actor_shutdown_add(lab.system, ACTOR_UNBIND, "good", say, "good");
	shut_down();
	assert_int_equal(event_count, 3);
	assert_string_equal(events[1], "good");
	assert_int_equal(lab.logged, 1);
	assert_string_equal(
		lab.last_log, "shutdown: the task broken of phase unbind failed: broken pipe");
}

static int fail_later(struct actor_system *system, int task, void *data)
{
	assert_int_equal(actor_shutdown_done(system, task, ACTOR_EUNIT), 0);
	return ACTOR_SHUTDOWN_LATER;
}

static void a_task_that_reports_a_failure_is_logged(void **state)
{
	lab_open(&lab, NULL);
	actor_shutdown_add(lab.system, ACTOR_LEFT, "report", fail_later, NULL);
	shut_down();
	assert_int_equal(lab.logged, 1);
	assert_non_null(strstr(lab.last_log, "the task report of phase left failed: "));
}

/* ---- misuse ---- */

static void a_second_shutdown_or_close_is_refused(void **state)
{
	lab_open(&lab, NULL);
	assert_int_equal(actor_system_shutdown(lab.system, on_closed, &closed), 0);
	assert_int_equal(actor_system_shutdown(lab.system, NULL, NULL), -EALREADY);
	assert_int_equal(actor_system_close(lab.system, NULL, NULL), -EALREADY);
	assert_int_equal(actor_system_shutdown_wait(lab.system), -EINVAL);
	uv_run(&lab.loop, UV_RUN_DEFAULT);
	assert_true(closed);
	lab.closed = true;
	lab_close(&lab);
	/* And the other way round. */
	lab_open(&lab, NULL);
	closed = false;
	assert_int_equal(actor_system_close(lab.system, on_closed, &closed), 0);
	assert_int_equal(actor_system_shutdown(lab.system, NULL, NULL), -EALREADY);
	uv_run(&lab.loop, UV_RUN_DEFAULT);
	assert_true(closed);
	lab.closed = true;
	lab_close(&lab);
}

static int add_now(struct actor_system *system, int task, void *data)
{
	assert_int_equal(actor_shutdown_add(system, ACTOR_UNBIND, "a", say, "a"), ACTOR_ECLOSED);
	assert_int_equal(
		actor_shutdown_add(system, ACTOR_BEFORE_UNBIND, "a", say, "a"), ACTOR_ECLOSED);
	assert_true(actor_shutdown_add(system, ACTOR_REQUESTS_DONE, "added", say, "added") > 0);
	assert_int_equal(actor_system_close(system, NULL, NULL), -EALREADY);
	return 0;
}

static void wrong_tasks_are_refused(void **state)
{
	static const struct {
		int phase;
		const char *name;
		actor_shutdown_cb cb;
		int rc;
	} rows[] = {
		{0, "a", say, -EINVAL},
		{13, "a", say, -EINVAL},
		{-1, "a", say, -EINVAL},
		{1, "a", NULL, -EINVAL},
		{1, NULL, say, ACTOR_ENAME},
		{1, "", say, ACTOR_ENAME},
		{1, "a/b", say, ACTOR_ENAME},
		{1, "there", say, -EEXIST},
	};
	int task;

	lab_open(&lab, NULL);
	task = actor_shutdown_add(lab.system, ACTOR_BEFORE_UNBIND, "there", say, "there");
	assert_true(task > 0);
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(
			actor_shutdown_add(lab.system, (enum actor_shutdown_phase)rows[i].phase,
				rows[i].name, rows[i].cb, "wrong"),
			rows[i].rc);
	assert_int_equal(actor_shutdown_timeout(lab.system, ACTOR_EACH_PHASE, 0), -EINVAL);
	assert_int_equal(actor_shutdown_timeout(lab.system, ACTOR_EACH_PHASE, 3600001), -EINVAL);
	assert_int_equal(
		actor_shutdown_timeout(lab.system, (enum actor_shutdown_phase)13, 5), -EINVAL);
	assert_int_equal(actor_shutdown_remove(lab.system, task), 0);
	assert_int_equal(actor_shutdown_remove(lab.system, task), -ENOENT);
	assert_int_equal(actor_shutdown_done(lab.system, task, 0), -ENOENT);
	assert_true(actor_shutdown_add(lab.system, ACTOR_UNBIND, "there", add_now, NULL) > 0);
	shut_down();
	assert_int_equal(event_count, 2);
	assert_string_equal(events[0], "added");
}

static void without_memory_a_task_is_refused_but_a_shutdown_goes_on(void **state)
{
	lab_open(&lab, NULL);
	lab_heap_begin();
	lab_heap_fail(1, LAB_FAIL_FROM_THEN_ON, 0);
	assert_int_equal(
		actor_shutdown_add(lab.system, ACTOR_UNBIND, "none", say, "none"), -ENOMEM);
	lab_heap_fail(0, LAB_FAIL_ONCE, 0);
	assert_true(actor_shutdown_add(lab.system, ACTOR_UNBIND, "one", say, "one") > 0);
	lab_heap_fail(1, LAB_FAIL_FROM_THEN_ON, 0);
	shut_down();
	assert_int_equal(event_count, 2);
	lab_heap_fail(0, LAB_FAIL_ONCE, 0);
	lab_heap_end();
}

/* ---- configuration ---- */

static void the_configuration_sets_the_time_of_phases(void **state)
{
	static const char *const texts[] = {
		"shutdown = { phase_timeout_ms = 40; };",
		"override = true; shutdown = { phase_timeout_ms = 40; };",
	};
	char name[] = "/tmp/test_shutdown.XXXXXX";
	int file = mkstemp(name);

	assert_true(file >= 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(ftruncate(file, 0), 0);
		assert_int_equal(pwrite(file, texts[i], strlen(texts[i]), 0), strlen(texts[i]));
		setenv("ACTOR_CONFIG", name, 1);
		lab_open(&lab, NULL);
		unsetenv("ACTOR_CONFIG");
		actor_shutdown_add(lab.system, ACTOR_UNBIND, "late", say_later, "late");
		if (i) /* is not heard, but for the other's sake */
			assert_int_equal(
				actor_shutdown_timeout(lab.system, ACTOR_EACH_PHASE, 600000), 0);
		shut_down();
		assert_non_null(strstr(lab.last_log, "is not done after 40 ms"));
	}
	close(file);
	unlink(name);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, setup)
	const struct CMUnitTest tests[] = {
		TEST(all_twelve_phases_run_in_order_and_then_the_actors_stop),
		TEST(actors_work_as_usual_until_the_last_phase_is_over),
		TEST(user_actors_stop_before_what_serves_them_case_16),
		TEST(tasks_of_a_phase_run_side_by_side),
		TEST(a_task_may_be_done_inside_itself_or_by_another_thread),
		TEST(a_late_task_is_logged_and_the_next_phase_comes),
		TEST(a_failing_task_is_logged_and_the_next_one_comes),
		TEST(a_task_that_reports_a_failure_is_logged),
		TEST(a_second_shutdown_or_close_is_refused),
		TEST(wrong_tasks_are_refused),
		TEST(without_memory_a_task_is_refused_but_a_shutdown_goes_on),
		TEST(the_configuration_sets_the_time_of_phases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
