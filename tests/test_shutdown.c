/* SPDX-License-Identifier: MIT */
/* Coordinated shutdown: phases in order, tasks side by side, and what is late or fails. */
#include "tests/lab.h"

#include <signal.h>
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

/* ---- loops of the system's own, and signals ---- */

static _Atomic int there_rc;

static int wait_there(struct actor_ctx *ctx, const struct actor_message *message)
{
	atomic_store(&there_rc, actor_system_shutdown_wait(actor_ctx_system(ctx)));
	return 0;
}

static struct actor_class wait_class = {
	.size = sizeof(wait_class), .name = "wait", .on_message = wait_there};

static _Atomic uint32_t ran;

static int count_task(struct actor_system *system, int task, void *data)
{
	atomic_fetch_add(&ran, 1);
	return 0;
}

static void a_thread_outside_waits_for_the_end(void **state)
{
	actor_ref ref;

	atomic_store(&ran, 0);
	lab_open_owned(&lab, 3);
	assert_int_equal(actor_system_spawn(lab.system, &wait_class, NULL, &ref), 0);
	assert_int_equal(actor_system_tell(lab.system, ref, &plain_type, NULL, 0), 0);
	for (int i = 0; i < 10000 && !there_rc; i++)
		sleep_ms(1);
	assert_int_equal(there_rc, ACTOR_ETHREAD);
	assert_true(actor_shutdown_add(lab.system, ACTOR_UNBIND, "one", count_task, NULL) > 0);
	assert_true(actor_shutdown_add(lab.system, ACTOR_LEFT, "two", count_task, NULL) > 0);
	assert_int_equal(actor_system_shutdown_wait(lab.system), 0);
	assert_int_equal(ran, 2);
}

static void on_end(struct actor_system *system, void *data)
{
	atomic_store((_Atomic bool *)data, true);
}

static bool is_default(int number)
{
	struct sigaction action;

	assert_int_equal(sigaction(number, NULL, &action), 0);
	return action.sa_handler == SIG_DFL;
}

static void on_nothing(uv_timer_t *handle)
{
}

static void a_signal_begins_a_shutdown_and_has_its_usual_effect_then(void **state)
{
	static const int numbers[] = {SIGTERM, SIGINT};
	static _Atomic bool ended;

	for (int i = 0; i < 4; i++) {
		struct actor_system_options options = {.size = sizeof(options),
			.shutdown_signals = 1,
			.on_shutdown = on_end,
			.on_shutdown_data = (void *)&ended};
		struct actor_system *system;
		uv_loop_t loop;

		atomic_store(&ran, 0);
		atomic_store(&ended, false);
		uv_loop_init(&loop);
		/* The handles of signals do not keep the loop alive by themselves. */
		uv_timer_init(&loop, &timer);
		uv_timer_start(&timer, on_nothing, 1, 1);
		options.loop = i < 2 ? &loop : NULL;
		options.loops = 2;
		assert_int_equal(actor_system_open(&system, &options), 0);
		assert_false(is_default(SIGTERM) || is_default(SIGINT));
		actor_shutdown_add(system, ACTOR_UNBIND, "one", count_task, NULL);
		assert_int_equal(kill(getpid(), numbers[i % 2]), 0);
		for (int n = 0; n < 10000 && !ended; n++) {
			if (options.loop)
				uv_run(&loop, UV_RUN_NOWAIT);
			sleep_ms(1);
		}
		if (!ended)
			fail_msg("round %d has not ended", i);
		assert_int_equal(ran, 1);
		assert_true(is_default(SIGTERM) && is_default(SIGINT));
		uv_close((uv_handle_t *)&timer, NULL);
		uv_run(&loop, UV_RUN_DEFAULT);
		assert_int_equal(uv_loop_close(&loop), 0);
	}
}

static void a_close_ends_the_waiting_for_signals(void **state)
{
	for (int embedded = 0; embedded < 2; embedded++) {
		struct actor_system_options options = {
			.size = sizeof(options), .shutdown_signals = 1, .loops = 1};
		struct actor_system *system;
		uv_loop_t loop;

		uv_loop_init(&loop);
		options.loop = embedded ? &loop : NULL;
		assert_int_equal(actor_system_open(&system, &options), 0);
		uv_run(&loop, UV_RUN_DEFAULT); /* returns: nothing keeps it alive */
		if (embedded)
			assert_int_equal(actor_system_close(system, NULL, NULL), 0);
		else
			assert_int_equal(actor_system_close_wait(system), 0);
		uv_run(&loop, UV_RUN_DEFAULT);
		assert_int_equal(uv_loop_close(&loop), 0);
		assert_true(is_default(SIGTERM) && is_default(SIGINT));
	}
}

