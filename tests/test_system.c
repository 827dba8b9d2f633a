/* SPDX-License-Identifier: MIT */
/* Opening, closing and sharing: systems, their loops, and what outlives them. */
#include "tests/lab.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static _Atomic uint32_t handled, stopped;

static int count_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	atomic_fetch_add(&handled, 1);
	return 0;
}

static void count_stop(struct actor_ctx *ctx)
{
	atomic_fetch_add(&stopped, 1);
}

static struct actor_class count_class = {.size = sizeof(count_class),
	.name = "count",
	.on_message = count_message,
	.on_stop = count_stop};

static actor_ref spawn(struct actor_system *system, int loop)
{
	struct actor_spawn_options options = {.size = sizeof(options), .loop = loop};
	actor_ref ref;

	assert_int_equal(actor_system_spawn(system, &count_class, &options, &ref), 0);
	return ref;
}

static void tell(struct actor_system *system, actor_ref to, uint32_t times)
{
	for (uint32_t i = 0; i < times; i++)
		assert_int_equal(actor_system_tell(system, to, &plain_type, NULL, 0), 0);
}

static int setup(void **state)
{
	handled = stopped = 0;
	return 0;
}

/* ---- options ---- */

static void wrong_options_are_refused(void **state)
{
	static struct actor_dispatcher_spec no_budget = {
		.size = sizeof(no_budget), .kind = ACTOR_HYBRID, .id = "x"};
	static struct actor_dispatcher_spec no_kind = {.size = sizeof(no_kind), .id = "x"};
	static struct actor_dispatcher_spec no_size = {
		.kind = ACTOR_HYBRID, .budget = 1, .id = "x"};
	static struct actor_dispatcher_spec no_name = {
		.size = sizeof(no_name), .kind = ACTOR_HYBRID, .budget = 1};
#define WITH(...) {.size = sizeof(struct actor_system_options), __VA_ARGS__}
	static const struct {
		struct actor_system_options options;
		int rc;
	} rows[] = {
		{{.size = 0}, ACTOR_EOPTIONS},
		{{.size = 8}, ACTOR_EOPTIONS},
		{WITH(.throughput = -1), ACTOR_EBUDGET},
		{WITH(.throughput = 1000001), ACTOR_EBUDGET},
		{WITH(.name = ""), ACTOR_ENAME},
		{WITH(.name = "a/b"), ACTOR_ENAME},
		{WITH(.name = "$a"), ACTOR_ENAME},
		{WITH(.name = "tab\there"), ACTOR_ENAME},
		{WITH(.loops = -1), ACTOR_EOPTIONS},
		{WITH(.loops = 256), ACTOR_ELIMIT},
		{WITH(.drain_ms = -2), ACTOR_EOPTIONS},
		{WITH(.ring_slots = -1), ACTOR_EOPTIONS},
		{WITH(.ring_slots = 3), ACTOR_EOPTIONS},
		{WITH(.ring_slots = 1 << 21), ACTOR_EOPTIONS},
		{WITH(.log_level = ACTOR_LOG_OFF + 1), ACTOR_EOPTIONS},
		{WITH(.dispatcher = &no_budget), ACTOR_EBUDGET},
		{WITH(.dispatcher = &no_kind), ACTOR_EOPTIONS},
		{WITH(.dispatcher = &no_size), ACTOR_EOPTIONS},
		{WITH(.dispatcher = &no_name), ACTOR_ENAME},
	};
	struct actor_system *system;

	assert_int_equal(actor_system_open(&system, NULL), ACTOR_EOPTIONS);
	for (size_t i = 0; i < COUNT(rows); i++) {
		int rc = actor_system_open(&system, &rows[i].options);

		if (rc != rows[i].rc)
			fail_msg("row %zu: %d (%s), expected %d", i, rc, actor_strerror(rc),
				rows[i].rc);
	}
}

static void high(struct actor_system_options *options)
{
	options->throughput = 1001;
}

static void a_throughput_above_1000_is_taken_with_one_warning(void **state)
{
	struct lab lab;

	lab_open_with(&lab, high);
	assert_int_equal(lab.logged, 1);
	assert_non_null(strstr(lab.last_log, "1001"));
	lab_close(&lab);
}

static void every_error_has_a_sentence(void **state)
{
	static const int others[] = {-ENOMEM, -EINVAL, -EAGAIN, -EEXIST, -ENOENT, -EBUSY, -EALREADY,
		-ENOBUFS, -ECHILD, -EDEADLK, -ETIMEDOUT, -ECANCELED};

#define SENTENCE(code, name, text) assert_string_equal(actor_strerror(code), text);
	ACTOR_ERRORS(SENTENCE)
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_string_not_equal(actor_strerror(others[i]), "unknown error");
	assert_non_null(actor_strerror(0));
	assert_non_null(actor_strerror(12345));
	assert_non_null(actor_strerror(-99999));
	assert_string_equal(actor_version(), "0.1.0");
}

