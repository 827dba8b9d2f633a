/* SPDX-License-Identifier: MIT */
/* The exporter end to end with several targets: what it tells of each, and of those that end. */
#define _GNU_SOURCE

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/abi.h"
#include "tests/fake.h"
#include "tests/loaded.h"
#include "tests/program.h"
#include "tests/sanitized.h"

static struct program tool, page;
static char url[128];

/* ---- the exporter and its page ---- */

static void export_start(const char *arguments)
{
	program_start(&tool, "$A export --listen 127.0.0.1:0 %s", arguments);
	program_expect(&tool, tool.err, "/metrics\n");
	assert_int_equal(sscanf(strstr(tool.err, "http://"), "%127s", url), 1);
}

static void export_stop(void)
{
	kill(tool.pid, SIGTERM);
	program_wait(&tool);
	assert_int_equal(tool.exit, 0);
}

static void scrape(void)
{
	program_run(&page, "curl -sf %s", url);
	assert_int_equal(page.exit, 0);
}

/* The sample whose name and labels begin the line like this; -1 if there is none. */
static double value(const char *name)
{
	size_t bytes = strlen(name);

	for (const char *line = page.out; *line; line += strcspn(line, "\n") + 1)
		if (strncmp(line, name, bytes) == 0 && line[bytes] == ' ')
			return atof(line + bytes);
	return -1;
}

/* Sum, and number, of all samples of a name, whose labels hold `label`. */
static double sum(const char *name, const char *label, int *count)
{
	size_t bytes = strlen(name);
	double total = 0;
	int found = 0;

	for (const char *line = page.out; *line; line += strcspn(line, "\n") + 1) {
		size_t length = strcspn(line, "\n");

		if (strncmp(line, name, bytes) || (line[bytes] != ' ' && line[bytes] != '{') ||
			!memmem(line, length, label, strlen(label)))
			continue;
		total += atof((const char *)memrchr(line, ' ', length));
		found++;
	}
	if (count)
		*count = found;
	return total;
}

static void assert_adds_up(void)
{
	assert_true(sum("actor_messages_delivered_total", "", NULL) ==
		    sum("actorprobe_records_total", "", NULL) +
			    sum("actorprobe_unstamped_total", "", NULL) +
			    sum("actorprobe_lost_total", "", NULL));
	assert_true(sum("actor_mailbox_wait_seconds_count", "", NULL) ==
		    sum("actorprobe_records_total", "", NULL));
}

static void messages(struct fake *fake, int count)
{
	fake_tell(fake, "fill %d 1", count);
}

/* ---- several processes ---- */

static void equal_commands_add_up_and_never_go_backwards(void **state)
{
	struct fake a, b;
	char line[128];

	fake_start(&a, "tsc");
	fake_start(&b, "monotonic");
	snprintf(line, sizeof(line), "-p %d -p %d --ttl 1", a.pid, b.pid);
	export_start(line);
	messages(&a, 101);
	messages(&b, 7);
	scrape();
	assert_true(value("actorprobe_records_total{process=\"fake_target\"}") == 108);
	assert_true(value("actorprobe_targets{process=\"fake_target\"}") == 2);
	assert_true(
		value("actor_messages_delivered_total{process=\"fake_target\",class=\"alpha\"}") ==
		108);
	assert_adds_up();
	fake_stop(&a);
	program_expect(&tool, tool.err, "has ended");
	usleep(1500000); /* longer than the time to live: the crew has a living member */
	messages(&b, 13);
	scrape();
	assert_true(value("actorprobe_records_total{process=\"fake_target\"}") == 121);
	assert_true(value("actorprobe_targets{process=\"fake_target\"}") == 1);
	assert_true(value("actorprobe_attached{process=\"fake_target\"}") == 1);
	assert_adds_up();
	fake_stop(&b);
	for (int i = 0; i < 100 && value("actorprobe_attached{process=\"fake_target\"}") != 0; i++)
		scrape();
	assert_true(value("actorprobe_records_total{process=\"fake_target\"}") == 121);
	usleep(2500000);
	scrape();
	assert_true(value("actorprobe_attached{process=\"fake_target\"}") == 0);
	assert_true(value("actorprobe_records_total{process=\"fake_target\"}") == -1);
	assert_null(strstr(page.out, "actor_mailbox_wait_seconds"));
	assert_non_null(strstr(page.out, "actorprobe_build_info"));
	export_stop();
}

