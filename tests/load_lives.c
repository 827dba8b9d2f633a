/* SPDX-License-Identifier: MIT */
/* A program on libactor that tests attach to, in which actors come and go, fail, and leave mail
 * behind; how many do what is fixed, see load.h.
 *
 * It says "ready", waits for "go", does everything, says "done" and ends with "end".
 */
#include "tests/load.h"

#include "runtime/actor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uv_loop_t loop;
static struct actor_system *system_;
static struct actor_type word_type = ACTOR_TYPE("word");
static struct actor_type fail_type = ACTOR_TYPE("fail");

static int on_word(struct actor_ctx *ctx, const struct actor_message *message)
{
	(void)ctx;
	return message->type == &fail_type ? -5 : 0;
}

static struct actor_class worker_class = {
	.size = sizeof(struct actor_class), .name = "worker", .on_message = on_word};
static struct actor_class patient_class = {
	.size = sizeof(struct actor_class), .name = "patient", .on_message = on_word};

static const struct actor_strategy restarts = {
	.size = sizeof(struct actor_strategy), .max_retries = -1};

static void must(int rc)
{
	if (rc < 0)
		abort();
}

static void run(void)
{
	uv_run(&loop, UV_RUN_DEFAULT);
}

static void workers_come_and_go(void)
{
	actor_ref refs[LOAD_CREATED];

	for (int i = 0; i < LOAD_CREATED; i++)
		must(actor_system_spawn(system_, &worker_class, NULL, &refs[i]));
	run();
	for (int i = 1; i < LOAD_TERMINATED; i++)
		must(actor_system_stop(system_, refs[i]));
	run();
	for (int i = 0; i < LOAD_LEFT; i++) /* the last of those that end has mail behind it */
		must(actor_system_tell(system_, refs[LOAD_TERMINATED], &word_type, NULL, 0));
	must(actor_system_terminate(system_, refs[LOAD_TERMINATED]));
	run();
	for (int i = 0; i < LOAD_DEAD_LETTERS; i++)
		must(actor_system_tell(system_, refs[1 + i % (LOAD_TERMINATED - 1)], &word_type, NULL, 0));
	run();
}

static void patients_fail(void)
{
	struct actor_spawn_options options = {.size = sizeof(options), .strategy = &restarts};
	actor_ref ref;

	must(actor_system_spawn(system_, &patient_class, &options, &ref));
	for (int i = 0; i < LOAD_RESTARTED; i++) {
		must(actor_system_tell(system_, ref, &fail_type, NULL, 0));
		run();
	}
}

static int unit_fails(struct actor_unit *unit)
{
	(void)unit;
	return -5;
}

static void units_fail(void)
{
	struct actor_dispatcher_spec spec;
	struct actor_dispatcher *dispatcher;
	struct actor_unit unit;

	must(actor_dispatcher_hybrid(&spec, 7, "fragile"));
	must(actor_system_dispatcher(system_, 1, &spec, &dispatcher));
	for (int i = 0; i < LOAD_DISPATCHER_ERRORS; i++) {
		actor_unit_init(&unit, unit_fails);
		must(actor_dispatcher_execute(dispatcher, &unit));
		run();
	}
}

static void quiet(void *data, enum actor_log_level level, const char *text)
{
	(void)data;
	(void)level;
	(void)text;
}

static void wait_for(const char *what)
{
	char line[64];

	do
		if (!fgets(line, sizeof(line), stdin))
			exit(0);
	while (strncmp(line, what, strlen(what)) != 0);
}

int main(void)
{
	struct actor_system_options options = {
		.size = sizeof(options), .name = "lives", .loop = &loop, .log = quiet};

	uv_loop_init(&loop);
	must(actor_system_open(&system_, &options));
	puts("ready");
	fflush(stdout);
	wait_for("go");
	workers_come_and_go();
	patients_fail();
	units_fail();
	usleep(30000); /* what is known is handed over when the loop runs again after a while */
	uv_run(&loop, UV_RUN_NOWAIT);
	uv_run(&loop, UV_RUN_NOWAIT);
	puts("done");
	fflush(stdout);
	wait_for("end");
	return 0;
}
