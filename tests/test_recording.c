/* SPDX-License-Identifier: MIT */
/* Recordings: what is written comes back, what was cut or damaged is said to be, and a recorded
 * program's messages are all there. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/recording.h"
#include "probe/replay.h"
#include "tests/collected.h"
#include "tests/loaded.h"
#include "tests/program.h"

#define BATCHES 20
#define RECORDS 10

static struct program tool;
static char path[64];

static int setup(void **state)
{
	snprintf(path, sizeof(path), "/tmp/actorprobe-recording-%d", (int)getpid());
	return 0;
}

static int teardown(void **state)
{
	unlink(path);
	return 0;
}

/* ---- a file made by hand ---- */

static void write_names(struct recording *r)
{
	struct directory_name classes[] = {{NULL, 0}, {(char *)"worker", 0}};
	struct directory_name dispatchers[] = {{NULL, 0}, {(char *)"hybrid", ACTOR_ABI_HYBRID}};
	struct directory d = {
		.classes = {classes, 2}, .types = {NULL, 0}, .dispatchers = {dispatchers, 2}};
	struct pathbook_row rows[] = {
		{.actor = 1ull << 56 | 7ull << 32 | 1, .path = (char *)"/user/w"}};
	struct pathbook paths = {rows, 1};

	recording_names(r, &d);
	recording_names(r, &d); /* nothing is new */
	recording_paths(r, &paths);
	recording_paths(r, &paths);
}

/* Each batch: messages of 1 us that waited for 2, and their turn. */
static void write_batch(struct recording *r, uint64_t number)
{
	struct {
		struct ring_batch batch;
		struct actor_abi_record records[RECORDS];
	} b = {.batch = {.records = RECORDS,
		       .loop = 1,
		       .messages = RECORDS - 1,
		       .head = {.major = ACTOR_ABI_MAJOR,
			       .loop = 1,
			       .count = RECORDS,
			       .sequence = number,
			       .delivered = number * (RECORDS - 1),
			       .ticks = 1000000 + number * 50000,
			       .monotonic_ns = 1000000 + number * 50000}}};

	for (int i = 0; i < RECORDS - 1; i++)
		b.records[i] = (struct actor_abi_record){
			.meta = actor_abi_meta(ACTOR_ABI_MESSAGE, 0, 0, 1, 1),
			.who = (1ull << 24 | 7) << 32,
			.first = actor_abi_pack(2000, 1),
			.second = actor_abi_pack(1000, 1)};
	b.records[RECORDS - 1] =
		(struct actor_abi_record){.meta = actor_abi_meta(ACTOR_ABI_TURN, 0, 0, 1, 1),
			.who = (1ull << 24 | 7) << 32 | 1,
			.first = actor_abi_pack(3000, RECORDS - 1),
			.second = actor_abi_pack(9500, ACTOR_ABI_BUDGET)};
	recording_batch(r, &b.batch, sizeof(b));
}

static void write_file(bool with_end)
{
	const struct recording_head head = {.mult = 1u << 24,
		.shift = 24,
		.first_ticks = 1000,
		.first_ns = 1000,
		.attached_ns = 900000,
		.pid = 42,
		.command = "shop"};
	const struct recording_end end = {.elapsed_ns = 5000000, .delivered = 180};
	struct error error = {0};
	struct recording *r;

	assert_int_equal(recording_create(&r, path, 1u << 30, &error), 0);
	recording_head(r, &head);
	write_names(r);
	for (uint64_t i = 0; i < BATCHES; i++)
		write_batch(r, i);
	recording_flush(r);
	assert_int_equal(recording_finish(r, with_end ? &end : NULL, &error), 0);
}

static void expect_file(const struct replay_result *result)
{
	const struct aggregate *a = &result->aggregate;
	const uint64_t messages = BATCHES * (RECORDS - 1);
	bool waits = false;

	assert_int_equal(a->recorded, messages);
	assert_int_equal(a->delivered, messages);
	assert_int_equal(a->gaps, 0);
	assert_int_equal(a->pid, 42);
	assert_string_equal(a->command, "shop");
	for (size_t i = 0; i < a->series_count; i++) {
		const struct aggregate_series *s = &a->series[i];

		if (s->metric != AGGREGATE_WAIT)
			continue;
		waits = true;
		assert_string_equal(s->class_name, "worker");
		assert_string_equal(s->dispatcher, "hybrid");
		assert_string_equal(s->actor, "/user/w");
		assert_int_equal(s->histogram.count, messages);
		assert_int_equal(s->histogram.sum, messages * 2000);
	}
	assert_true(waits);
}

