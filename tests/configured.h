/* SPDX-License-Identifier: MIT */
/* What tests of configuration files share: a folder with a file, a system that reads it, its log.
 */
#ifndef TESTS_CONFIGURED_H
#define TESTS_CONFIGURED_H

#include "tests/lab.h"

#include "runtime/core.h"

#include <stdio.h>
#include <unistd.h>

#define FILE_NAME "actor.conf"
#define LINES	  8

static char directory[] = "/tmp/test_config.XXXXXX";

/* What was logged, in order. */
static struct line {
	enum actor_log_level level;
	char text[1024];
} lines[LINES];
static uint32_t line_count;

static inline void on_log(void *data, enum actor_log_level level, const char *text)
{
	if (line_count < LINES) {
		lines[line_count].level = level;
		strncpy(lines[line_count].text, text, sizeof(lines[0].text) - 1);
	}
	line_count++;
}

static inline void file_write(const char *text, size_t bytes)
{
	FILE *file = fopen(FILE_NAME, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, bytes, file), bytes);
	assert_int_equal(fclose(file), 0);
}

static inline int setup_all(void **state)
{
	return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static inline int teardown_all(void **state)
{
	unlink(FILE_NAME);
	return chdir("/") || rmdir(directory);
}

static inline int setup(void **state)
{
	line_count = 0;
	memset(lines, 0, sizeof(lines));
	unsetenv("ACTOR_CONFIG");
	unlink(FILE_NAME);
	return 0;
}

/* ---- a system that a file configures ---- */

static uv_loop_t loop;
static struct actor_system *the_system;

static inline int open_with(struct actor_system_options *options)
{
	int rc;

	options->size = sizeof(*options);
	options->loop = &loop;
	options->log = on_log;
	assert_int_equal(uv_loop_init(&loop), 0);
	rc = actor_system_open(&the_system, options);
	if (rc) {
		uv_run(&loop, UV_RUN_DEFAULT);
		assert_int_equal(uv_loop_close(&loop), 0);
	}
	return rc;
}

static inline void close_it(void)
{
	assert_int_equal(actor_system_close(the_system, NULL, NULL), 0);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
}

static inline int open_text(const char *text)
{
	struct actor_system_options options = {.config = FILE_NAME};

	file_write(text, strlen(text));
	return open_with(&options);
}

/* What an actor finds itself to be. */
static uint32_t seen_throughput;
static char seen_dispatcher[ACTOR_NAME_BYTES + 1];

static inline int look_start(struct actor_ctx *ctx)
{
	seen_throughput = ctx->cell->throughput;
	strcpy(seen_dispatcher, ctx->cell->unit.dispatcher->spec.id);
	return 0;
}

static inline int look_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	return 0;
}

static struct actor_class look_class = {.size = sizeof(look_class),
	.name = "look",
	.on_start = look_start,
	.on_message = look_message};

static inline void look(
	struct actor_class *cls, int64_t throughput, const struct actor_dispatcher_spec *dispatcher)
{
	struct actor_spawn_options options = {
		.size = sizeof(options), .throughput = throughput, .dispatcher = dispatcher};

	seen_throughput = 0;
	assert_int_equal(actor_system_spawn(the_system, cls, &options, NULL), 0);
	for (int i = 0; i < 100 && !seen_throughput; i++)
		uv_run(&loop, UV_RUN_NOWAIT);
	assert_int_not_equal(seen_throughput, 0);
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

#endif