/* ---- several systems ---- */

static void systems_share_a_loop_and_a_process(void **state)
{
	struct actor_system_options options = {.size = sizeof(options)};
	struct actor_system *systems[3], *owned;
	actor_ref refs[3];
	uv_loop_t loop;

	uv_loop_init(&loop);
	assert_int_equal(actor_system_open(&owned, &options), 0);
	options.loop = &loop;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(actor_system_open(&systems[i], &options), 0);
		refs[i] = spawn(systems[i], 0);
		tell(systems[i], refs[i], 10);
	}
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(handled, 30);
	/* A ref of one system is nobody in another. */
	tell(systems[0], refs[1], 1);
	tell(owned, refs[1], 1);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(handled, 30);
	for (int i = 0; i < 3; i++)
		assert_int_equal(actor_system_close(systems[i], NULL, NULL), 0);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
	assert_int_equal(stopped, 3);
	assert_int_equal(actor_system_close_wait(owned), 0);
}

static void a_ref_of_a_closed_system_reaches_nobody_later(void **state)
{
	struct actor_stats stats = {.size = sizeof(stats)};
	struct lab lab;
	actor_ref old[50];

	lab_open(&lab, NULL);
	for (int i = 0; i < 50; i++)
		old[i] = spawn(lab.system, 0);
	lab_run(&lab);
	lab_close(&lab);
	lab_open(&lab, NULL);
	for (int i = 0; i < 50; i++)
		spawn(lab.system, 0);
	lab_run(&lab);
	for (int i = 0; i < 50; i++)
		tell(lab.system, old[i], 1);
	lab_run(&lab);
	actor_system_stats(lab.system, &stats);
	assert_int_equal(stats.delivered, 0);
	assert_int_equal(stats.dead_letters, 50);
	assert_int_equal(handled, 0);
	lab_close(&lab);
}

static void a_thousand_systems_come_and_go(void **state)
{
	for (int i = 0; i < 1000; i++) {
		struct actor_system_options options = {.size = sizeof(options)};
		struct actor_system *system;
		uv_loop_t loop;

		uv_loop_init(&loop);
		options.loop = &loop;
		options.loops = i % 100 == 0 ? 2 : 0;
		assert_int_equal(actor_system_open(&system, &options), 0);
		tell(system, spawn(system, 1), 3);
		uv_run(&loop, UV_RUN_DEFAULT);
		assert_int_equal(actor_system_close(system, NULL, NULL), 0);
		uv_run(&loop, UV_RUN_DEFAULT);
		assert_int_equal(uv_loop_close(&loop), 0);
	}
	assert_int_equal(handled, 3000);
	assert_int_equal(stopped, 1000);
}

/* ---- closing ---- */

static uint32_t close_calls;

static void on_closed(struct actor_system *system, void *data)
{
	close_calls++;
	if (data)
		*(bool *)data = true;
}

static int closing_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	assert_int_equal(
		actor_system_close(actor_ctx_system(ctx), on_closed, NULL), close_calls ? -EALREADY : 0);
	return count_message(ctx, message);
}

static struct actor_class closing_class = {
	.size = sizeof(closing_class), .name = "closing", .on_message = closing_message};

static void a_handler_may_close_its_own_system(void **state)
{
	struct lab lab;
	actor_ref ref, other;

	close_calls = 0;
	lab_open(&lab, NULL);
	other = spawn(lab.system, 0);
	actor_system_spawn(lab.system, &closing_class, NULL, &ref);
	tell(lab.system, ref, 1);
	tell(lab.system, other, 100);
	lab_run(&lab);
	assert_int_equal(close_calls, 1);
	assert_int_equal(handled, 101); /* queued work was drained */
	lab.closed = true;
	lab_close(&lab);
}

static void *close_elsewhere(void *argument)
{
	assert_int_equal(actor_system_close(argument, NULL, NULL), 0);
	return NULL;
}

static void on_keep(uv_timer_t *timer)
{
}

static void another_thread_may_close_a_system_on_the_callers_loop(void **state)
{
	for (int i = 0; i < 200; i++) {
		struct actor_system_options options = {
			.size = sizeof(options), .drain_ms = -1, .loops = i % 2};
		struct actor_system *system;
		uv_timer_t keep;
		pthread_t thread;
		uv_loop_t loop;
		bool done = false;

		uv_loop_init(&loop);
		options.loop = &loop;
		assert_int_equal(actor_system_open(&system, &options), 0);
		spawn(system, 1);
		uv_timer_init(&loop, &keep);
		uv_timer_start(&keep, on_keep, 0, 1);
		pthread_create(&thread, NULL, close_elsewhere, system);
		for (uint64_t end = now_ns() + 10000000000u; now_ns() < end && !stopped;)
			uv_run(&loop, UV_RUN_ONCE);
		assert_int_equal(stopped, 1);
		stopped = 0;
		pthread_join(thread, NULL);
		uv_close((uv_handle_t *)&keep, NULL);
		uv_run(&loop, UV_RUN_DEFAULT);
		assert_int_equal(uv_loop_close(&loop), 0);
		(void)done;
	}
}