static void what_is_written_comes_back(void **state)
{
	for (int with_end = 0; with_end < 2; with_end++) {
		struct replay_options options = {.by_actor = true, .max_series = 100};
		struct replay_result result;
		struct error error = {0};
		struct stat is;

		write_file(with_end);
		assert_int_equal(stat(path, &is), 0);
		assert_int_equal(is.st_mode & 0777, 0600);
		assert_int_equal(replay(&result, path, &options, &error), 0);
		expect_file(&result);
		assert_int_equal(result.complete, with_end);
		assert_false(result.damaged);
		if (with_end) {
			assert_int_equal(result.aggregate.elapsed_ns, 5000000);
			assert_int_equal(result.end.batches, BATCHES);
		}
		aggregate_fini(&result.aggregate);
	}
}

/* Cut at every length, and with every byte changed in turn: an error, or at most what was there. */
static void a_cut_or_damaged_file_shows_no_more_than_it_has(void **state)
{
	const struct replay_options options = {.max_series = 100};
	static char bytes[65536], changed[65536];
	int fd, said = 0;
	ssize_t all;

	write_file(true);
	fd = open(path, O_RDWR);
	all = read(fd, bytes, sizeof(bytes));
	assert_true(all > 100 && all < (ssize_t)sizeof(bytes));
	for (ssize_t n = 0; n < 2 * all; n++) {
		ssize_t length = n < all ? n : all;
		struct replay_result result;
		struct error error = {0};

		memcpy(changed, bytes, (size_t)all);
		if (n >= all)
			changed[n - all] = (char)~changed[n - all];
		assert_int_equal(pwrite(fd, changed, (size_t)length, 0), length);
		assert_int_equal(ftruncate(fd, length), 0);
		if (replay(&result, path, &options, &error) == 0) {
			assert_true(result.aggregate.recorded <= BATCHES * (RECORDS - 1));
			assert_true(result.damaged || !result.complete || n >= all);
			said += result.damaged || !result.complete;
			aggregate_fini(&result.aggregate);
		} else {
			assert_int_equal(error.exit, EXIT_USAGE);
			said++;
		}
	}
	close(fd);
	assert_true(said >= 2 * all - 16); /* a few bytes of a frame's head say nothing */
}

/* ---- files that are no recordings ---- */

