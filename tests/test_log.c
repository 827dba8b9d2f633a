/* SPDX-License-Identifier: MIT */
/* The log: levels, sinks that come and go, sinks that fail, lines from many threads. */
#include "tests/lab.h"

#include <stdio.h>

struct seen {
	uint32_t lines; /* not atomic: a system calls its sinks one at a time */
	uint32_t levels[ACTOR_LOG_OFF];
	uint32_t closed;
	int result; /* of write */
	char text[1100];
	char path[64];
	actor_ref actor;
	struct actor_system *system; /* to be used inside the sink */
	int inner[3];
};

static int on_line(void *data, const struct actor_log_record *record)
{
	struct seen *seen = data;

	seen->lines++;
	seen->levels[record->level]++;
	seen->actor = record->actor;
	snprintf(seen->text, sizeof(seen->text), "%s", record->text);
	snprintf(seen->path, sizeof(seen->path), "%s", record->path);
	assert_true(record->time_ns > 1500000000ull * 1000000000u);
	assert_string_equal(record->system, "actor");
	assert_int_equal(record->field_count, 0);
	return seen->result;
}

static void on_close(void *data)
{
	((struct seen *)data)->closed++;
}

static struct actor_log_sink sink_of(struct seen *seen, enum actor_log_level level)
{
	return (struct actor_log_sink){
		sizeof(struct actor_log_sink), level, on_line, on_close, seen};
}

static int sink_add(struct lab *lab, struct seen *seen, enum actor_log_level level)
{
	struct actor_log_sink sink = sink_of(seen, level);
	int id = actor_system_log_add(lab->system, &sink);

	assert_true(id > 0);
	return id;
}

/* ---- levels ---- */

static void a_level_lets_pass_what_is_at_least_as_high(void **state)
{
	static const struct {
		enum actor_log_level system, sink;
		uint32_t lines[ACTOR_LOG_OFF];
	} rows[] = {
		{ACTOR_LOG_DEBUG, 0, {0, 1, 1, 1, 1}},
		{ACTOR_LOG_INFO, 0, {0, 0, 1, 1, 1}},
		{ACTOR_LOG_WARN, ACTOR_LOG_DEBUG, {0, 0, 0, 1, 1}},
		{ACTOR_LOG_ERROR, 0, {0, 0, 0, 0, 1}},
		{ACTOR_LOG_OFF, 0, {0}},
		{ACTOR_LOG_DEBUG, ACTOR_LOG_WARN, {0, 0, 0, 1, 1}},
		{ACTOR_LOG_DEBUG, ACTOR_LOG_OFF, {0}},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct seen seen = {0};
		struct lab lab;

		lab_open(&lab, NULL);
		sink_add(&lab, &seen, rows[i].sink);
		assert_int_equal(
			actor_system_log_level(lab.system, rows[i].system), ACTOR_LOG_INFO);
		assert_int_equal(actor_system_log_level(lab.system, 0), rows[i].system);
		for (enum actor_log_level level = ACTOR_LOG_DEBUG; level < ACTOR_LOG_OFF; level++)
			assert_int_equal(actor_system_log(lab.system, level, "at %d", level), 0);
		for (enum actor_log_level level = ACTOR_LOG_DEBUG; level < ACTOR_LOG_OFF; level++)
			if (seen.levels[level] != rows[i].lines[level])
				fail_msg("row %zu, level %d: %u lines", i, level,
					seen.levels[level]);
		lab_close(&lab);
		assert_int_equal(seen.closed, 1);
	}
}

static void debug_from_the_beginning(struct actor_system_options *options)
{
	options->log_level = ACTOR_LOG_DEBUG;
}

