/* SPDX-License-Identifier: MIT */
/* The exporter end to end with processes that it finds itself: many at once, many one after the
 * other, and such as execute themselves anew. */
#define _GNU_SOURCE

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <sys/stat.h>

#include "probe/exchange.h"
#include "probe/host.h"
#include "tests/fake.h"
#include "tests/loaded.h"
#include "tests/program.h"
#include "tests/sanitized.h"

#define CROWD  (SANITIZED ? 50 : 200)
#define STARTS (SANITIZED ? 200 : 1000)
#define BATCH  20

static struct program tool, page;
static char url[128], load_path[64], fake_path[64];

/* A copy has a name and a number of its own, and is nobody else's. */
static void copy(char *to, const char *name, const char *from)
{
	static struct program p;

	sprintf(to, "/tmp/%s_%d", name, getpid());
	program_run(&p, "cp %s %s", from, to);
	assert_int_equal(p.exit, 0);
}

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

/* Buckets, which are nearly all of a page, are left out. */
static void scrape(void)
{
	program_run(&page, "curl -sf %s | grep -v _bucket", url);
	assert_int_equal(page.exit, 0);
}

static double sum(const char *name, const char *label)
{
	size_t bytes = strlen(name);
	double total = 0;

	for (const char *line = page.out; *line; line += strcspn(line, "\n") + 1) {
		size_t length = strcspn(line, "\n");

		if (strncmp(line, name, bytes) == 0 && line[bytes] == '{' &&
			memmem(line, length, label, strlen(label)))
			total += atof((const char *)memrchr(line, ' ', length));
	}
	return total;
}

/* Scrapes until a sum is as expected, for a minute at most. */
static void expect(const char *name, const char *label, double wanted)
{
	for (int i = 0; i < 600; i++) {
		scrape();
		if (sum(name, label) == wanted)
			return;
		usleep(100000);
	}
	print_message("%s{%s} is %g, not %g\n", name, label, sum(name, label), wanted);
	fail();
}

static void assert_adds_up(void)
{
	assert_true(sum("actor_messages_delivered_total", "") ==
		    sum("actorprobe_records_total", "") + sum("actorprobe_unstamped_total", "") +
			    sum("actorprobe_lost_total", ""));
}

static size_t entries(pid_t pid, const char *what)
{
	char path[64];
	size_t count = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, what);
	dir = opendir(path);
	while (dir && readdir(dir))
		count++;
	closedir(dir);
	return count;
}

static long resident_kb(pid_t pid)
{
	char path[64];
	long pages = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/statm", pid);
	file = fopen(path, "r");
	if (fscanf(file, "%*s %ld", &pages) != 1)
		pages = 0;
	fclose(file);
	return pages * 4;
}

/* ---- many ---- */

static void each_of_many_short_processes_is_right(void **state)
{
	static struct loaded loads[BATCH];
	struct loaded first;
	uint64_t total = 101;
	char line[128];

	snprintf(line, sizeof(line), "--exe %s --process-label pid", load_path);
	export_start(line);
	loaded_start_file(&first, load_path, "messages=101");
	expect("actorprobe_targets", "", 1);
	loaded_say(&first, "go");
	for (int i = 0; i < BATCH; i++) {
		char arguments[64];

		snprintf(arguments, sizeof(arguments), "loops=%d messages=%d", 1 + i % 2,
			1009 + 10 * i);
		loaded_start_file(&loads[i], load_path, arguments);
		loaded_say(&loads[i], "go");
		loaded_expect(&loads[i], "done");
		loaded_say(&loads[i], "end");
		total += loaded_handled(&loads[i]);
	}
	expect("actor_messages_delivered_total", "", (double)total);
	expect("actorprobe_targets", "", 1);
	assert_adds_up();
	for (int i = 0; i < BATCH; i++) {
		uint64_t messages = loaded_handled(&loads[i]);

		snprintf(line, sizeof(line), "[%d]\"", loads[i].pid);
		assert_true(sum("actor_messages_delivered_total", line) == (double)messages);
		assert_true(sum("actorprobe_records_total", line) == (double)messages);
		loaded_stop(&loads[i]);
	}
	loaded_stop(&first);
	export_stop();
}

