/* SPDX-License-Identifier: MIT */
/* The observing commands end to end, against a process that fires hand-made records. */
#define _GNU_SOURCE

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <inttypes.h>
#include <jansson.h>

#include "tests/fake.h"
#include "tests/program.h"

#define ATTACHED "observing process"

static struct fake fake;
static struct program r;

/* `turns` turns of seven messages each, delay 2 us, waits of 1 to 7 us. */
static void work(unsigned int turns)
{
	while (turns--) {
		for (unsigned int i = 1; i <= 7; i++)
			fake_tell(&fake, "message 1 %u %u 50000 %u 0", i, i * 1000, i);
		fake_tell(&fake, "turn 1 1 2000 350000 7 0");
		fake_tell(&fake, "end 0 1");
		fake_tell(&fake, "yield 1 1");
	}
}

static json_int_t integer(const char *line, const char *key)
{
	json_t *object = json_loads(line, JSON_DISABLE_EOF_CHECK, NULL);
	json_int_t value;

	assert_non_null(object);
	value = json_is_integer(json_object_get(object, key))
			? json_integer_value(json_object_get(object, key))
			: -1;
	json_decref(object);
	return value;
}

/* Sums a number over all lines that hold `what`. */
static json_int_t sum(const char *what, const char *key)
{
	json_int_t total = 0;

	for (char *line = r.out; *line; line = strchr(line, '\n') + 1)
		if (memmem(line, strcspn(line, "\n"), what, strlen(what)))
			total += integer(line, key);
	return total;
}

static void hist_ends_at_a_signal_with_everything(void **state)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

	for (size_t i = 0; i < 3; i++) {
		program_start(&r, "$A hist --mode trace -v -p %d -j", fake.pid);
		program_expect(&r, r.err, ATTACHED);
		work(101);
		kill(r.pid, signals[i]);
		program_wait(&r);
		assert_int_equal(r.exit, 0);
		assert_int_equal(sum("actor_mailbox_wait_seconds", "count"), 707);
		assert_int_equal(sum("actor_message_handler_seconds", "count"), 707);
		assert_int_equal(sum("actor_dispatcher_queue_delay_seconds", "count"), 101);
		assert_int_equal(sum("\"delivered\"", "recorded"), 707);
		assert_int_equal(sum("\"delivered\"", "lost"), 0);
	}
}

static void intervals_add_up(void **state)
{
	program_start(&r, "$A hist --mode trace -v -p %d -j 0.2", fake.pid);
	program_expect(&r, r.err, ATTACHED);
	for (unsigned int i = 0; i < 13; i++) {
		work(11);
		usleep(50000);
	}
	kill(r.pid, SIGINT);
	program_wait(&r);
	assert_int_equal(r.exit, 0);
	assert_int_equal(sum("actor_mailbox_wait_seconds", "count"), 13 * 77);
	assert_int_equal(sum("\"delivered\"", "recorded"), 13 * 77);
	/* More than one block, or this test shows nothing. */
	assert_non_null(strstr(strstr(r.out, "\"delivered\"") + 1, "\"delivered\""));
	assert_int_equal(strncmp(r.out, "{\"time\":", 8), 0);
}

static void count_and_duration_end_a_run_of_an_idle_target(void **state)
{
	static const struct {
		const char *line;
		unsigned int blocks;
	} rows[] = {{"0.1 3", 3}, {"-d 0.3", 1}, {"0.2 -d 0.4", 2}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned int blocks = 0;

		program_run(&r, "$A hist -p %d %s", fake.pid, rows[i].line);
		assert_int_equal(r.exit, 0);
		assert_string_equal(r.err, "");
		for (const char *at = r.out; (at = strstr(at, "\ndelivered ")); at++)
			blocks++;
		assert_int_equal(blocks, rows[i].blocks);
	}
}

static void a_target_that_ends_gives_its_last_state(void **state)
{
	static const char *const lines[] = {"hist -v", "-v"};

	for (size_t i = 0; i < 2; i++) {
		struct fake other;
		char wanted[64];

		fake_start(&other, "monotonic");
		program_start(&r, "$A %s --mode trace -p %d 30", lines[i], other.pid);
		program_expect(&r, r.err, ATTACHED);
		fake_tell(&other, "message 1 1 3300 50000 1 0");
		fake_tell(&other, "end 0 1");
		kill(other.pid, SIGKILL);
		program_wait(&r);
		assert_int_equal(r.exit, 0);
		assert_non_null(strstr(r.out, "delivered 1 = recorded 1 + unstamped 0 + lost 0"));
		snprintf(wanted, sizeof(wanted), "actorprobe: process %d has ended", other.pid);
		assert_non_null(strstr(r.err, wanted));
		fake_stop(&other);
	}
}

static void a_reader_that_leaves_ends_the_run(void **state)
{
	static const char *const lines[] = {"hist -p %d", "hist -p %d 0.1", "-p %d 0.1"};

	for (size_t i = 0; i < 3; i++) {
		char line[256];

		snprintf(line, sizeof(line), lines[i], fake.pid);
		program_run(&r, "bash -c '\"$A\" %s | :; echo ${PIPESTATUS[0]}'", line);
		assert_string_equal(r.out, "1\n");
		assert_non_null(strstr(r.err, "closed by its reader; "));
		assert_ptr_equal(strchr(r.err, '\n'), r.err + strlen(r.err) - 1);
	}
}