static void what_is_no_level_or_no_sink_is_refused(void **state)
{
	struct actor_system_options options = {.size = sizeof(options)};
	struct actor_log_sink sink = {.size = sizeof(sink)};
	struct seen seen = {0};
	struct actor_system *system;
	struct lab lab;

	options.log_level = ACTOR_LOG_OFF + 1;
	assert_int_equal(actor_system_open(&system, &options), ACTOR_EOPTIONS);
	options.log_level = 0;
	options.log_sink = &sink; /* cannot write */
	assert_int_equal(actor_system_open(&system, &options), ACTOR_EOPTIONS);

	lab_open_with(&lab, debug_from_the_beginning);
	assert_int_equal(actor_system_log_level(lab.system, 0), ACTOR_LOG_DEBUG);
	assert_int_equal(actor_system_log_level(lab.system, ACTOR_LOG_OFF + 1), ACTOR_EOPTIONS);
	assert_int_equal(actor_system_log(lab.system, 0, "none"), -EINVAL);
	assert_int_equal(actor_system_log(lab.system, ACTOR_LOG_OFF, "none"), -EINVAL);
	assert_int_equal(actor_system_log_add(lab.system, NULL), ACTOR_EOPTIONS);
	assert_int_equal(actor_system_log_add(lab.system, &sink), ACTOR_EOPTIONS);
	sink = sink_of(&seen, 0);
	sink.size = 8;
	assert_int_equal(actor_system_log_add(lab.system, &sink), ACTOR_EOPTIONS);
	assert_int_equal(actor_system_log_remove(lab.system, 77), -ENOENT);
	assert_int_equal(lab.logged, 0);
	lab_close(&lab);
	assert_int_equal(seen.closed, 0);
}

/* ---- sinks ---- */

static void a_removed_sink_is_closed_and_gets_no_more(void **state)
{
	struct seen first = {0}, second = {0};
	struct lab lab;
	int id;

	lab_open(&lab, NULL);
	id = sink_add(&lab, &first, 0);
	assert_true(sink_add(&lab, &second, 0) != id);
	actor_system_log(lab.system, ACTOR_LOG_INFO, "one");
	assert_int_equal(actor_system_log_remove(lab.system, id), 0);
	assert_int_equal(first.closed, 1);
	assert_int_equal(actor_system_log_remove(lab.system, id), -ENOENT);
	actor_system_log(lab.system, ACTOR_LOG_INFO, "two");
	assert_int_equal(first.lines, 1);
	assert_int_equal(second.lines, 2);
	assert_int_equal(lab.logged, 2); /* by the callback of the options */
	assert_int_equal(second.closed, 0);
	lab_close(&lab);
	assert_int_equal(second.closed, 1);
	assert_int_equal(first.closed, 1);
}

static void stderr_gets_the_lines_only_without_any_sink(void **state)
{
	struct actor_system_options options = {.size = sizeof(options)};
	struct seen seen = {0};
	struct actor_log_sink sink = sink_of(&seen, 0);
	struct actor_system *system;
	char text[2048];
	int id;

	lab_stderr_catch();
	assert_int_equal(actor_system_open(&system, &options), 0);
	actor_system_log(system, ACTOR_LOG_DEBUG, "too low");
	actor_system_log(system, ACTOR_LOG_INFO, "first");
	id = actor_system_log_add(system, &sink);
	actor_system_log(system, ACTOR_LOG_WARN, "second");
	actor_system_log_remove(system, id);
	actor_system_log(system, ACTOR_LOG_WARN, "third");
	actor_system_close_wait(system);
	lab_stderr_release(text, sizeof(text));
	assert_int_equal(seen.lines, 1);
	assert_null(strstr(text, "too low"));
	assert_non_null(strstr(text, "Z info    actor: first\n"));
	assert_null(strstr(text, "second"));
	assert_non_null(strstr(text, "Z warning actor: third\n"));
}

static void a_failing_sink_sends_the_line_and_then_its_error_to_stderr(void **state)
{
	struct seen bad = {.result = -ENOSPC}, good = {0};
	char text[2048], *line, *failure;
	struct lab lab;

	lab_open(&lab, NULL);
	sink_add(&lab, &bad, 0);
	sink_add(&lab, &good, 0);
	lab_stderr_catch();
	assert_int_equal(actor_system_log(lab.system, ACTOR_LOG_WARN, "the cause"), -ENOSPC);
	lab_stderr_release(text, sizeof(text));
	line = strstr(text, "warning actor: the cause\n");
	failure = strstr(text, "a log sink failed too: ");
	assert_non_null(line);
	assert_non_null(failure);
	assert_true(line < failure);
	assert_non_null(strstr(failure, actor_strerror(-ENOSPC)));
	assert_int_equal(good.lines, 1);
	lab_close(&lab);
}