static void two_hundred_at_once_are_told_apart(void **state)
{
	static struct fake fakes[200];
	char line[128];

	for (int i = 0; i < CROWD; i++)
		fake_start_as(&fakes[i], fake_path, i % 2 ? "tsc" : "monotonic");
	snprintf(line, sizeof(line), "--exe %s", fake_path);
	export_start(line);
	expect("actorprobe_targets", "", CROWD);
	for (int i = 0; i < CROWD; i++)
		fake_tell(&fakes[i], "fill %d 1", 1 + i);
	scrape();
	assert_true(sum("actorprobe_records_total", "") == CROWD * (CROWD + 1) / 2);
	assert_adds_up();
	/* Either clock is read as what it is: each message waited for 1000 ticks. */
	assert_true(sum("actor_mailbox_wait_seconds_sum", "") <
		    1e-6 * 1.01 * CROWD * (CROWD + 1) / 2);
	for (int i = 0; i < CROWD; i++)
		fake_stop(&fakes[i]);
	expect("actorprobe_targets", "", 0);
	assert_true(sum("actorprobe_records_total", "") == CROWD * (CROWD + 1) / 2);
	assert_true(sum("actorprobe_attached", "") == 0);
	export_stop();
}

/* So many starts, so many processes at once; they end when they are observed or at once. */
static void starts(int count, int at_once, bool observed)
{
	static struct fake fakes[200];

	for (int n = 0; n < count; n += at_once) {
		for (int i = 0; i < at_once; i++)
			fake_start_as(&fakes[i], fake_path, "tsc");
		for (int i = 0; i < at_once; i++)
			fake_tell(&fakes[i], "fill 7 1");
		if (observed)
			expect("actorprobe_targets", "", at_once + 1);
		for (int i = 0; i < at_once; i++)
			fake_stop(&fakes[i]);
	}
}

static void a_thousand_starts_leave_nothing(void **state)
{
	size_t files, threads;
	struct fake first;
	char line[128];
	long resident;

	snprintf(line, sizeof(line), "--exe %s", fake_path);
	export_start(line);
	fake_start_as(&first, fake_path, "tsc");
	expect("actorprobe_targets", "", 1);
	/* All at once, so that nothing later needs more. */
	starts(STARTS / 5, STARTS / 5, true);
	expect("actorprobe_records_total", "", STARTS / 5 * 7);
	expect("actorprobe_targets", "", 1);
	files = entries(tool.pid, "fd");
	threads = entries(tool.pid, "task");
	resident = resident_kb(tool.pid);
	starts(STARTS - STARTS / 5, BATCH, false);
	expect("actorprobe_records_total", "", STARTS * 7);
	expect("actorprobe_targets", "", 1);
	assert_true(sum("actorprobe_records_total", "process=\"fake_") == STARTS * 7);
	assert_adds_up();
	assert_in_range(entries(tool.pid, "fd"), 0, files + 2); /* a connection may be closing */
	assert_in_range(entries(tool.pid, "task"), 0, threads + 2); /* a late one may be ending */
	print_message("%ld kB resident, %ld kB after a fifth\n", resident_kb(tool.pid), resident);
	if (!SANITIZED)
		assert_true(resident_kb(tool.pid) < resident + 4096);
	export_stop();
	fake_stop(&first);
}

/* ---- who changes ---- */

static void a_process_that_executes_itself_is_followed(void **state)
{
	struct loaded load;
	char line[128];

	snprintf(line, sizeof(line), "--exe %s", load_path);
	export_start(line);
	loaded_start_file(&load, load_path, "messages=1009");
	expect("actorprobe_targets", "", 1);
	for (int i = 1; i <= 3; i++) {
		loaded_say(&load, "go");
		loaded_expect(&load, "done");
		expect("actor_messages_delivered_total", "", 1009 * i);
		assert_true(sum("actor_messages_delivered_total", "class=\"#") == 0);
		loaded_say(&load, "exec");
		loaded_expect(&load, "ready");
	}
	expect("actorprobe_targets", "", 1);
	assert_adds_up();
	loaded_stop(&load);
	export_stop();
}

static void all_of_the_host_are_found(void **state)
{
	struct loaded load;
	char line[64];

	loaded_start_file(&load, load_path, "messages=1009");
	export_start("--all --process-label pid");
	snprintf(line, sizeof(line), "[%d]\"", load.pid);
	expect("actorprobe_targets", line, 1);
	loaded_say(&load, "go");
	loaded_expect(&load, "done");
	expect("actorprobe_records_total", line, 1009);
	loaded_stop(&load);
	expect("actorprobe_targets", line, 0);
	export_stop();
}

static bool accept_one(void *context, pid_t pid)
{
	++*(int *)context;
	return true;
}

