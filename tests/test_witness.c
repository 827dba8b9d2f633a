/* SPDX-License-Identifier: MIT */
/* bpftrace as an independent witness: it counts the same run at the same probes. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <limits.h>
#include <unistd.h>

#include "tests/loaded.h"
#include "tests/program.h"

#define MESSAGES 10007
#define MORE	 7 /* outcome of a turn that goes on: its batch ends with a message's record */

static struct program tool, page, witness;

/* The sum over all samples of a family, as Prometheus would read them. */
static unsigned long metric(const char *family)
{
	unsigned long total = 0;
	size_t bytes = strlen(family);

	for (const char *at = page.out; (at = strstr(at, family)); at += bytes)
		if (at[-1] == '\n' && (at[bytes] == '{' || at[bytes] == ' '))
			total += strtoul(strstr(at, at[bytes] == '{' ? "} " : " ") + 1, NULL, 10);
	return total;
}

/* What bpftrace printed for one of its maps. */
static unsigned long seen(const char *name)
{
	char start[32];
	const char *at;

	snprintf(start, sizeof(start), "\n@%s: ", name);
	at = strstr(witness.out, start);
	return at ? strtoul(at + strlen(start), NULL, 10) : 0;
}

static void witness_start(struct loaded *load)
{
	char path[PATH_MAX];

	assert_non_null(realpath(loaded_program(), path));
	/* The first record of a batch is a mark; the last one is the turn's, unless it goes on. */
	program_start(&witness,
		"bpftrace -p %d -e '"
		"usdt:%s:actor:enqueue { @mail = count(); } "
		"usdt:%s:actor:turn_end /arg4 == %d/ { @messages = sum(arg3 - 1); } "
		"usdt:%s:actor:turn_end /arg4 != %d/ { @messages = sum(arg3 - 2); @turns = "
		"count(); } "
		"usdt:%s:actor:dispatcher_yield { @yields = count(); @units = sum(arg2); }'",
		load->pid, path, path, MORE, path, MORE, path);
	program_expect(&witness, witness.out, "Attaching");
	for (int waited = 0; loaded_semaphores(load) < 3 || loaded_traps(load) < 3; waited++) {
		assert_true(waited < 3000);
		usleep(10000);
	}
}

static void tool_start(struct loaded *load, const char *way)
{
	program_start(&tool, "$A export --mode %s -p %d --listen 127.0.0.1:0", way, load->pid);
	program_expect(&tool, tool.err, "/metrics\n");
}

static void read_page(void)
{
	char url[128];

	assert_int_equal(sscanf(strstr(tool.err, "http://"), "%127s", url), 1);
	program_run(&page, "curl -sf %s", url);
	assert_int_equal(page.exit, 0);
}

static void program_and_tool_and_bpftrace_agree(void **state)
{
	static const struct {
		const char *dispatcher, *mode;
		int loops;
	} rows[] = {{"hybrid", "trace", 1}, {"throughput", "trace --perf-events", 3},
		{"throughput", "ledger", 1}, {"hybrid", "ledger --perf-events", 3}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned long handled, turns;
		struct loaded load;

		loaded_start(&load, "dispatcher=%s loops=%d messages=%d", rows[i].dispatcher,
			rows[i].loops, MESSAGES);
		witness_start(&load);
		tool_start(&load, rows[i].mode);
		loaded_say(&load, "go");
		assert_int_equal(
			sscanf(loaded_expect(&load, "done"), "%lu %lu", &handled, &turns), 2);
		read_page();
		kill(witness.pid, SIGINT);
		program_wait(&witness);
		kill(tool.pid, SIGTERM);
		program_wait(&tool);
		print_message("# %lu messages, %lu turns, %lu yields\n", seen("messages"),
			seen("turns"), seen("yields"));

		assert_int_equal(handled, MESSAGES);
		assert_int_equal(seen("mail"), MESSAGES);
		assert_int_equal(seen("messages"), MESSAGES);
		assert_int_equal(metric("actorprobe_records_total"), MESSAGES);
		assert_int_equal(metric("actor_messages_delivered_total"), MESSAGES);
		assert_int_equal(metric("actor_turn_seconds_count"), seen("turns"));
		assert_int_equal(metric("actor_dispatcher_yields_total"), seen("yields"));
		assert_int_equal(seen("units"), seen("turns"));
		if (rows[i].loops == 1) /* else its actors started before, and stopped since */
			assert_int_equal(turns, seen("turns"));
		loaded_stop(&load);
	}
}

static void not_here(void **state)
{
	(void)state;
	print_message(geteuid() ? "SKIP test_witness: attaching needs root\n"
				: "SKIP test_witness: bpftrace is not installed\n");
	skip();
}

int main(void)
{
	const struct CMUnitTest without[] = {cmocka_unit_test(not_here)};
	const struct CMUnitTest tests[] = {cmocka_unit_test(program_and_tool_and_bpftrace_agree)};

	if (geteuid() != 0 || system("command -v bpftrace >/dev/null") != 0)
		return cmocka_run_group_tests(without, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
