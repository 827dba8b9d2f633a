/* SPDX-License-Identifier: MIT */
/* Each public function answers calls that cannot be meant; none is left out. */
#define _GNU_SOURCE
#include "tests/misused.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int nothing(struct actor_ctx *ctx, const struct actor_message *m)
{
	return 0;
}

static struct actor_class idle_class = {
	.size = sizeof(idle_class), .name = "idle", .on_message = nothing};

static int walked(const struct actor_info *info, void *data)
{
	return 0;
}

static void walks_done(struct actor_system *system, int status, void *data)
{
}

static int no_task(struct actor_system *system, int task, void *data)
{
	return 0;
}

static int healthy(void *data, char *detail, size_t bytes)
{
	return 1;
}

static void answered(void *data, int status, const struct actor_message *reply)
{
}

static void work(void *payload, size_t bytes)
{
}

static int pending_work(void *data)
{
	return 0;
}

static void systems_null(void)
{
	const struct actor_token token = {1, 1};

	ROW(actor_system_open, "NULL", (NULL, &lab.options), -EINVAL);
	ROW(actor_system_open, "no options", (&lab.system, NULL), ACTOR_EOPTIONS);
	ROW(actor_system_advance, "NULL", (NULL, 1), -EINVAL);
	ROW(actor_system_close, "NULL", (NULL, NULL, NULL), -EINVAL);
	ROW(actor_system_close_wait, "NULL", (NULL), -EINVAL);
	ROW(actor_system_shutdown, "NULL", (NULL, NULL, NULL), -EINVAL);
	ROW(actor_system_shutdown_wait, "NULL", (NULL), -EINVAL);
	ROW(actor_shutdown_add, "NULL", (NULL, ACTOR_UNBIND, "t", no_task, NULL), -EINVAL);
	ROW(actor_shutdown_remove, "NULL", (NULL, 1), -EINVAL);
	ROW(actor_shutdown_done, "NULL", (NULL, 1, 0), -EINVAL);
	ROW(actor_shutdown_timeout, "NULL", (NULL, ACTOR_UNBIND, 5), -EINVAL);
	ROW(actor_health_add, "NULL", (NULL, ACTOR_LIVENESS, "c", healthy, NULL), -EINVAL);
	ROW(actor_health_remove, "NULL", (NULL, ACTOR_LIVENESS, "c"), -EINVAL);
	ROW(actor_health, "NULL", (NULL, ACTOR_LIVENESS, NULL, NULL), -EINVAL);
	ROW(actor_system_walk, "NULL", (NULL, walked, walks_done, NULL), -EINVAL);
	ROW(actor_system_walk, "no callback", (lab.system, NULL, walks_done, NULL), -EINVAL);
	ROW(actor_system_walk, "nobody to tell", (lab.system, walked, NULL, NULL), -EINVAL);
	ROW(actor_system_walk_wait, "NULL", (NULL, walked, NULL), -EINVAL);
	ROW(actor_system_walk_wait, "no callback", (lab.system, NULL, NULL), -EINVAL);
	ROW(actor_system_walk_here, "NULL", (NULL, walked, NULL), -EINVAL);
	ROW(actor_system_walk_here, "no callback", (lab.system, NULL, NULL), -EINVAL);
	ROW(actor_stage_name, "no stage", ((enum actor_stage)0), 0);
	ROW(actor_system_drain, "NULL", (NULL), -EINVAL);
	ROW(actor_system_loops, "NULL", (NULL), -EINVAL);
	ROW(actor_system_stats, "NULL", (NULL, NULL), -EINVAL);
	ROW(actor_system_stats, "no place", (lab.system, NULL), -EINVAL);
	ROW(actor_system_on_dead_letter, "NULL", (NULL, NULL, NULL), -EINVAL);
	ROW(actor_system_log_level, "NULL", (NULL, ACTOR_LOG_INFO), -EINVAL);
	ROW(actor_system_log_add, "NULL", (NULL, NULL), -EINVAL);
	ROW(actor_system_log_add, "no sink", (lab.system, NULL), ACTOR_EOPTIONS);
	ROW(actor_system_log_remove, "NULL", (NULL, 1), -EINVAL);
	ROW(actor_system_log, "NULL", (NULL, ACTOR_LOG_INFO, "x"), -EINVAL);
	ROW(actor_system_subscribe, "NULL", (NULL, 1, &word_type, NULL), -EINVAL);
	ROW(actor_system_unsubscribe, "NULL", (NULL, 1, NULL), -EINVAL);
	ROW(actor_system_publish, "NULL", (NULL, &word_type, NULL, 0), -EINVAL);
	ROW(actor_system_spawn, "NULL", (NULL, &idle_class, NULL, NULL), -EINVAL);
	ROW(actor_system_stop_async, "NULL", (NULL, 1, 0, NULL, NULL), -EINVAL);
	ROW(actor_system_stop_wait, "NULL", (NULL, 1, 0), -EINVAL);
	ROW(actor_system_stop, "NULL", (NULL, 1), -EINVAL);
	ROW(actor_system_kill, "NULL", (NULL, 1), -EINVAL);
	ROW(actor_system_terminate, "NULL", (NULL, 1), -EINVAL);
	ROW(actor_system_suspend, "NULL", (NULL, 1), -EINVAL);
	ROW(actor_system_resume, "NULL", (NULL, 1), -EINVAL);
	ROW(actor_system_tell, "NULL", (NULL, 1, &word_type, NULL, 0), -EINVAL);
	ROW(actor_system_ask, "NULL", (NULL, 1, &word_type, NULL, 0, 1, NULL, NULL), -EINVAL);
	ROW(actor_system_ask_async, "NULL", (NULL, 1, &word_type, NULL, 0, 1, answered, NULL),
		-EINVAL);
	ROW(actor_system_schedule, "NULL", (NULL, 1, 0, &word_type, NULL, 0), -EINVAL);
	ROW(actor_complete, "NULL", (NULL, token, 0, NULL, NULL), -EINVAL);
	ROW(actor_path, "NULL", (NULL, 1, NULL, 0), -EINVAL);
	ROW(actor_lookup, "NULL", (NULL, "/user/x"), 0);
	ROW(actor_lookup, "no path", (lab.system, NULL), 0);
	ROW(actor_system_dispatcher, "NULL", (NULL, 1, NULL, NULL), -EINVAL);
	ROW(actor_system_dispatcher, "no place", (lab.system, 1, NULL, NULL), -EINVAL);
}