static void each_wrong_file_has_its_sentence(void **state)
{
	static const struct {
		const char *line;
		int exit;
		const char *sentence;
	} rows[] = {
		{"$A report", 1, "which recording?"},
		{"$A report /nowhere/to/be/found", 1, "cannot be opened"},
		{"$A report /etc/passwd", 1, "is no recording of actorprobe"},
		{"$A report /dev/null", 1, "is no recording of actorprobe"},
		{"$A report /tmp", 1, "is no recording of actorprobe"},
		{"$A report x y", 1, "give one recording"},
		{"$A record -p 1", 1, "give -o FILE"},
		{"$A record -o /tmp/x", 1, "which process?"},
		{"$A record -p 1 -o /nowhere/x", 1, "cannot be made"},
		{"$A record -p 1 -o /tmp/x --max-size 1", 1, "bad size '1'"},
		{"$A record -p 1 -o /tmp/x --max-size 5X", 1, "bad size '5X'"},
		{"$A record -p 1 -o /tmp/x --by class", 1, "use --by actor or nothing"},
		{"$A record -p 1 -o /tmp/x --mode trace", 1, "means nothing to 'record'"},
		{"$A hist -p 1 -o x", 1, "means nothing to 'hist'"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		program_run(&tool, "%s", rows[i].line);
		assert_int_equal(tool.exit, rows[i].exit);
		if (!strstr(tool.err, rows[i].sentence))
			fail_msg("%s says: %s", rows[i].line, tool.err);
	}
}

static void a_full_disk_is_said(void **state)
{
	struct loaded load;

	loaded_start(&load, "dispatcher=hybrid loops=1 messages=1000");
	program_run(&tool, "$A record -p %d -d 0.2 -o /dev/full", load.pid);
	assert_int_equal(tool.exit, 1);
	assert_non_null(strstr(tool.err, "cannot be written"));
	loaded_stop(&load);
}

/* ---- of a program ---- */

static void record(struct loaded *load, uint64_t messages, const char *options)
{
	loaded_start(load, "dispatcher=hybrid loops=3 messages=%lu", (unsigned long)messages);
	program_start(&tool, "$A record -v -p %d -o %s %s", load->pid, path, options);
	program_expect(&tool, tool.err, "attached to");
	loaded_say(load, "go");
	loaded_expect(load, "done");
	kill(tool.pid, SIGINT);
	program_wait(&tool);
	assert_int_equal(tool.exit, 0);
	assert_int_equal(loaded_handled(load), messages);
	loaded_stop(load);
}

static void a_program_s_messages_are_all_there(void **state)
{
	const uint64_t messages = 10007; /* the ring has room for all of them */
	struct loaded load;
	struct collected c;

	record(&load, messages, "");
	program_run(&tool, "$A report %s -j", path);
	assert_int_equal(tool.exit, 0);
	assert_string_equal(tool.err, "");
	c = collected_account(tool.out);
	assert_int_equal(c.delivered, messages);
	assert_int_equal(c.recorded, messages);
	assert_int_equal(
		collected_sum(tool.out, "\"actor_mailbox_wait_seconds\"", "count"), messages);
	assert_int_equal(collected_sum(tool.out, "\"actor_turn_messages\"", "sum"), messages);
	program_run(&tool, "$A report %s", path); /* the text has the same account */
	assert_int_equal(tool.exit, 0);
	assert_non_null(strstr(tool.out, "delivered 10007 = recorded 10007"));
}

/* As long as the actors live. */
static void paths_are_kept_for_later(void **state)
{
	struct loaded load;

	loaded_start(&load, "dispatcher=hybrid loops=1 messages=4000000000");
	program_start(&tool, "$A record -v -p %d -o %s --by actor --max-size 64M", load.pid, path);
	program_expect(&tool, tool.err, "attached to");
	loaded_say(&load, "go");
	while (loaded_handled(&load) < 1000)
		usleep(1000);
	kill(tool.pid, SIGINT);
	program_wait(&tool);
	loaded_stop(&load);
	assert_int_equal(tool.exit, 0);
	program_run(&tool, "$A report %s -j --by actor", path);
	assert_int_equal(tool.exit, 0);
	assert_non_null(strstr(tool.out, "\"/user/"));
}

/* Turns of a loop do not overlap; messages lie within their turns. */
static uint64_t slices_check(json_t *events)
{
	double turn_end[ACTOR_ABI_LOOPS] = {0}, last[ACTOR_ABI_LOOPS] = {0};
	uint64_t messages = 0;
	json_t *event;
	size_t i;

	json_array_foreach(events, i, event)
	{
		const char *category = json_string_value(json_object_get(event, "cat"));
		uint64_t loop = (uint64_t)json_integer_value(json_object_get(event, "tid"));
		double start = json_number_value(json_object_get(event, "ts"));
		double end = start + json_number_value(json_object_get(event, "dur"));

		if (strcmp(json_string_value(json_object_get(event, "ph")), "X") != 0)
			continue;
		assert_true(loop < ACTOR_ABI_LOOPS);
		if (strcmp(category, "message") == 0) {
			messages++;
			last[loop] = end;
		} else {
			assert_true(start + 0.002 >= turn_end[loop]);
			assert_true(end + 0.01 >= last[loop]);
			turn_end[loop] = end;
		}
	}
	return messages;
}

static void a_trace_has_each_message_in_its_turn(void **state)
{
	const uint64_t messages = 20011;
	struct loaded load;
	char trace[80];
	json_t *root;

	snprintf(trace, sizeof(trace), "%s.json", path);
	record(&load, messages, "");
	program_run(&tool, "$A report %s --chrome-trace %s", path, trace);
	assert_int_equal(tool.exit, 0);
	root = json_load_file(trace, 0, NULL);
	assert_non_null(root);
	assert_int_equal(slices_check(json_object_get(root, "traceEvents")), messages);
	json_decref(root);
	unlink(trace);
	program_run(&tool, "$A report %s --chrome-trace /dev/full", path);
	assert_int_equal(tool.exit, 1);
	assert_non_null(strstr(tool.err, "cannot be written"));
}

static void a_file_stays_within_its_size(void **state)
{
	struct loaded load;
	struct stat is;

	record(&load, 3000000, "--max-size 4M");
	assert_non_null(strstr(tool.err, "has reached its largest size"));
	assert_int_equal(stat(path, &is), 0);
	assert_true(is.st_size <= 4 << 20);
	program_run(&tool, "$A report %s -j", path);
	assert_int_equal(tool.exit, 0);
	assert_non_null(strstr(tool.err, "had reached its largest size"));
	assert_true(collected_account(tool.out).recorded > 10000);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_written_comes_back),
		TEST(a_cut_or_damaged_file_shows_no_more_than_it_has),
		TEST(each_wrong_file_has_its_sentence),
		TEST(a_full_disk_is_said),
		TEST(a_program_s_messages_are_all_there),
		TEST(paths_are_kept_for_later),
		TEST(a_trace_has_each_message_in_its_turn),
		TEST(a_file_stays_within_its_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
