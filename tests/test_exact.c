/* SPDX-License-Identifier: MIT */
/* Attaches actorprobe to a program and compares its counts with the program's own, exactly.
 *
 * Three counts are independent of each other: the program's, by its handlers; the loops' own
 * counters, which each batch begins with; the records that reached the histograms.
 */
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
#include "tests/sanitized.h"

#define ATTACHED "observing process"
#define DELAY	 "\"actor_dispatcher_queue_delay_seconds\""
#define OPEN	 62 /* most messages of one loop that are handled and not yet handed over */

static struct program tool;

#define WAYS	  4
#define PERF_WAYS 2 /* from here on by perf events */

static const char *const ways[WAYS] = {"--mode trace", "--mode ledger",
	"--mode trace --perf-events", "--mode ledger --perf-events"};
static const char *const dispatchers[] = {
	"hybrid", "microtask", "immediate", "throughput", "custom"};

/* Most messages of one loop that are handled and not yet handed over: a batch, or a ledger. */
static uint64_t open_of(const char *way)
{
	return strstr(way, "ledger") ? 1024 : 62;
}

static void assert_histograms(const struct collected *c)
{
	static const char *const metrics[] = {"\"actor_mailbox_wait_seconds\"",
		"\"actor_message_handler_seconds\"", "\"actor_mailbox_depth\""};

	assert_int_equal(c->delivered, c->recorded + c->unstamped + c->lost);
	assert_int_equal(c->lost, 0);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(collected_sum(tool.out, metrics[i], "count"), c->recorded);
}

/* From before the first to after the last message. */
static void count_all(const char *dispatcher, int loops, const char *way, uint64_t messages)
{
	struct loaded load;
	struct collected c;

	loaded_start(&load, "dispatcher=%s loops=%d messages=%lu", dispatcher, loops,
		(unsigned long)messages);
	program_start(&tool, "$A hist -v -j %s -p %d", way, load.pid);
	program_expect(&tool, tool.err, ATTACHED);
	loaded_say(&load, "go");
	loaded_expect(&load, "done");
	kill(tool.pid, SIGINT);
	program_wait(&tool);
	assert_int_equal(tool.exit, 0);
	assert_int_equal(loaded_handled(&load), messages);
	c = collected_account(tool.out);
	assert_int_equal(c.recorded, messages);
	assert_int_equal(c.delivered, messages);
	assert_int_equal(c.unstamped, 0);
	assert_int_equal(c.before, 0);
	assert_histograms(&c);
	/* A turn's count of messages is another field of another record. */
	assert_int_equal(collected_sum(tool.out, "\"actor_turn_messages\"", "sum"), messages);
	/* A loop of the program's own starts its actors only now; those turns were asked for before
	 * anybody listened. */
	assert_int_equal(collected_sum(tool.out, "\"actor_turn_seconds\"", "count") -
				 collected_sum(tool.out, DELAY, "count"),
		loops == 1 ? LOAD_ACTORS : 0);
	loaded_stop(&load);
}

static void each_dispatcher_is_counted_exactly(void **state)
{
	static const uint64_t primes[WAYS] = {20011, 100003, 10007, 40009};

	for (size_t w = 0; w < WAYS; w++)
		for (size_t d = 0; d < sizeof(dispatchers) / sizeof(dispatchers[0]); d++)
			for (int loops = 1; loops <= 3; loops += 2) {
				if (w >= PERF_WAYS && (d + (size_t)loops / 2) % 2)
					continue; /* slow to detach: every other one */
				if (SANITIZED && (w + d + (size_t)loops / 2) % 3)
					continue; /* slow throughout: every third one */
				print_message(
					"# %s, %d loops %s\n", dispatchers[d], loops, ways[w]);
				count_all(dispatchers[d], loops, ways[w], primes[w]);
			}
}

/* Those of the examples: the name is the wrapper's, not that of the dispatcher below. */
static void example_dispatchers_are_named_and_counted_exactly(void **state)
{
	static const char *const names[] = {"tracing", "metering", "fastlane"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char label[64];

		count_all(names[i], i % 2 ? 1 : 3, ways[i % PERF_WAYS], 10007);
		snprintf(label, sizeof(label), "\"%s\"", names[i]);
		assert_true(collected_times(tool.out, DELAY, label).count > 0);
		assert_int_equal(collected_times(tool.out, DELAY, "\"inner\"").count, 0);
	}
}

/* Waits until the program has handled more than `count`; a busy machine may take its time. */
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

/* Attached to a program that runs already, and left before it ends. The program's own count is read
 * before and after each of the two marks, which must lie between. */