static int unit_run(struct actor_unit *unit)
{
	return 0;
}

static void dispatchers_null(void)
{
	struct actor_unit unit, empty;
	struct actor_dispatcher *d;
	struct actor_dispatcher_spec spec;

	assert_int_equal(actor_system_dispatcher(lab.system, 1, NULL, &d), 0);
	ROW(actor_dispatcher_hybrid, "NULL", (NULL, 1, NULL), -EINVAL);
	ROW(actor_dispatcher_throughput, "NULL", (NULL, 1, NULL), -EINVAL);
	ROW(actor_dispatcher_throughput, "budget", (&spec, 0, NULL), ACTOR_EBUDGET);
	ROW(actor_dispatcher_microtask, "NULL", (NULL, NULL), -EINVAL);
	ROW(actor_dispatcher_immediate, "NULL", (NULL, NULL), -EINVAL);
	ROW(actor_dispatcher_immediate, "name", (&spec, "/"), ACTOR_ENAME);
	ROW(actor_dispatcher_custom, "no ops", (&spec, NULL, NULL, NULL), ACTOR_EOPTIONS);
	ROW(actor_dispatcher_delegate, "NULL", (NULL, &spec, &d), -EINVAL);
	ROW(actor_dispatcher_system, "NULL", (NULL), 0);
	ROW(actor_dispatcher_id, "NULL", (NULL), 0);
	ROW(actor_dispatcher_loop, "NULL", (NULL), 0);
	QUIET(actor_unit_init, "NULL", (NULL, unit_run));
	actor_unit_init(&unit, unit_run);
	actor_unit_init(&empty, NULL);
	ROW(actor_dispatcher_execute, "NULL", (NULL, &unit), -EINVAL);
	ROW(actor_dispatcher_execute, "no unit", (d, NULL), -EINVAL);
	ROW(actor_dispatcher_execute, "no function", (d, &empty), -EINVAL);
	QUIET(actor_unit_run, "NULL", (NULL));
	QUIET(actor_unit_run, "of no dispatcher", (&unit));
	ROW(actor_unit_wrap, "NULL", (NULL, unit_run, NULL), -EINVAL);
	ROW(actor_unit_wrap, "no function", (&unit, NULL, NULL), -EINVAL);
	ROW(actor_unit_unwrap, "NULL", (NULL), 0);
	ROW(actor_unit_unwrap, "not wrapped", (&unit), 0);
	ROW(actor_unit_inner, "NULL", (NULL), -EINVAL);
	ROW(actor_unit_inner, "no function", (&empty), -EINVAL);
	assert_int_equal(actor_dispatcher_execute(d, &unit), 0);
	ROW(actor_dispatcher_execute, "twice", (d, &unit), -EALREADY);
	lab_run(&lab);
}

