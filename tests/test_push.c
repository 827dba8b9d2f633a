/* SPDX-License-Identifier: MIT */
/* The push end to end: a receiver decodes it by the published field numbers, is busy, or away. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>
#include <time.h>

#include "probe/push.h"
#include "tests/fixture.h"
#include "tests/program.h"

#define SECOND 1000000000ull

static struct fake fake;
static struct program receiver, tool;
static int port;

/* ---- the receiver ---- */

static void receiver_start(int on, const char *statuses)
{
	program_start(&receiver, "python3 tests/otlp_receiver.py %d %s", on, statuses);
	program_expect(&receiver, receiver.out, "\n");
	port = atoi(receiver.out);
}

static void receiver_stop(void)
{
	kill(receiver.pid, SIGKILL);
	program_wait(&receiver);
}

/* Waits for the n-th request, from 0 on, and reads it; for json_decref(). */
static json_t *request(unsigned int n)
{
	const char *line;
	json_t *root;

	for (;;) {
		line = receiver.out;
		for (unsigned int i = 0; line && i <= n; i++) {
			line = strchr(line, '\n');
			line = line ? line + 1 : NULL;
		}
		if (line && strchr(line, '\n'))
			break;
		if (!program_read(&receiver)) {
			print_error("%s\n", receiver.err);
			fail();
		}
	}
	root = json_loads(line, JSON_DISABLE_EOF_CHECK, NULL);
	assert_non_null(root);
	return root;
}

/* A metric of the first resource. */
static json_t *metric(json_t *root, const char *name)
{
	json_t *resource = json_array_get(json_object_get(root, "resources"), 0);
	json_t *found = json_object_get(json_object_get(resource, "metrics"), name);

	assert_non_null(found);
	return found;
}