static _Atomic uint32_t closed_calls;

static void on_owned_closed(struct actor_system *system, void *data)
{
	atomic_fetch_add(&closed_calls, 1);
}

static void a_system_of_its_own_threads_closes_by_itself(void **state)
{
	closed_calls = 0;
	for (int i = 0; i < 50; i++) {
		struct actor_system_options options = {.size = sizeof(options), .loops = 3};
		struct actor_system *system;

		assert_int_equal(actor_system_open(&system, &options), 0);
		tell(system, spawn(system, 1 + i % 3), 10);
		assert_int_equal(actor_system_close(system, on_owned_closed, NULL), 0);
	}
	for (int i = 0; i < 10000 && closed_calls < 50; i++)
		sleep_ms(1);
	assert_int_equal(closed_calls, 50);
	assert_int_equal(handled, 500);
	sleep_ms(50); /* the last threads leave */
}

static void closing_twice_is_refused(void **state)
{
	struct lab lab;
	bool done = false;

	lab_open(&lab, NULL);
	assert_int_equal(actor_system_close(lab.system, on_closed, &done), 0);
	assert_int_equal(actor_system_close(lab.system, NULL, NULL), -EALREADY);
	assert_int_equal(actor_system_close_wait(lab.system), -EINVAL);
	assert_int_equal(
		actor_system_spawn(lab.system, &count_class, NULL, NULL), ACTOR_ECLOSED);
	lab_run(&lab);
	assert_true(done);
	lab.closed = true;
	lab_close(&lab);
}

static _Atomic int wait_rc;

static int waiting_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	wait_rc = actor_system_close_wait(actor_ctx_system(ctx));
	actor_stop_self(ctx);
	return 0;
}

static struct actor_class waiting_class = {
	.size = sizeof(waiting_class), .name = "waiting", .on_message = waiting_message};

static void waiting_on_a_thread_of_the_system_is_refused(void **state)
{
	struct lab lab;
	actor_ref ref;

	lab_open_owned(&lab, 2);
	actor_system_spawn(lab.system, &waiting_class, NULL, &ref);
	tell(lab.system, ref, 1);
	assert_true(lab_wait_terminated(&lab, 1));
	assert_int_equal(wait_rc, ACTOR_ETHREAD);
	lab_close(&lab);
}

static void no_drain(struct actor_system_options *options)
{
	options->drain_ms = -1;
}

static void case_15_closing_drains_what_is_queued_unless_told_not_to(void **state)
{
	struct lab lab;

	lab_open(&lab, NULL);
	tell(lab.system, spawn(lab.system, 0), 5000);
	lab_close(&lab);
	assert_int_equal(handled, 5000);
	assert_int_equal(lab.dead_letters, 0);

	handled = 0;
	lab_open_with(&lab, no_drain);
	tell(lab.system, spawn(lab.system, 0), 5000);
	lab_close(&lab);
	assert_true(handled < 5000);
	assert_int_equal(handled + lab.dead_letters, 5000);
}

static void short_drain(struct actor_system_options *options)
{
	options->drain_ms = 30;
}

static int endless_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	return actor_tell(ctx, actor_self(ctx), &plain_type, NULL, 0);
}

static struct actor_class endless_class = {
	.size = sizeof(endless_class), .name = "endless", .on_message = endless_message};

static void draining_ends_at_its_time_even_if_work_does_not(void **state)
{
	uint64_t began = now_ns();
	struct lab lab;
	actor_ref ref;

	lab_open_with(&lab, short_drain);
	actor_system_spawn(lab.system, &endless_class, NULL, &ref);
	tell(lab.system, ref, 1);
	lab_close(&lab);
	assert_true(now_ns() - began >= 30000000u);
	assert_true(now_ns() - began < 5000000000u);
	assert_true(lab.dead_letters >= 1);
}

/* ---- a caller that closes every handle of his loop ---- */