static void texts_and_mail_null(void)
{
	ROW(actor_strerror, "no code", (123456), (intptr_t)actor_strerror(123456));
	assert_non_null(actor_strerror(123456));
	ROW(actor_version, "any", (), (intptr_t)actor_version());
	ROW(actor_shutdown_phase_name, "no phase", ((enum actor_shutdown_phase)99), 0);
	ROW(actor_mail_type, "NULL", (NULL), 0);
	ROW(actor_mail_payload, "NULL", (NULL), 0);
	ROW(actor_mail_bytes, "NULL", (NULL), 0);
	ROW(actor_mail_sender, "NULL", (NULL), 0);
	ROW(actor_mail_links, "NULL", (NULL), 0);
	ROW(actor_mail_kept, "NULL", (NULL), -EINVAL);
	ROW(actor_mail_drop, "NULL", (NULL), -EINVAL);
	QUIET(actor_log_to_text, "NULL", (NULL, 1));
	QUIET(actor_log_to_json, "NULL", (NULL, 1));
}

/* All that take a context and look at it in every build. */
static void contexts(struct actor_ctx *ctx, const char *what, int code)
{
	const struct actor_throttle_options throttle = {.size = sizeof(throttle), .messages = 1};
	struct actor_token token;

	ROW(actor_subscribe, what, (ctx, &word_type, NULL), code);
	ROW(actor_unsubscribe, what, (ctx, NULL), code);
	ROW(actor_publish, what, (ctx, &word_type, NULL, 0), code);
	ROW(actor_spawn, what, (ctx, &idle_class, NULL, NULL), code);
	ROW(actor_stop, what, (ctx, 1), code);
	ROW(actor_kill, what, (ctx, 1), code);
	ROW(actor_suspend, what, (ctx, 1), code);
	ROW(actor_resume, what, (ctx, 1), code);
	ROW(actor_terminate, what, (ctx, 1), code);
	QUIET(actor_stop_self, what, (ctx));
	ROW(actor_stash, what, (ctx), code);
	ROW(actor_unstash_all, what, (ctx), code);
	ROW(actor_pending, what, (ctx, &token), code);
	ROW(actor_work, what, (ctx, 1, &word_type, NULL, 0, work), code);
	ROW(actor_pending_work, what, (ctx, pending_work, NULL, NULL), code);
	ROW(actor_become, what, (ctx, nothing), code);
	ROW(actor_become_over, what, (ctx, nothing), code);
	ROW(actor_unbecome, what, (ctx), code);
	ROW(actor_ask_id, what, (ctx), 0);
	ROW(actor_ask_cancel, what, (ctx, 1), code);
	ROW(actor_timer_single, what, (ctx, 1, 1, &word_type, NULL, 0), code);
	ROW(actor_timer_fixed_rate, what, (ctx, 1, 1, 1, &word_type, NULL, 0), code);
	ROW(actor_timer_fixed_delay, what, (ctx, 1, 1, 1, &word_type, NULL, 0), code);
	ROW(actor_timer_cancel, what, (ctx, 1), code);
	ROW(actor_timer_active, what, (ctx, 1), code);
	ROW(actor_timer_missed, what, (ctx), 0);
	ROW(actor_receive_timeout, what, (ctx, 1), code);
	ROW(actor_watch, what, (ctx, 1), code);
	ROW(actor_watch_with, what, (ctx, 1, &word_type, NULL, 0), code);
	ROW(actor_unwatch, what, (ctx, 1), code);
	ROW(actor_log_context_set, what, (ctx, "key", "value"), code);
	ROW(actor_log_context_clear, what, (ctx), code);
	ROW(actor_log_context_get, what, (ctx, "key") != NULL, 0);
	ROW(actor_stop_within, what, (ctx, 1, 0, NULL, NULL), code);
	ROW(actor_throttle, what, (ctx, &throttle), code);
}

static void contexts_null(void)
{
	contexts(NULL, "NULL", -EINVAL);
	ROW(actor_log, "NULL", (NULL, ACTOR_LOG_INFO, "x"), -EINVAL);
	ROW(actor_fail, "NULL", (NULL, -1, "x"), -EINVAL);
	ROW(actor_take, "NULL", (NULL), 0);
}