static long long whole(json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

/* Its first point that counted; those of what has not counted are there, too. */
static json_t *point(json_t *root, const char *name)
{
	json_t *points = json_object_get(metric(root, name), "points"), *p;
	size_t i;

	json_array_foreach(points, i, p) if (whole(p, "count") > 0) return p;
	return json_array_get(points, 0);
}

static const char *word(json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

/* Turns of seven messages each, waits of 1 to 7 us. */
static void work(unsigned int turns)
{
	while (turns--) {
		for (unsigned int i = 1; i <= 7; i++)
			fake_tell(&fake, "message 1 %u %u 50000 %u 0", i, i * 1000, i);
		fake_tell(&fake, "turn 1 1 2000 350000 7 0");
		fake_tell(&fake, "end 0 1");
	}
}

static void tool_start(const char *every)
{
	program_start(&tool, "$A export --mode trace -p %d --otlp http://127.0.0.1:%d --every %s",
		(int)fake.pid, port, every);
	program_expect(&tool, tool.err, "pushing");
}

static void tool_stop(void)
{
	kill(tool.pid, SIGTERM);
	program_wait(&tool);
	assert_int_equal(tool.exit, 0);
}

/* ---- what arrives ---- */

static void check_exponential(json_t *root)
{
	json_t *p = point(root, "actor_mailbox_wait_seconds"), *count;
	long long sum = whole(p, "zero");
	size_t i;

	assert_string_equal(
		word(metric(root, "actor_mailbox_wait_seconds"), "kind"), "exponential");
	assert_string_equal(word(metric(root, "actor_mailbox_wait_seconds"), "unit"), "s");
	assert_int_equal(whole(metric(root, "actor_mailbox_wait_seconds"), "temporality"), 2);
	assert_int_equal(whole(p, "scale"), 3);
	json_array_foreach(json_object_get(p, "counts"), i, count) sum += json_integer_value(count);
	assert_int_equal(sum, whole(p, "count"));
	assert_int_equal(whole(p, "count"), 35);
	/* 1 us lies above 2^(-160/8) = 0.954 us, 7 us up to 2^(-136/8) = 7.63 us. */
	assert_int_equal(whole(p, "offset"), -160);
	assert_int_equal(json_array_size(json_object_get(p, "counts")), 24);
	assert_true(json_real_value(json_object_get(p, "sum")) == 5 * 28e-6);
	assert_true(json_real_value(json_object_get(p, "max")) == 7e-6);
	assert_true(whole(p, "start") > 0 && whole(p, "start") < whole(p, "time"));
}

static void a_receiver_decodes_what_was_counted(void **state)
{
	json_t *root, *resource, *p;

	SKIP_WITHOUT_ROOT();
	fake_start(&fake, "monotonic");
	receiver_start(0, "");
	tool_start("60");
	root = request(0);
	assert_string_equal(word(root, "path"), "/v1/metrics");
	assert_string_equal(word(root, "type"), "application/x-protobuf");
	assert_string_equal(word(root, "encoding"), "gzip");
	resource = json_array_get(json_object_get(root, "resources"), 0);
	assert_string_equal(word(resource, "scope"), "actorprobe");
	resource = json_object_get(resource, "attributes");
	assert_string_equal(word(resource, "service.name"), "fake_target");
	assert_int_equal(whole(resource, "process.pid"), fake.pid);
	assert_true(word(resource, "host.name")[0] != '\0');
	assert_string_equal(word(metric(root, "actorprobe_attached"), "kind"), "gauge");
	json_decref(root);
	work(5);
	/* The last push is at the end, with all there was until then. */
	tool_stop();
	root = request(1);
	check_exponential(root);
	p = point(root, "actor_mailbox_depth");
	assert_string_equal(word(metric(root, "actor_mailbox_depth"), "kind"), "histogram");
	assert_int_equal(json_array_size(json_object_get(p, "bounds")), 13);
	assert_int_equal(json_array_size(json_object_get(p, "counts")), 14);
	assert_int_equal(whole(p, "count"), 35);
	assert_int_equal(whole(point(root, "actorprobe_records_total"), "value"), 35);
	assert_string_equal(word(metric(root, "actorprobe_records_total"), "kind"), "sum");
	assert_true(json_is_true(
		json_object_get(metric(root, "actorprobe_records_total"), "monotonic")));
	assert_int_equal(whole(metric(root, "actorprobe_records_total"), "temporality"), 2);
	json_decref(root);
	assert_non_null(strstr(tool.err, "refuses 1 points (late\\x1bx)"));
	receiver_stop();
	fake_stop(&fake);
}

static void a_busy_receiver_is_asked_again_and_a_refusal_is_told(void **state)
{
	static const int statuses[] = {429, 503, 200, 400, 200};

	SKIP_WITHOUT_ROOT();
	fake_start(&fake, "monotonic");
	receiver_start(0, "429 503:1 200 400");
	tool_start("0.2");
	for (unsigned int i = 0; i < 5; i++) {
		json_t *root = request(i);

		assert_int_equal(whole(root, "status"), statuses[i]);
		json_decref(root);
	}
	tool_stop();
	assert_non_null(strstr(tool.err, "(status 429); it is asked again"));
	assert_non_null(strstr(tool.err, "takes the metrics again, after 2 failures"));
	assert_non_null(strstr(tool.err, "(status 400); look at its log"));
	receiver_stop();
	fake_stop(&fake);
}

static long resident_kib(pid_t pid)
{
	char path[64], line[256];
	long kib = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "VmRSS: %ld", &kib);
	if (file)
		fclose(file);
	return kib;
}

/* AWAY_SECONDS: how long it is away. */
static void a_receiver_that_was_away_gets_every_count(void **state)
{
	const char *asked = getenv("AWAY_SECONDS");
	unsigned int seconds = asked ? (unsigned int)atoi(asked) : 4;
	unsigned int turns = 0;
	time_t end = time(NULL) + seconds;
	json_t *root;
	long before;

	SKIP_WITHOUT_ROOT();
	fake_start(&fake, "monotonic");
	receiver_start(0, "");
	tool_start("0.1");
	json_decref(request(1));
	receiver_stop();
	program_expect(&tool, tool.err, "does not take the metrics");
	before = resident_kib(tool.pid);
	while (time(NULL) < end) {
		work(3);
		turns += 3;
		usleep(100000);
	}
	/* Nothing is kept for it meanwhile: a queue would hold a request per attempt. */
	assert_true(resident_kib(tool.pid) < before + 2048);
	receiver_start(port, "");
	root = request(0);
	assert_int_equal(whole(point(root, "actorprobe_records_total"), "value"), 7 * turns);
	assert_int_equal(whole(point(root, "actor_mailbox_wait_seconds"), "count"), 7 * turns);
	json_decref(root);
	program_expect(&tool, tool.err, "takes the metrics again");
	tool_stop();
	receiver_stop();
	fake_stop(&fake);
}

static void a_receiver_that_never_answers_holds_up_no_end(void **state)
{
	time_t began;

	SKIP_WITHOUT_ROOT();
	fake_start(&fake, "monotonic");
	receiver_start(0, "");
	/* It accepts, and hangs. */
	kill(receiver.pid, SIGSTOP);
	tool_start("0.1");
	began = time(NULL);
	tool_stop();
	assert_true(time(NULL) - began < 9);
	kill(receiver.pid, SIGCONT);
	receiver_stop();
	fake_stop(&fake);
}

/* ---- parts ---- */

static void the_wait_grows_to_a_minute(void **state)
{
	static const uint64_t seconds[] = {1, 1, 2, 4, 8, 16, 32, 60, 60};

	for (unsigned int i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++) {
		assert_int_equal(push_backoff_ns(i, 0, 0), seconds[i] * SECOND);
		for (uint32_t chance = 0; chance < 5000; chance += 7) {
			uint64_t ns = push_backoff_ns(i, 0, chance);

			assert_true(ns >= seconds[i] * SECOND && ns <= seconds[i] * SECOND * 6 / 5);
		}
	}
	assert_int_equal(push_backoff_ns(1, 30, 0), 30 * SECOND);
	assert_int_equal(push_backoff_ns(1, UINT64_MAX, 0), 300 * SECOND);
	assert_int_equal(push_backoff_ns(UINT32_MAX, 2, 0), 60 * SECOND);
}

static void only_web_addresses_are_pushed_to(void **state)
{
	assert_true(push_is_url("http://127.0.0.1:4318/v1/metrics"));
	assert_true(push_is_url("https://[::1]"));
	assert_false(push_is_url("127.0.0.1:4318"));
	assert_false(push_is_url("file:///etc/passwd"));
	assert_false(push_is_url("ftp://x/"));
	assert_false(push_is_url("http://"));
	assert_false(push_is_url(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_receiver_decodes_what_was_counted),
		cmocka_unit_test(a_busy_receiver_is_asked_again_and_a_refusal_is_told),
		cmocka_unit_test(a_receiver_that_was_away_gets_every_count),
		cmocka_unit_test(a_receiver_that_never_answers_holds_up_no_end),
		cmocka_unit_test(the_wait_grows_to_a_minute),
		cmocka_unit_test(only_web_addresses_are_pushed_to),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
