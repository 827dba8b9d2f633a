/* SPDX-License-Identifier: MIT */
/* Pending and stashed messages, counted exactly from outside: with their time from the handler's
 * start to its end, once each, in both modes, over a whole run and over a part of one. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <unistd.h>

#include "tests/collected.h"
#include "tests/loaded.h"
#include "tests/program.h"

#define ATTACHED "observing process"
#define HANDLER	 "\"actor_message_handler_seconds\""

static struct program tool;

static const struct {
	const char *way;
	uint64_t open; /* most messages of one loop that are handled and not yet handed over */
	uint64_t messages;
} ways[] = {
	{"--mode trace", 62, 20011},
	{"--mode ledger", 1024, 60013},
	{"--mode ledger --perf-events", 1024, 20021},
};

#define WAYS (sizeof(ways) / sizeof(ways[0]))

static void start(struct loaded *load, int loops, uint64_t messages)
{
	char program[512], arguments[128];

	snprintf(program, sizeof(program), "%s_open", loaded_program());
	snprintf(arguments, sizeof(arguments), "loops=%d messages=%lu", loops,
		(unsigned long)messages);
	loaded_start_file(load, program, arguments);
}

static void attach(const struct loaded *load, size_t way)
{
	program_start(&tool, "$A hist -v -j %s -p %d", ways[way].way, load->pid);
	program_expect(&tool, tool.err, ATTACHED);
}

static struct collected leave(void)
{
	struct collected c;

	kill(tool.pid, SIGINT);
	program_wait(&tool);
	assert_int_equal(tool.exit, 0);
	c = collected_account(tool.out);
	assert_int_equal(c.lost, 0);
	assert_int_equal(c.delivered, c.recorded + c.unstamped);
	assert_int_equal(collected_sum(tool.out, HANDLER, "count"), c.recorded);
	assert_int_equal(
		collected_sum(tool.out, "\"actor_mailbox_wait_seconds\"", "count"), c.recorded);
	assert_int_equal(collected_sum(tool.out, "\"actor_mailbox_depth\"", "count"), c.recorded);
	return c;
}

static void a_whole_run_is_counted_exactly(void **state)
{
	(void)state;
	for (size_t way = 0; way < WAYS; way++)
		for (int loops = 1; loops <= 3; loops += 2) {
			struct collected_histogram handler;
			struct loaded load;
			struct collected c;

			print_message("# %d loops %s\n", loops, ways[way].way);
			start(&load, loops, ways[way].messages);
			attach(&load, way);
			loaded_say(&load, "go");
			loaded_expect(&load, "done");
			c = leave();
			assert_int_equal(loaded_handled(&load), ways[way].messages);
			assert_int_equal(c.recorded, ways[way].messages);
			assert_int_equal(c.unstamped, 0);
			assert_int_equal(c.before, 0);
			assert_int_equal(collected_sum(tool.out, "\"actor_turn_messages\"", "sum"),
				ways[way].messages);
			handler = collected_times(tool.out, HANDLER, "\"open\"");
			/* What the runtime measures encloses what the handlers did. */
			if (loops == 1)
				assert_true(handler.sum * 1e9 >=
					    (double)load.counts->handler.sum_ns * 0.999);
			loaded_stop(&load);
		}
}

static uint64_t handled_beyond(const struct loaded *load, uint64_t count)
{
	uint64_t handled = loaded_handled(load);

	for (int i = 0; i < 20000 && handled <= count; i++) {
		usleep(1000);
		handled = loaded_handled(load);
	}
	assert_true(handled > count);
	return handled;
}

/* Handlers are pending when the listening begins, and when it ends. */
static void a_part_of_a_run_adds_up(void **state)
{
	(void)state;
	for (size_t way = 0; way < WAYS; way++)
		for (int loops = 1; loops <= 3; loops += 2) {
			uint64_t open = (uint64_t)loops * ways[way].open + LOAD_OPEN;
			uint64_t before, attached, leaving, left;
			struct loaded load;
			struct collected c;

			start(&load, loops, 0);
			loaded_say(&load, "go");
			before = handled_beyond(&load, 1000);
			attach(&load, way);
			usleep(200000);
			attached = loaded_handled(&load);
			leaving = handled_beyond(&load, attached);
			c = leave();
			left = loaded_handled(&load);
			print_message("# %d loops %s: %lu before, %lu recorded, %lu unstamped\n",
				loops, ways[way].way, (unsigned long)c.before,
				(unsigned long)c.recorded, (unsigned long)c.unstamped);
			assert_true(c.recorded > 0);
			/* Only what was told or begun before the attach. */
			assert_in_range(c.unstamped, 0, 2 * LOAD_OPEN);
			assert_in_range(c.before + open, before, attached + open);
			assert_in_range(c.before + c.delivered + open, leaving, left + 2 * open);
			handled_beyond(&load, left);
			loaded_say(&load, "stop");
			loaded_expect(&load, "done");
			loaded_stop(&load);
		}
}

static void everything_that_attaches(void **state)
{
	print_message("SKIP test_exact_open: attaching needs root\n");
	skip();
}

int main(void)
{
	const struct CMUnitTest without_root[] = {cmocka_unit_test(everything_that_attaches)};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_run_is_counted_exactly),
		cmocka_unit_test(a_part_of_a_run_adds_up),
	};

	if (geteuid() != 0)
		return cmocka_run_group_tests(without_root, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