/* An ignored process hands over in vain, and is known anew once it is not ignored any more. */
static void who_is_ignored_is_not_observed(void **state)
{
	const struct exchange_options options = {.max_series = 100};
	struct exchange *exchange = NULL;
	struct error error = {0};
	struct fake fake;
	struct host *host;
	pid_t pids[4];
	int found = 0;

	assert_int_equal(exchange_open(&exchange, &options, &error), 0);
	host = host_open(exchange, fake_path, 1000000000);
	fake_start_as(&fake, fake_path, "tsc");
	host_scan(host, accept_one, &found);
	fake_tell(&fake, "fill 7 1");
	assert_int_equal(exchange_news(exchange, pids, 4), 1);
	assert_int_equal(pids[0], fake.pid);
	exchange_ignore(exchange, fake.pid);
	fake_tell(&fake, "fill 7 1");
	assert_int_equal(exchange_news(exchange, pids, 4), 0);
	assert_int_equal(exchange_ignored(exchange, pids, 4), 1);
	assert_int_equal(pids[0], fake.pid);
	exchange_leave(exchange, fake.pid, NULL);
	assert_int_equal(exchange_ignored(exchange, pids, 4), 0);
	fake_tell(&fake, "fill 7 1");
	assert_int_equal(exchange_news(exchange, pids, 4), 1);
	fake_stop(&fake);
	host_close(host);
	exchange_close(exchange);
}

static size_t own_links(void)
{
	char path[64], to[64];
	size_t count = 0;

	for (int fd = 0; fd < 256; fd++) {
		ssize_t bytes;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		bytes = readlink(path, to, sizeof(to));
		count += bytes > 0 && memmem(to, (size_t)bytes, "bpf_link", 8);
	}
	return count;
}

static void a_file_has_one_link_as_long_as_it_is_used(void **state)
{
	const struct exchange_options options = {.max_series = 100};
	struct exchange *exchange = NULL;
	struct error error = {0};
	struct fake fakes[3];
	struct host *host;
	int found = 0;

	assert_int_equal(exchange_open(&exchange, &options, &error), 0);
	host = host_open(exchange, fake_path, 200000000);
	for (int i = 0; i < 3; i++)
		fake_start_as(&fakes[i], fake_path, "tsc");
	host_scan(host, accept_one, &found);
	host_scan(host, accept_one, &found);
	assert_int_equal(found, 3);
	assert_int_equal(own_links(), 1);
	usleep(300000);
	host_scan(host, accept_one, &found);
	assert_int_equal(own_links(), 1);
	for (int i = 0; i < 3; i++)
		fake_stop(&fakes[i]);
	for (int i = 0; i < 100 && own_links(); i++) {
		host_scan(host, accept_one, &found);
		usleep(50000);
	}
	assert_int_equal(own_links(), 0);
	assert_true(found >= 3); /* one that is ending may be offered again, which its identity ends */
	host_close(host);
	exchange_close(exchange);
}

static void what_is_not_of_one_process_is_refused(void **state)
{
	static const struct {
		const char *line, *says;
	} rows[] = {
		{"--all -p 1", "exclude each other"},
		{"--all --exe /bin/true", "exclude each other"},
		{"--all --mode trace", "of single processes"},
		{"--all --max-overhead 2%", "of single processes"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		program_run(&tool, "$A export %s", rows[i].line);
		assert_int_equal(tool.exit, 1);
		assert_non_null(strstr(tool.err, rows[i].says));
	}
}

static int begin(void **state)
{
	const char *fake = getenv("FAKE_TARGET");

	copy(load_path, "load", loaded_program());
	copy(fake_path, "fake", fake ? fake : "build/tests/fake_target");
	return 0;
}

static int end(void **state)
{
	unlink(load_path);
	unlink(fake_path);
	return 0;
}

static void everything_that_attaches(void **state)
{
	print_message("SKIP test_host: attaching needs root\n");
	skip();
}

int main(void)
{
	const struct CMUnitTest without_root[] = {cmocka_unit_test(everything_that_attaches)};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_has_one_link_as_long_as_it_is_used),
		cmocka_unit_test(who_is_ignored_is_not_observed),
		cmocka_unit_test(each_of_many_short_processes_is_right),
		cmocka_unit_test(a_process_that_executes_itself_is_followed),
		cmocka_unit_test(all_of_the_host_are_found),
		cmocka_unit_test(two_hundred_at_once_are_told_apart),
		cmocka_unit_test(a_thousand_starts_leave_nothing),
		cmocka_unit_test(what_is_not_of_one_process_is_refused),
	};

	if (geteuid() != 0)
		return cmocka_run_group_tests(without_root, NULL, NULL);
	return cmocka_run_group_tests(tests, begin, end);
}