static void close_any(uv_handle_t *handle, void *data)
{
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

static void on_walk(uv_timer_t *timer)
{
	uv_walk(timer->loop, close_any, NULL);
}

enum walk { BEFORE_RUN, IN_TIMER, BETWEEN_RUNS };

static void a_system_goes_on_after_its_handles_were_closed(void **state)
{
	for (enum walk when = BEFORE_RUN; when <= BETWEEN_RUNS; when++) {
		uv_timer_t timer;
		struct lab lab;
		actor_ref ref;

		handled = 0;
		lab_open(&lab, NULL);
		ref = spawn(lab.system, 0);
		if (when == BETWEEN_RUNS)
			lab_run(&lab);
		tell(lab.system, ref, 10);
		if (when == IN_TIMER) {
			uv_timer_init(&lab.loop, &timer);
			uv_timer_start(&timer, on_walk, 0, 0);
		} else {
			uv_walk(&lab.loop, close_any, NULL);
		}
		lab_run(&lab);
		/* The next use brings all back, with what waited. */
		tell(lab.system, ref, 10);
		lab_run(&lab);
		assert_int_equal(handled, 20);
		assert_int_equal(lab_stats(&lab).delivered, 20);
		tell(lab.system, ref, 1000);
		uv_walk(&lab.loop, close_any, NULL);
		lab_close(&lab);
		assert_int_equal(handled, 1020);
	}
}

static int walking_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	uv_walk(actor_ctx_loop(ctx), close_any, NULL);
	return count_message(ctx, message);
}

static struct actor_class walking_class = {
	.size = sizeof(walking_class), .name = "walking", .on_message = walking_message};

static void a_handler_may_walk_over_its_loop(void **state)
{
	struct lab lab;
	actor_ref ref;

	lab_open(&lab, NULL);
	actor_system_spawn(lab.system, &walking_class, NULL, &ref);
	tell(lab.system, ref, 200);
	lab_close(&lab);
	assert_int_equal(handled, 200);
}

static void closing_survives_a_walk_and_goes_on_at_the_next_call(void **state)
{
	bool done = false;
	struct lab lab;

	lab_open(&lab, NULL);
	spawn(lab.system, 0);
	lab_run(&lab);
	assert_int_equal(actor_system_close(lab.system, on_closed, &done), 0);
	uv_walk(&lab.loop, close_any, NULL);
	for (int i = 0; i < 100 && !done; i++) {
		lab_run(&lab);
		if (!done)
			assert_int_equal(actor_system_close(lab.system, NULL, NULL), -EALREADY);
	}
	assert_true(done);
	lab.closed = true;
	lab_close(&lab);
}

/* ---- fork ---- */

static int child_checks(struct lab *lab, actor_ref ref)
{
	char path[64];
	size_t bytes = 0;

	return actor_system_tell(lab->system, ref, &plain_type, NULL, 0) == -ECHILD &&
	       actor_system_spawn(lab->system, &count_class, NULL, &ref) == -ECHILD &&
	       actor_system_stop(lab->system, ref) == -ECHILD &&
	       actor_system_close(lab->system, NULL, NULL) == -ECHILD &&
	       actor_system_close_wait(lab->system) == -ECHILD &&
	       actor_system_drain(lab->system) == -ECHILD &&
	       actor_path(lab->system, ref, path, sizeof(path)) == -ECHILD &&
	       actor_lookup(lab->system, "/user/a") == 0 &&
	       actor_system_log(lab->system, ACTOR_LOG_ERROR, "child") == -ECHILD &&
	       actor_system_log_remove(lab->system, 1) == -ECHILD &&
	       actor_system_ask(lab->system, ref, &plain_type, NULL, 0, 1, NULL, &bytes) == -ECHILD;
}

static void a_forked_child_is_told_so_by_every_call(void **state)
{
	struct lab lab;
	actor_ref ref;
	int status;
	pid_t pid;

	lab_open(&lab, NULL);
	ref = spawn(lab.system, 0);
	lab_run(&lab);
	pid = fork();
	if (pid == 0)
		_exit(child_checks(&lab, ref) ? 7 : 8);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	tell(lab.system, ref, 1);
	lab_close(&lab);
	assert_int_equal(handled, 1);
}

#define TEST(f) cmocka_unit_test_setup(f, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(wrong_options_are_refused),
		TEST(a_throughput_above_1000_is_taken_with_one_warning),
		TEST(every_error_has_a_sentence),
		TEST(systems_share_a_loop_and_a_process),
		TEST(a_ref_of_a_closed_system_reaches_nobody_later),
		TEST(a_thousand_systems_come_and_go),
		TEST(a_handler_may_close_its_own_system),
		TEST(another_thread_may_close_a_system_on_the_callers_loop),
		TEST(a_system_of_its_own_threads_closes_by_itself),
		TEST(closing_twice_is_refused),
		TEST(waiting_on_a_thread_of_the_system_is_refused),
		TEST(case_15_closing_drains_what_is_queued_unless_told_not_to),
		TEST(draining_ends_at_its_time_even_if_work_does_not),
		TEST(a_system_goes_on_after_its_handles_were_closed),
		TEST(a_handler_may_walk_over_its_loop),
		TEST(closing_survives_a_walk_and_goes_on_at_the_next_call),
		TEST(a_forked_child_is_told_so_by_every_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