static int on_line_inside(void *data, const struct actor_log_record *record)
{
	struct seen *seen = data;
	struct actor_log_sink sink = sink_of(seen, 0);

	seen->lines++;
	seen->inner[0] = actor_system_log(seen->system, ACTOR_LOG_ERROR, "from inside");
	seen->inner[1] = actor_system_log_add(seen->system, &sink);
	seen->inner[2] = actor_system_log_remove(seen->system, 1);
	return 0;
}

static void a_sink_that_logs_does_not_hang(void **state)
{
	struct seen seen = {0};
	struct actor_log_sink sink = sink_of(&seen, 0);
	char text[2048];
	struct lab lab;

	lab_open(&lab, NULL);
	seen.system = lab.system;
	sink.write = on_line_inside;
	assert_true(actor_system_log_add(lab.system, &sink) > 0);
	lab_stderr_catch();
	assert_int_equal(actor_system_log(lab.system, ACTOR_LOG_WARN, "outside"), 0);
	lab_stderr_release(text, sizeof(text));
	assert_int_equal(seen.lines, 1);
	assert_non_null(strstr(text, "from inside"));
	assert_null(strstr(text, "outside"));
	for (size_t i = 0; i < COUNT(seen.inner); i++)
		assert_int_equal(seen.inner[i], -EDEADLK);
	lab_close(&lab);
}

static int on_line_forward(void *data, const struct actor_log_record *record)
{
	return actor_system_log(data, record->level, "forwarded: %s", record->text);
}

static void a_sink_may_log_to_another_system(void **state)
{
	struct actor_log_sink sink = {.size = sizeof(sink), .write = on_line_forward};
	struct lab from, to;

	lab_open(&from, NULL);
	lab_open(&to, NULL);
	sink.data = to.system;
	assert_true(actor_system_log_add(from.system, &sink) > 0);
	actor_system_log(from.system, ACTOR_LOG_WARN, "hello");
	assert_string_equal(to.last_log, "forwarded: hello");
	lab_close(&from);
	lab_close(&to);
}

static void a_text_that_is_too_long_is_cut(void **state)
{
	static const struct {
		int bytes;
		size_t left;
	} rows[] = {{1022, 1022}, {1023, 1023}, {1024, 1023}, {5000, 1023}};
	struct seen seen = {0};
	struct lab lab;

	lab_open(&lab, NULL);
	sink_add(&lab, &seen, 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		actor_system_log(lab.system, ACTOR_LOG_INFO, "%*s", rows[i].bytes, "x");
		assert_int_equal(strlen(seen.text), rows[i].left);
		assert_int_equal(strcmp(seen.text + 1020, "...") == 0, rows[i].bytes > 1023);
	}
	lab_close(&lab);
}

/* ---- actors ---- */

static int logging(struct actor_ctx *ctx, const struct actor_message *message)
{
	uint32_t count;

	memcpy(&count, message->payload, sizeof(count));
	while (count--)
		if (actor_log(ctx, ACTOR_LOG_INFO, "%u left", count))
			return actor_fail(ctx, -EIO, "not logged");
	return 0;
}

static struct actor_class logging_class = {
	.size = sizeof(logging_class), .name = "logging", .on_message = logging};

static void a_line_of_an_actor_has_its_path(void **state)
{
	struct actor_spawn_options options = {.size = sizeof(options), .name = "clerk"};
	struct seen seen = {0};
	uint32_t count = 3;
	actor_ref ref;
	struct lab lab;

	lab_open(&lab, NULL);
	sink_add(&lab, &seen, 0);
	assert_int_equal(actor_system_spawn(lab.system, &logging_class, &options, &ref), 0);
	assert_int_equal(actor_system_tell(lab.system, ref, &plain_type, &count, sizeof(count)), 0);
	lab_run(&lab);
	assert_int_equal(seen.lines, 3);
	assert_int_equal(seen.actor, ref);
	assert_string_equal(seen.path, "/user/clerk");
	assert_string_equal(seen.text, "0 left");
	actor_system_log(lab.system, ACTOR_LOG_INFO, "nobody");
	assert_int_equal(seen.actor, 0);
	assert_string_equal(seen.path, "");
	lab_close(&lab);
}