/* Somebody closes all handles of his loop first, then the system. */
static void close_any(uv_handle_t *handle, void *data)
{
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

static void handles_for_signals_may_be_walked_over(void **state)
{
	struct actor_system_options options = {.size = sizeof(options), .shutdown_signals = 1};
	struct actor_system *system;
	uv_loop_t loop;

	uv_loop_init(&loop);
	options.loop = &loop;
	assert_int_equal(actor_system_open(&system, &options), 0);
	uv_walk(&loop, close_any, NULL);
	assert_int_equal(actor_system_shutdown(system, on_closed, &closed), 0);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_true(closed);
	assert_int_equal(uv_loop_close(&loop), 0);
}

/* ---- stress ---- */

#define PLAYERS 24
#define TASKS	40

static actor_ref players[PLAYERS];
static _Atomic uint64_t told, handled;

/* Hits to and fro between loops, for ever. */
static int player_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	uint64_t value = token_new(*(const uint64_t *)message->payload * 6364136223846793005u + 1);

	atomic_fetch_add(&handled, 1);
	atomic_fetch_add(&told, 1);
	if (actor_tell(ctx, players[value >> 33 & 15], &token_type, &value, sizeof(value)))
		atomic_fetch_sub(&told, 1), atomic_fetch_sub(&tokens_alive, 1);
	return 0;
}

static struct actor_class player_class = {
	.size = sizeof(player_class), .name = "player", .on_message = player_message};

static struct plan {
	enum { AT_ONCE, FAILS, LATER, NEVER } how;
	uint32_t after_us;
	int task;
} plans[TASKS];
static _Atomic uint32_t begun;

static void *done_elsewhere(void *data)
{
	struct plan *plan = data;

	usleep(plan->after_us);
	/* Late is fine: the phase may be over, but the system is not gone: its end waits for us. */
	actor_shutdown_done(lab.system, plan->task, 0);
	return NULL;
}

static pthread_t threads[TASKS];
static bool threaded[TASKS];

static int planned_task(struct actor_system *system, int task, void *data)
{
	struct plan *plan = data;

	atomic_fetch_add(&begun, 1);
	plan->task = task;
	if (plan->how == AT_ONCE)
		return 0;
	if (plan->how == FAILS)
		return -EIO;
	if (plan->how == LATER) {
		size_t i = (size_t)(plan - plans);

		threaded[i] = pthread_create(&threads[i], NULL, done_elsewhere, plan) == 0;
	}
	return ACTOR_SHUTDOWN_LATER;
}

static int join_all(struct actor_system *system, int task, void *data)
{
	for (int i = 0; i < TASKS; i++)
		if (threaded[i])
			pthread_join(threads[i], NULL);
	return 0;
}

static void busy_round(uint64_t *seed)
{
	uint32_t bad = 0;

	memset(threaded, 0, sizeof(threaded));
	atomic_store(&begun, 0);
	atomic_store(&told, 0);
	atomic_store(&handled, 0);
	lab_open_owned(&lab, 3);
	actor_shutdown_timeout(lab.system, ACTOR_EACH_PHASE, 40);
	for (int i = 0; i < PLAYERS; i++) {
		struct actor_spawn_options options = {.size = sizeof(options), .loop = i % 3 + 1};

		assert_int_equal(
			actor_system_spawn(lab.system, &player_class, &options, &players[i]), 0);
	}
	for (int i = 0; i < PLAYERS; i++) {
		uint64_t value = token_new(random_next(seed));

		atomic_fetch_add(&told, 1);
		assert_int_equal(actor_system_tell(lab.system, players[i], &token_type, &value,
					 sizeof(value)),
			0);
	}
	for (int i = 0; i < TASKS; i++) {
		char name[16];

		plans[i].how = random_below(seed, 20) ? random_below(seed, 3) : NEVER;
		plans[i].after_us = random_below(seed, 50000);
		bad += plans[i].how == FAILS || plans[i].how == NEVER;
		snprintf(name, sizeof(name), "task-%d", i);
		assert_true(actor_shutdown_add(lab.system,
				    (enum actor_shutdown_phase)(1 + random_below(seed, 11)), name,
				    planned_task, &plans[i]) > 0);
	}
	assert_true(actor_shutdown_add(lab.system, ACTOR_SYSTEM_STOP, "join", join_all, NULL) > 0);
	assert_int_equal(actor_system_shutdown_wait(lab.system), 0);
	assert_int_equal(begun, TASKS);
	assert_true(lab.logged >= bad);
	assert_int_equal(tokens_alive, 0);
	assert_int_equal(told, handled + lab.dead_letters);
}

static void busy_systems_shut_down_and_lose_nothing(void **state)
{
	const char *given = getenv("STRESS_SEED");
	uint64_t seed = given ? strtoull(given, NULL, 0) : now_ns() | 1;

	printf("# seed %llu\n", (unsigned long long)seed);
	for (int i = 0; i < 6; i++)
		busy_round(&seed);
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
		TEST(a_thread_outside_waits_for_the_end),
		TEST(a_signal_begins_a_shutdown_and_has_its_usual_effect_then),
		TEST(a_close_ends_the_waiting_for_signals),
		TEST(handles_for_signals_may_be_walked_over),
		TEST(busy_systems_shut_down_and_lose_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
