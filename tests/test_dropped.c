/* SPDX-License-Identifier: MIT */
/* Attaches to a program whose mailboxes drop mail and grow long, and compares with what it must be.
 * bpftrace is an independent witness of the probe. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <limits.h>
#include <unistd.h>

#include "runtime/abi.h"
#include "tests/loaded.h"
#include "tests/program.h"

#define HANDLED (5 * LOAD_CAPACITY + 1 + LOAD_DEEP)
#define CHUNK	15 /* messages: how far what is known of a plain mailbox may be off */

static struct program tool, page, witness;

static const struct {
	const char *class_name, *reason;
	enum actor_abi_drop code;
	unsigned long count;
} drops[] = {
	{"head", "drop-head", ACTOR_ABI_DROP_HEAD, LOAD_DROP_HEAD},
	{"new", "drop-new", ACTOR_ABI_DROP_NEW, LOAD_DROP_NEW},
	{"lowest", "drop-head", ACTOR_ABI_DROP_HEAD, LOAD_DROP_LOWEST},
	{"reject", "reject", ACTOR_ABI_DROP_REJECT, LOAD_DROP_REJECT},
	{"giver", "custom", ACTOR_ABI_DROP_CUSTOM, LOAD_DROP_CUSTOM},
	{"loser", "lost", ACTOR_ABI_DROP_LOST, LOAD_DROP_LOST},
};

#define DROPS (sizeof(drops) / sizeof(drops[0]))

/* A sample of the page by family and labels; below 0: there is none. */
static double sample(const char *family, const char *labels)
{
	char start[160];
	const char *at;

	snprintf(start, sizeof(start), "\n%s{%s} ", family, labels);
	at = strstr(page.out, start);
	return at ? strtod(at + strlen(start), NULL) : -1;
}

static bool family_empty(const char *family)
{
	char start[96];

	snprintf(start, sizeof(start), "\n%s{", family);
	return strstr(page.out, start) == NULL;
}

static void read_page(void)
{
	char url[128];

	assert_int_equal(sscanf(strstr(tool.err, "http://"), "%127s", url), 1);
	program_run(&page, "curl -sf %s", url);
	assert_int_equal(page.exit, 0);
}

static void boxes_path(char path[PATH_MAX])
{
	char file[PATH_MAX];

	snprintf(file, sizeof(file), "%s_boxes", loaded_program());
	assert_non_null(realpath(file, path));
}

static void boxes_start(struct loaded *load)
{
	char path[PATH_MAX];

	boxes_path(path);
	loaded_start_file(load, path, "");
}

static void boxes_run(struct loaded *load)
{
	unsigned long handled;

	loaded_say(load, "go");
	assert_int_equal(sscanf(loaded_expect(load, "done"), "%lu", &handled), 1);
	assert_int_equal(handled, HANDLED);
}

static void assert_drops(bool ledger)
{
	for (size_t i = 0; i < DROPS; i++) {
		char labels[96];

		snprintf(labels, sizeof(labels), "class=\"%s\",reason=\"%s\"", drops[i].class_name,
			drops[i].reason);
		if (sample("actor_mailbox_dropped_total", labels) !=
			(ledger ? (double)drops[i].count : -1))
			fail_msg("%s: %g", labels,
				sample("actor_mailbox_dropped_total", labels));
	}
}

static void drops_and_long_mailboxes_are_told_from_outside(void **state)
{
	static const char *const ways[] = {"ledger", "trace", "ledger --perf-events"};

	(void)state;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		bool ledger = ways[i][0] == 'l';
		struct loaded load;

		boxes_start(&load);
		program_start(&tool, "$A export --mode %s -p %d --listen 127.0.0.1:0", ways[i],
			load.pid);
		program_expect(&tool, tool.err, "/metrics\n");
		read_page();
		assert_true(family_empty("actor_mailbox_size"));
		loaded_say(&load, "go");
		loaded_expect(&load, "told");
		usleep(50000);
		read_page();
		/* Nothing runs; what is long now is read from the program's memory. */
		assert_in_range((uint64_t)sample("actor_mailbox_size",
					"class=\"deep\",path=\"/user/deep\""),
			LOAD_DEEP - CHUNK, LOAD_DEEP);
		assert_true(sample("actor_oldest_message_seconds",
				    "dispatcher=\"hybrid\",class=\"deep\"") >= 0.05);
		boxes_run(&load);
		read_page();
		assert_true(family_empty("actor_mailbox_size"));
		assert_true(family_empty("actor_oldest_message_seconds"));
		assert_int_equal(
			sample("actor_messages_delivered_total", "class=\"deep\""), LOAD_DEEP);
		assert_drops(ledger);
		kill(tool.pid, SIGTERM);
		program_wait(&tool);
		loaded_stop(&load);
	}
}

/* What bpftrace counted for a reason. */
static unsigned long seen(const char *map, unsigned int key)
{
	char start[32];
	const char *at;

	snprintf(start, sizeof(start), "\n@%s[%u]: ", map, key);
	at = strstr(witness.out, start);
	return at ? strtoul(at + strlen(start), NULL, 10) : 0;
}

static void each_drop_fires_its_probe(void **state)
{
	struct loaded load;
	char path[PATH_MAX];

	(void)state;
	if (system("command -v bpftrace >/dev/null") != 0) {
		print_message("SKIP %s: bpftrace is not installed\n", __func__);
		skip();
	}
	boxes_path(path);
	boxes_start(&load);
	program_start(&witness,
		"bpftrace -p %d -e 'usdt:%s:actor:drop /arg0 != 0 && arg1 == 0 && arg2 == 1/ "
		"{ @reason[arg3] = count(); @class[arg4] = count(); }'",
		load.pid, path);
	program_expect(&witness, witness.out, "Attaching");
	for (int waited = 0; !loaded_semaphores(&load) || !loaded_traps(&load); waited++) {
		assert_true(waited < 3000);
		usleep(10000);
	}
	loaded_say(&load, "go");
	loaded_expect(&load, "told");
	boxes_run(&load);
	kill(witness.pid, SIGINT);
	program_wait(&witness);
	for (unsigned int code = 1; code <= ACTOR_ABI_DROP_THROTTLE; code++) {
		unsigned long expected = 0;

		for (size_t i = 0; i < DROPS; i++)
			expected += drops[i].code == code ? drops[i].count : 0;
		assert_int_equal(seen("reason", code), expected);
	}
	for (unsigned int i = 0; i < DROPS; i++) /* registered in this order */
		assert_int_equal(seen("class", i + 1), drops[i].count);
	loaded_stop(&load);
}

static void everything_that_attaches(void **state)
{
	(void)state;
	print_message("SKIP test_dropped: attaching needs root\n");
	skip();
}

int main(void)
{
	const struct CMUnitTest without_root[] = {cmocka_unit_test(everything_that_attaches)};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(drops_and_long_mailboxes_are_told_from_outside),
		cmocka_unit_test(each_drop_fires_its_probe),
	};

	if (geteuid() != 0)
		return cmocka_run_group_tests(without_root, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