static void *change_levels(void *data)
{
	struct lab *lab = data;
	struct seen seen = {0};

	for (int i = 0; i < 500; i++) {
		int id = sink_add(lab, &seen, ACTOR_LOG_WARN);

		actor_system_log_level(lab->system, i % 2 ? ACTOR_LOG_INFO : ACTOR_LOG_DEBUG);
		actor_system_log(lab->system, ACTOR_LOG_INFO, "from outside");
		assert_int_equal(actor_system_log_remove(lab->system, id), 0);
	}
	assert_int_equal(seen.closed, 500);
	assert_int_equal(seen.lines, 0);
	return NULL;
}

static void lines_of_all_threads_come_one_at_a_time_and_none_is_lost(void **state)
{
	struct seen seen = {0};
	uint32_t count = 200;
	pthread_t outside;
	struct lab lab;

	lab_open_owned(&lab, 3);
	sink_add(&lab, &seen, 0);
	assert_int_equal(pthread_create(&outside, NULL, change_levels, &lab), 0);
	for (int i = 0; i < 12; i++) {
		actor_ref ref;

		assert_int_equal(actor_system_spawn(lab.system, &logging_class, NULL, &ref), 0);
		assert_int_equal(
			actor_system_tell(lab.system, ref, &plain_type, &count, sizeof(count)), 0);
		assert_int_equal(actor_system_stop(lab.system, ref), 0);
	}
	assert_true(lab_wait_terminated(&lab, 12));
	pthread_join(outside, NULL);
	lab_close(&lab);
	assert_int_equal(seen.lines, 12 * 200 + 500);
	assert_int_equal(lab.logged, 12 * 200 + 500);
	assert_int_equal(seen.closed, 1);
}

/* ---- memory ---- */

static void without_memory_a_sink_stays_the_callers(void **state)
{
	struct actor_system_options options = {.size = sizeof(options)};
	struct seen seen = {0};
	struct actor_log_sink sink = sink_of(&seen, 0);
	struct actor_system *system;
	int64_t n = 0;
	int rc;

	lab_heap_begin();
	options.log_sink = &sink;
	options.log = NULL;
	do {
		lab_heap_fail(++n, LAB_FAIL_ONCE, 0);
		rc = actor_system_open(&system, &options);
		assert_true(rc == 0 || rc == -ENOMEM);
		assert_int_equal(seen.closed, 0);
	} while (rc);
	assert_true(n > 3);
	lab_heap_fail(1, LAB_FAIL_ONCE, 0);
	assert_int_equal(actor_system_log_add(system, &sink), -ENOMEM);
	actor_system_log(system, ACTOR_LOG_INFO, "still there");
	assert_int_equal(seen.lines, 1);
	actor_system_close_wait(system);
	assert_int_equal(seen.closed, 1);
	lab_heap_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_level_lets_pass_what_is_at_least_as_high),
		cmocka_unit_test(what_is_no_level_or_no_sink_is_refused),
		cmocka_unit_test(a_removed_sink_is_closed_and_gets_no_more),
		cmocka_unit_test(stderr_gets_the_lines_only_without_any_sink),
		cmocka_unit_test(a_failing_sink_sends_the_line_and_then_its_error_to_stderr),
		cmocka_unit_test(a_sink_that_logs_does_not_hang),
		cmocka_unit_test(a_sink_may_log_to_another_system),
		cmocka_unit_test(a_text_that_is_too_long_is_cut),
		cmocka_unit_test(a_line_of_an_actor_has_its_path),
		cmocka_unit_test(lines_of_all_threads_come_one_at_a_time_and_none_is_lost),
		cmocka_unit_test(without_memory_a_sink_stays_the_callers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