static void processes_are_told_apart_as_asked(void **state)
{
	struct fake a, b;
	struct loaded load;
	char line[128], name[128];

	fake_start(&a, "tsc");
	fake_start(&b, "tsc");
	loaded_start(&load, "messages=1009");
	snprintf(line, sizeof(line), "-p %d -p %d -p %d --process-label pid", a.pid, b.pid,
		load.pid);
	export_start(line);
	messages(&a, 101);
	messages(&b, 7);
	loaded_say(&load, "go");
	loaded_expect(&load, "done");
	usleep(100000); /* an idle loop hands over after 10 ms */
	scrape();
	snprintf(
		name, sizeof(name), "actorprobe_records_total{process=\"fake_target[%d]\"}", a.pid);
	assert_true(value(name) == 101);
	snprintf(
		name, sizeof(name), "actorprobe_records_total{process=\"fake_target[%d]\"}", b.pid);
	assert_true(value(name) == 7);
	snprintf(name, sizeof(name), "process=\"load[%d]\"", load.pid);
	assert_true(sum("actor_messages_delivered_total", name, NULL) == 1009);
	assert_adds_up();
	snprintf(name, sizeof(name), "pid=\"%d\",command=\"load\",exe=\"/", load.pid);
	assert_true(sum("actorprobe_target_info", name, NULL) == 1);
	program_run(&page, "curl -sf %.*s/api/v1/snapshot", (int)(strrchr(url, '/') - url), url);
	snprintf(name, sizeof(name), "{\"process\":\"load[%d]\",\"metric\":", load.pid);
	assert_non_null(strstr(page.out, name));
	assert_non_null(strstr(page.out, "\"recorded\":101,"));
	export_stop();
	loaded_stop(&load);
	fake_stop(&a);
	fake_stop(&b);
}

static void one_process_has_no_label_of_its_own(void **state)
{
	struct fake fake;
	char line[64];

	fake_start(&fake, "tsc");
	snprintf(line, sizeof(line), "-p %d", fake.pid);
	export_start(line);
	scrape();
	assert_null(strstr(page.out, "process="));
	/* What has not counted yet is there. */
	assert_true(value("actor_messages_delivered_total{class=\"alpha\"}") == 0);
	assert_true(value("actor_restarted_total{class=\"alpha\"}") == 0);
	assert_true(value("actor_dispatcher_errors_total{dispatcher=\"default\"}") == 0);
	assert_true(
		value("actor_dispatcher_yields_total{dispatcher=\"default\",reason=\"budget\"}") ==
		0);
	assert_true(value("actor_dispatcher_queue_delay_seconds_count{dispatcher=\"slow\"}") == 0);
	assert_true(
		value("actor_mailbox_wait_seconds_count{dispatcher=\"default\",class=\"alpha\"}") ==
		0);
	assert_true(value("actor_loop_gap_seconds_count{loop=\"3\"}") == 0);
	messages(&fake, 3);
	scrape();
	assert_true(
		value("actor_mailbox_wait_seconds_count{dispatcher=\"default\",class=\"alpha\"}") ==
		3);
	export_stop();
	fake_stop(&fake);
}

/* ---- exactness ---- */

static void every_scrape_of_a_busy_process_adds_up(void **state)
{
	struct loaded load;
	char line[64];
	double before = 0;

	loaded_start(&load, "messages=0 loops=2 spin=300");
	snprintf(line, sizeof(line), "-p %d", load.pid);
	loaded_say(&load, "go");
	export_start(line);
	for (int i = 0; i < 30; i++) {
		double now;

		scrape();
		assert_adds_up();
		now = value("actorprobe_records_total");
		assert_true(now >= before);
		before = now;
	}
	assert_true(before > 0);
	loaded_say(&load, "stop");
	loaded_expect(&load, "done");
	export_stop();
	loaded_stop(&load);
}