/* ---- contexts that are kept ---- */

static struct actor_ctx *kept;

static int keep(struct actor_ctx *ctx, const struct actor_message *m)
{
	kept = ctx;
	return 0;
}

static struct actor_class keep_class = {
	.size = sizeof(keep_class), .name = "keep", .on_message = keep};

static actor_ref spawn(struct actor_class *cls)
{
	actor_ref ref;

	assert_int_equal(actor_system_spawn(lab.system, cls, NULL, &ref), 0);
	return ref;
}

static void keep_context(void)
{
	assert_int_equal(
		actor_system_tell(lab.system, spawn(&keep_class), &word_type, NULL, 0), 0);
	lab_run(&lab);
	assert_non_null(kept);
}

static void *other_thread(void *data)
{
	contexts(kept, "on another thread", ACTOR_ETHREAD);
	return NULL;
}

/* Those that look at it in debug builds only. */
static int64_t call_hot(int which, struct actor_ctx *ctx)
{
	switch (which) {
	case 0: return actor_tell(ctx, 1, &word_type, NULL, 0);
	case 1: return actor_reply(ctx, &word_type, NULL, 0);
	case 2: return actor_ask(ctx, 1, &word_type, NULL, 0, 0, NULL, NULL);
	case 3: return (int64_t)actor_self(ctx);
	case 4: return (int64_t)(intptr_t)actor_state(ctx);
	case 5: return (int64_t)actor_sender(ctx);
	case 6: return (int64_t)actor_parent(ctx);
	case 7: return (int64_t)(intptr_t)actor_ctx_system(ctx);
	default: return (int64_t)(intptr_t)actor_ctx_loop(ctx);
	}
}

static const char *const hot[] = {"actor_tell", "actor_reply", "actor_ask", "actor_self",
	"actor_state", "actor_sender", "actor_parent", "actor_ctx_system", "actor_ctx_loop"};