static void live_view_prints_plain_blocks_where_there_is_no_terminal(void **state)
{
	program_start(&r, "$A -v --mode trace -p %d 0.3 3", fake.pid);
	program_expect(&r, r.err, ATTACHED);
	work(211);
	program_wait(&r);
	assert_int_equal(r.exit, 0);
	assert_null(strchr(r.out, '\033'));
	assert_non_null(strstr(r.out, "\nDISPATCHER "));
	assert_non_null(strstr(r.out, "\nalpha "));
	assert_non_null(strstr(r.out, "\nfake/3 "));
	assert_non_null(strstr(r.out, "delivered 1477 = recorded 1477 + unstamped 0 + lost 0"));
}

static void live_view_repaints_a_terminal_and_leaves_it_as_it_was(void **state)
{
	program_run(
		&r, "env TERM=xterm NO_COLOR=1 script -qec \"$A -p %d 0.1 3\" /dev/null", fake.pid);
	assert_int_equal(r.exit, 0);
	assert_int_equal(strncmp(r.out, "\033[?1049h\033[?25l\033[H", 17), 0);
	assert_non_null(strstr(r.out, "\033[?25h\033[?1049l"));
	assert_null(strstr(strstr(r.out, "\033[?1049l") + 1, "\033["));
	assert_null(strstr(r.out, "\033[1m"));
}

static void actors_are_told_apart_on_request(void **state)
{
	program_start(&r, "$A hist --mode trace -v -p %d -j --by actor", fake.pid);
	program_expect(&r, r.err, ATTACHED);
	work(5);
	kill(r.pid, SIGINT);
	program_wait(&r);
	assert_int_equal(sum("\"actor\":\"/user/boss\"", "count"), 5 * 5);
	assert_int_equal(sum("actor_mailbox_wait_seconds", "count"), 35);
}

static void a_turn_that_stays_open_is_shown(void **state)
{
	fake_tell(&fake, "open 1");
	program_run(&r, "$A --mode trace -p %d 0.2 2", fake.pid);
	fake_tell(&fake, "open 0");
	assert_int_equal(r.exit, 0);
	assert_non_null(strstr(r.out, " ms  /user/boss"));
}

static void list_shows_the_target(void **state)
{
	char pid[32];
	const char *line;

	program_run(&r, "$A list -j");
	assert_int_equal(r.exit, 0);
	assert_string_equal(r.err, "");
	snprintf(pid, sizeof(pid), "{\"pid\":%d,", fake.pid);
	line = strstr(r.out, pid);
	assert_non_null(line);
	assert_int_equal(integer(line, "loops"), 1);
	assert_non_null(strstr(line, "\"attachable\":true"));
	program_run(&r, "$A list");
	snprintf(pid, sizeof(pid), "\n%7d fake_target ", fake.pid);
	assert_non_null(strstr(r.out, pid));
}

static void perf_events_count_the_same(void **state)
{
	program_start(&r, "$A hist --mode trace -v --perf-events -p %d -j", fake.pid);
	program_expect(&r, r.err, ATTACHED);
	work(53);
	kill(r.pid, SIGINT);
	program_wait(&r);
	assert_non_null(strstr(r.err, "perf"));
	assert_int_equal(sum("actor_mailbox_wait_seconds", "count"), 371);
	assert_int_equal(sum("\"delivered\"", "recorded"), 371);
}

static void export_serves_until_it_is_told_to_end(void **state)
{
	static struct program page;
	struct fake other;
	char url[128];

	fake_start(&other, "monotonic");
	program_start(&r, "$A export --mode trace -p %d --listen 127.0.0.1:0", other.pid);
	program_expect(&r, r.err, "/metrics\n");
	assert_int_equal(sscanf(strstr(r.err, "http://"), "%127s", url), 1);
	fake_tell(&other, "message 1 1 3300 50000 1 0");
	fake_tell(&other, "end 0 1");
	program_run(&page, "curl -sf %s", url);
	assert_int_equal(page.exit, 0);
	assert_non_null(strstr(page.out, "\nactorprobe_attached 1\n"));
	assert_non_null(strstr(page.out, "\nactorprobe_records_total 1\n"));
	kill(other.pid, SIGKILL);
	program_expect(&r, r.err, "has ended");
	program_run(&page, "curl -sf %s", url);
	assert_non_null(strstr(page.out, "\nactorprobe_attached 0\n"));
	assert_non_null(strstr(page.out, "\nactorprobe_records_total 1\n"));
	kill(r.pid, SIGTERM);
	program_wait(&r);
	assert_int_equal(r.exit, 0);
	fake_stop(&other);
}

static int begin(void **state)
{
	fake_start(&fake, "monotonic");
	return 0;
}

static int end(void **state)
{
	fake_stop(&fake);
	return 0;
}

static void everything_that_attaches(void **state)
{
	print_message("SKIP test_command: attaching needs root\n");
	skip();
}

int main(void)
{
	const struct CMUnitTest without_root[] = {cmocka_unit_test(everything_that_attaches)};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hist_ends_at_a_signal_with_everything),
		cmocka_unit_test(intervals_add_up),
		cmocka_unit_test(count_and_duration_end_a_run_of_an_idle_target),
		cmocka_unit_test(a_target_that_ends_gives_its_last_state),
		cmocka_unit_test(a_reader_that_leaves_ends_the_run),
		cmocka_unit_test(live_view_prints_plain_blocks_where_there_is_no_terminal),
		cmocka_unit_test(live_view_repaints_a_terminal_and_leaves_it_as_it_was),
		cmocka_unit_test(actors_are_told_apart_on_request),
		cmocka_unit_test(a_turn_that_stays_open_is_shown),
		cmocka_unit_test(list_shows_the_target),
		cmocka_unit_test(perf_events_count_the_same),
		cmocka_unit_test(export_serves_until_it_is_told_to_end),
	};

	if (geteuid() != 0)
		return cmocka_run_group_tests(without_root, NULL, NULL);
	return cmocka_run_group_tests(tests, begin, end);
}