static void ten_thousand_classes_stay_below_the_cap(void **state)
{
	struct fake fake;
	char line[64];
	int count;

	fake_start(&fake, "tsc");
	snprintf(line, sizeof(line), "-p %d --max-series 10", fake.pid);
	export_start(line);
	for (int i = 1; i <= 10007; i++) {
		fake_tell(&fake, "message %d 1 1000 1000 1 0", i);
		if (i % 50 == 0 || i == 10007) {
			fake_tell(&fake, "raw %lu %lu 0 0",
				actor_abi_meta(ACTOR_ABI_LIFE, 0, ACTOR_ABI_LIFE_RESTART, i, 0),
				1ul << 32);
			fake_tell(&fake, "over");
		}
	}
	scrape();
	assert_true(sum("actor_mailbox_wait_seconds_count", "", &count) == 10007);
	assert_int_equal(count, 10); /* two of them have one name, and one is __overflow__ */
	assert_true(value("actor_mailbox_wait_seconds_count{dispatcher=\"__overflow__\",class=\"__"
			  "overflow__\"}") == 10007 - 10);
	assert_true(value("actorprobe_series_overflow_total") == 10007 - 10);
	assert_true(sum("actor_restarted_total", "", &count) == 201);
	assert_int_equal(count, 11);
	assert_adds_up();
	export_stop();
	fake_stop(&fake);
}

static void scrapes_go_on_while_targets_are_killed(void **state)
{
	struct loaded load[4];
	char line[128];
	size_t used = 0;

	for (int i = 0; i < 4; i++) {
		loaded_start(&load[i], "messages=0 spin=500");
		loaded_say(&load[i], "go");
		used += (size_t)snprintf(line + used, sizeof(line) - used, "-p %d ", load[i].pid);
	}
	export_start(line);
	for (int i = 0; i < 4; i++) {
		double before, after;

		scrape();
		before = value("actorprobe_records_total{process=\"load\"}");
		kill(load[i].pid, SIGKILL);
		for (int k = 0; k < 5; k++) {
			scrape();
			assert_adds_up();
			after = value("actorprobe_records_total{process=\"load\"}");
			assert_true(after >= before);
			before = after;
		}
	}
	for (int i = 0; i < 200 && value("actorprobe_targets{process=\"load\"}") > 0; i++)
		scrape();
	assert_true(value("actorprobe_targets{process=\"load\"}") == 0);
	export_stop();
	for (int i = 0; i < 4; i++)
		loaded_stop(&load[i]);
}

static void several_processes_belong_to_export_alone(void **state)
{
	program_run(&tool, "$A hist -p 1 -p 2");
	assert_int_equal(tool.exit, 1);
	assert_non_null(strstr(tool.err, "only export takes several"));
	program_run(&tool, "$A export -p 7 -p 7");
	assert_int_equal(tool.exit, 1);
	assert_non_null(strstr(tool.err, "given twice"));
}

static void everything_that_attaches(void **state)
{
	print_message("SKIP test_fleet: attaching needs root\n");
	skip();
}

int main(void)
{
	const struct CMUnitTest without_root[] = {cmocka_unit_test(everything_that_attaches)};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_commands_add_up_and_never_go_backwards),
		cmocka_unit_test(processes_are_told_apart_as_asked),
		cmocka_unit_test(one_process_has_no_label_of_its_own),
		cmocka_unit_test(every_scrape_of_a_busy_process_adds_up),
		cmocka_unit_test(ten_thousand_classes_stay_below_the_cap),
		cmocka_unit_test(scrapes_go_on_while_targets_are_killed),
		cmocka_unit_test(several_processes_belong_to_export_alone),
	};

	if (geteuid() != 0)
		return cmocka_run_group_tests(without_root, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