/* The child ends by a signal, or by a sanitizer's report, having said something. */
static bool child_dies(void (*act)(void *), void *data, char *said, size_t bytes)
{
	static const int deadly[] = {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE};
	int out[2], status;
	size_t used = 0;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(out), 0);
	pid = fork();
	if (!pid) {
		/* cmocka would take them for a failed test, and go on. */
		for (size_t i = 0; i < COUNT(deadly); i++)
			signal(deadly[i], SIG_DFL);
		dup2(out[1], STDERR_FILENO);
		close(out[0]);
		act(data);
		_exit(0);
	}
	close(out[1]);
	while (used + 1 < bytes && (n = read(out[0], said + used, bytes - 1 - used)) > 0)
		used += (size_t)n;
	said[used] = '\0';
	close(out[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return !WIFEXITED(status) || WEXITSTATUS(status);
}

struct hot_call {
	int which;
	struct actor_ctx *ctx;
};

static void hot_act(void *data)
{
	const struct hot_call *call = data;

	call_hot(call->which, call->ctx);
}

/* ---- the tests ---- */

static void begin(void)
{
	wrong = 0;
	lab_open(&lab, NULL);
}

static void end(void)
{
	lab_close(&lab);
	assert_int_equal(wrong, 0);
}

static void null_is_an_answer(void **state)
{
	begin();
	systems_null();
	dispatchers_null();
	texts_and_mail_null();
	contexts_null();
	end();
}

static void a_context_is_of_no_use_after_its_handler(void **state)
{
	begin();
	keep_context();
	lab.logged = 0;
	contexts(kept, "after the handler", -EINVAL);
	/* Each but those that return nothing of an error says so; the log has had a sentence of each. */
	assert_int_equal(lab.logged, 35);
	assert_non_null(strstr(lab.last_log, "actor_throttle: called when no handler runs"));
	end();
}

static void a_context_is_of_no_use_on_another_thread(void **state)
{
	pthread_t thread;

	begin();
	keep_context();
	pthread_create(&thread, NULL, other_thread, NULL);
	pthread_join(thread, NULL);
	assert_non_null(strstr(lab.last_log, "called on another thread"));
	end();
}

static void on_the_message_path_debug_builds_end_the_process(void **state)
{
	char said[4096];

	begin();
	keep_context();
	for (int i = 0; i < (int)COUNT(hot); i++) {
		struct hot_call call = {i, NULL};

		/* NULL is never taken for an actor, in whatever build. */
		row(hot[i], "NULL", child_dies(hot_act, &call, said, sizeof(said)), 1);
		if (!DEBUG_BUILD)
			continue;
		assert_non_null(strstr(said, "called without a context"));
		call.ctx = kept;
		assert_true(child_dies(hot_act, &call, said, sizeof(said)));
		assert_non_null(strstr(said, hot[i]));
		assert_non_null(strstr(said, "called outside the turn of its context"));
	}
	end();
}

static void dead_references_are_quiet(void **state)
{
	char text[64];
	actor_ref dead;

	begin();
	dead = spawn(&idle_class);
	assert_int_equal(actor_system_stop(lab.system, dead), 0);
	lab_run(&lab);
	ROW(actor_system_tell, "dead", (lab.system, dead, &word_type, NULL, 0), 0);
	ROW(actor_system_schedule, "dead", (lab.system, dead, 0, &word_type, NULL, 0), 0);
	ROW(actor_system_stop, "dead, again", (lab.system, dead), 0);
	ROW(actor_system_kill, "dead", (lab.system, dead), 0);
	ROW(actor_system_terminate, "dead", (lab.system, dead), 0);
	ROW(actor_system_suspend, "dead", (lab.system, dead), 0);
	ROW(actor_system_resume, "dead", (lab.system, dead), 0);
	ROW(actor_system_subscribe, "dead", (lab.system, dead, &word_type, NULL), -ENOENT);
	ROW(actor_system_unsubscribe, "dead", (lab.system, dead, NULL), 0);
	ROW(actor_path, "dead", (lab.system, dead, text, sizeof(text)), -ENOENT);
	ROW(actor_complete, "dead", (lab.system, ((struct actor_token){dead, 1}), 0, NULL, NULL),
		-ESTALE);
	ROW(actor_system_tell, "none", (lab.system, ACTOR_NONE, &word_type, NULL, 0), -EINVAL);
	ROW(actor_system_stop, "none", (lab.system, ACTOR_NONE), -EINVAL);
	ROW(actor_system_schedule, "none", (lab.system, 0, 0, &word_type, NULL, 0), -EINVAL);
	end();
}

static void a_wrong_size_is_refused(void **state)
{
	struct actor_system_options system = {.size = 8};
	struct actor_spawn_options spawn_options = {.size = 4};
	struct actor_class cls = idle_class;
	struct actor_type type = word_type;
	struct actor_log_sink sink = {.size = 1};
	struct actor_subscription subscription = {.size = 1};
	struct actor_stats stats = {.size = 8};
	struct actor_dispatcher_ops ops = {.size = 8};
	struct actor_dispatcher_spec spec;
	struct actor_system *none;
	actor_ref ref = 0;

	begin();
	cls.size = 8;
	cls.id = 0;
	type.size = 1;
	type.mark = 0;
	ROW(actor_system_open, "size", (&none, &system), ACTOR_EOPTIONS);
	ROW(actor_system_spawn, "size", (lab.system, &idle_class, &spawn_options, &ref),
		ACTOR_EOPTIONS);
	ROW(actor_system_spawn, "class size", (lab.system, &cls, NULL, &ref), ACTOR_ECLASS);
	ROW(actor_system_spawn, "no class", (lab.system, NULL, NULL, &ref), ACTOR_ECLASS);
	ref = spawn(&idle_class);
	ROW(actor_system_tell, "type size", (lab.system, ref, &type, NULL, 0), ACTOR_ETYPE);
	ROW(actor_system_tell, "no type", (lab.system, ref, NULL, NULL, 0), ACTOR_ETYPE);
	ROW(actor_system_tell, "no payload", (lab.system, ref, &word_type, NULL, 8), ACTOR_ETYPE);
	ROW(actor_system_log_add, "size", (lab.system, &sink), ACTOR_EOPTIONS);
	ROW(actor_system_subscribe, "size", (lab.system, ref, &word_type, &subscription),
		ACTOR_EOPTIONS);
	ROW(actor_system_stats, "size", (lab.system, &stats), ACTOR_EOPTIONS);
	ROW(actor_dispatcher_custom, "size", (&spec, &ops, NULL, NULL), ACTOR_EOPTIONS);
	end();
}

/* ---- closing ---- */

static int refused_codes[5];

/* Closing stops the actors while the system is there: what comes then is refused. */
static void late(struct actor_ctx *ctx)
{
	refused_codes[0] = actor_system_spawn(lab.system, &idle_class, NULL, NULL);
	refused_codes[1] = actor_system_close(lab.system, NULL, NULL);
	refused_codes[2] = actor_system_shutdown(lab.system, NULL, NULL);
	refused_codes[3] = actor_spawn(ctx, &idle_class, NULL, NULL);
	refused_codes[4] = actor_timer_single(ctx, 1, 1, &word_type, NULL, 0);
}

static struct actor_class late_class = {
	.size = sizeof(late_class), .name = "late", .on_message = nothing, .on_stop = late};

static void calls_while_closing_are_refused(void **state)
{
	static const int wanted[] = {
		ACTOR_ECLOSED, -EALREADY, -EALREADY, ACTOR_ECLOSED, ACTOR_ECLOSED};

	begin();
	spawn(&late_class);
	lab_run(&lab);
	assert_int_equal(actor_shutdown_remove(lab.system, 1), -ENOENT);
	end();
	assert_memory_equal(refused_codes, wanted, sizeof(wanted));
}

/* ---- a handler that frees its message ---- */

static void block_destroy(void *payload, size_t bytes)
{
	free(payload);
}

static struct actor_type block_type = {sizeof(block_type), "block", block_destroy, NULL, 0};

static int freeing(struct actor_ctx *ctx, const struct actor_message *m)
{
	free(m->payload); /* actor_take() would have made it the handler's */
	return 0;
}

static struct actor_class freeing_class = {
	.size = sizeof(freeing_class), .name = "freeing", .on_message = freeing};

__attribute__((unused)) static void free_act(void *data)
{
	uv_loop_t loop;
	struct actor_system_options options = {.size = sizeof(options), .loop = &loop, .config = ""};
	struct actor_system *system;
	actor_ref ref;

	/* A system of the child's own. */
	if (uv_loop_init(&loop) || actor_system_open(&system, &options) ||
		actor_system_spawn(system, &freeing_class, NULL, &ref) ||
		actor_system_tell(system, ref, &block_type, calloc(1, 64), 64))
		_exit(0);
	uv_run(&loop, UV_RUN_DEFAULT);
}

__attribute__((unused)) static void a_handler_that_frees_its_message_ends_the_process(void **state)
{
	char said[16384];

	assert_true(child_dies(free_act, NULL, said, sizeof(said)));
	assert_non_null(strstr(said, "free"));
}

/* ---- nothing is left out ---- */

static bool has_row(const char *name)
{
	for (uint32_t i = 0; i < row_count; i++)
		if (strcmp(rows[i], name) == 0)
			return true;
	return false;
}

/* Each "ACTOR_EXPORT ... actor_name(" of the header. */
static void every_function_of_the_header_has_a_row(void **state)
{
	static char header[262144];
	FILE *file = fopen("runtime/actor.h", "r");
	uint32_t functions = 0, absent = 0;
	size_t bytes;

	assert_non_null(file);
	bytes = fread(header, 1, sizeof(header) - 1, file);
	fclose(file);
	assert_true(bytes < sizeof(header) - 1);
	header[bytes] = '\0';
	for (char *at = header; (at = strstr(at, "\nACTOR_EXPORT ")); ) {
		char name[64];
		char *open;

		at += strlen("\nACTOR_EXPORT ");
		if (strncmp(at, "extern ", 7) == 0)
			continue;
		open = strchr(at, '(');
		bytes = 0;
		while (bytes < sizeof(name) - 1 && strchr("abcdefghijklmnopqrstuvwxyz_", open[-1 - (int)bytes]))
			bytes++;
		memcpy(name, open - bytes, bytes);
		name[bytes] = '\0';
		functions++;
		if (has_row(name))
			continue;
		print_message("# %s has no row\n", name);
		absent++;
	}
	assert_true(functions > 100);
	assert_int_equal(absent, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(null_is_an_answer),
		cmocka_unit_test(a_context_is_of_no_use_after_its_handler),
		cmocka_unit_test(a_context_is_of_no_use_on_another_thread),
		cmocka_unit_test(on_the_message_path_debug_builds_end_the_process),
		cmocka_unit_test(dead_references_are_quiet),
		cmocka_unit_test(a_wrong_size_is_refused),
		cmocka_unit_test(calls_while_closing_are_refused),
#ifndef ACTOR__TSAN /* whose heap lets a second free() pass */
		cmocka_unit_test(a_handler_that_frees_its_message_ends_the_process),
#endif
		cmocka_unit_test(every_function_of_the_header_has_a_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