static void count_middle(const char *dispatcher, int loops, const char *way, const char *seconds)
{
	struct loaded load;
	struct collected c;
	uint64_t open = (uint64_t)loops * open_of(way);
	uint64_t before_attach, attached, leaving, left, total;

	loaded_start(&load, "dispatcher=%s loops=%d messages=0", dispatcher, loops);
	loaded_say(&load, "go");
	before_attach = handled_beyond(&load, 1000);
	program_start(&tool, "$A hist -v -j %s -p %d", way, load.pid);
	program_expect(&tool, tool.err, ATTACHED);
	usleep((useconds_t)(atof(seconds) * 1e6));
	attached = loaded_handled(&load);
	leaving = handled_beyond(&load, attached);
	kill(tool.pid, SIGINT);
	program_wait(&tool);
	left = loaded_handled(&load);
	assert_int_equal(tool.exit, 0);
	handled_beyond(&load, left);
	loaded_say(&load, "stop");
	loaded_expect(&load, "done");
	total = loaded_handled(&load);

	c = collected_account(tool.out);
	assert_histograms(&c);
	assert_true(c.recorded > 0);
	assert_in_range(c.before + open, before_attach, attached);
	assert_in_range(c.before + c.delivered + open, leaving, left + open);
	assert_in_range(total, left + 1, UINT64_MAX);
	assert_int_equal(
		c.before + c.recorded + c.unstamped + c.lost + (total - (c.before + c.delivered)),
		total);
	print_message("# %s, %d loops %s: %lu before, %lu recorded, %lu unstamped, %lu after\n",
		dispatcher, loops, way, (unsigned long)c.before, (unsigned long)c.recorded,
		(unsigned long)c.unstamped, (unsigned long)(total - c.before - c.delivered));
	loaded_stop(&load);
}

static void a_part_of_a_run_adds_up_with_the_rest(void **state)
{
	for (size_t w = 0; w < WAYS; w++)
		for (size_t d = 0; d < sizeof(dispatchers) / sizeof(dispatchers[0]); d++)
			if ((w < PERF_WAYS || d < 2) && (!SANITIZED || (w + d) % 3 == 0))
				count_middle(dispatchers[d], d % 2 ? 1 : 3, ways[w], "0.2");
}

/* Mail that was told before the attach: it has no stamp, is counted, and goes into no histogram. */
static void mail_from_before_the_attach_is_unstamped(void **state)
{
	for (size_t w = 0; w < WAYS; w++) {
		struct loaded load;
		struct collected c;

		loaded_start(&load, "work=backlog spin=2000000 messages=1009");
		loaded_say(&load, "go");
		usleep(50000);
		program_start(&tool, "$A hist -v -j %s -p %d", ways[w], load.pid);
		program_expect(&tool, tool.err, ATTACHED);
		loaded_expect(&load, "done");
		kill(tool.pid, SIGINT);
		program_wait(&tool);
		c = collected_account(tool.out);
		assert_int_equal(c.recorded, 0);
		assert_int_equal(c.lost, 0);
		assert_true(c.before > 0 && c.unstamped > 0);
		assert_int_equal(c.unstamped, c.delivered);
		assert_int_equal(c.before + c.unstamped, 1009);
		loaded_stop(&load);
	}
}

/* All happens in one pass of the loop, which looks at its listeners between passes: what it
 * recorded for one of them must not be given to the next. */
static void one_listener_follows_another_within_a_pass(void **state)
{
	struct loaded load;

	(void)state;
	loaded_start(&load, "work=backlog spin=2000000 messages=2003");
	loaded_say(&load, "go");
	for (int i = 0; i < 4; i++) {
		struct collected c;

		program_run(&tool, "$A hist -j --mode %s -d 0.1 -p %d", i == 2 ? "trace" : "ledger",
			load.pid);
		assert_int_equal(tool.exit, 0);
		c = collected_account(tool.out);
		print_message("# %lu before, %lu unstamped of %lu\n", (unsigned long)c.before,
			(unsigned long)c.unstamped, (unsigned long)c.delivered);
		assert_int_equal(c.delivered, c.unstamped);
		assert_int_equal(c.recorded + c.lost, 0);
		usleep(100000);
	}
	assert_in_range(loaded_handled(&load), 1, 2002);
	loaded_stop(&load);
}

static void everything_that_attaches(void **state)
{
	print_message("SKIP test_exact: attaching needs root\n");
	skip();
}

int main(void)
{
	const struct CMUnitTest without_root[] = {cmocka_unit_test(everything_that_attaches)};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_dispatcher_is_counted_exactly),
		cmocka_unit_test(example_dispatchers_are_named_and_counted_exactly),
		cmocka_unit_test(a_part_of_a_run_adds_up_with_the_rest),
		cmocka_unit_test(mail_from_before_the_attach_is_unstamped),
		cmocka_unit_test(one_listener_follows_another_within_a_pass),
	};

	if (geteuid() != 0)
		return cmocka_run_group_tests(without_root, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
