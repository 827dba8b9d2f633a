/* SPDX-License-Identifier: MIT */
/* Several collectors on one process at once, and mode ledger on a program that is really busy, at
 * rest, stopped, or in the midst of something. The program's own count is the oracle. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "probe/aggregate.h"
#include "probe/error.h"
#include "tests/collected.h"
#include "tests/loaded.h"
#include "tests/program.h"
#include "tests/sanitized.h"

#define ATTACHED   "observing process"
#define BATCH_MOST 1022 /* messages that one loop may not have handed over yet */

static struct program one, other;

static const char *const workloads[] = {
	"work=backlog messages=100003",		  /* a flood */
	"messages=100003",			  /* volleys */
	"loops=3 messages=20011",		  /* and between loops */
	"work=blocked spin=300000 messages=1009", /* slow handlers */
	"dispatcher=immediate messages=20011",	  /* a pass for each turn */
	"dispatcher=custom messages=20011",
};

#define WORKLOADS (sizeof(workloads) / sizeof(workloads[0]))

/* Index of the bucket that holds a share of all values. */
static size_t bucket_of(const struct collected_histogram *h, double share)
{
	uint64_t below = 0;
	size_t i = 0;

	while (i < BOUNDS_COUNT && (double)(below += h->buckets[i]) < share * (double)h->count)
		i++;
	return i;
}

static void assert_histograms_agree(const char *metric)
{
	static const double shares[] = {0.5, 0.9, 0.99, 0.999};
	struct collected_histogram a = collected_times(one.out, metric, metric);
	struct collected_histogram b = collected_times(other.out, metric, metric);

	assert_int_equal(a.count, b.count);
	assert_true(a.count > 0);
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		size_t x = bucket_of(&a, shares[i]), y = bucket_of(&b, shares[i]);

		assert_in_range(x + 1, y, y + 2);
	}
	assert_true(a.sum > b.sum * 0.999 && a.sum < b.sum * 1.001);
}

/* Both see the whole run. Turns are compared too: they have other records. */
static void observe_twice(const char *mode, const char *other_mode, const char *workload)
{
	struct loaded load;
	struct collected a, b;

	print_message("# %s, %s, %s\n", mode, other_mode, workload);
	loaded_start(&load, "%s", workload);
	program_start(&one, "$A hist -v -j %s --by dispatcher -p %d", mode, load.pid);
	program_start(&other, "$A hist -v -j %s --by dispatcher -p %d", other_mode, load.pid);
	program_expect(&one, one.err, ATTACHED);
	program_expect(&other, other.err, ATTACHED);
	loaded_say(&load, "go");
	loaded_expect(&load, "done");
	kill(one.pid, SIGINT);
	kill(other.pid, SIGINT);
	program_wait(&one);
	program_wait(&other);
	a = collected_account(one.out);
	b = collected_account(other.out);
	assert_int_equal(a.recorded, loaded_handled(&load));
	assert_int_equal(b.recorded, a.recorded);
	assert_int_equal(a.delivered, b.delivered);
	assert_int_equal(a.unstamped + b.unstamped, 0);
	assert_int_equal(a.lost + b.lost, 0);
	assert_histograms_agree("\"actor_mailbox_wait_seconds\"");
	assert_histograms_agree("\"actor_message_handler_seconds\"");
	assert_histograms_agree("\"actor_dispatcher_queue_delay_seconds\"");
	assert_histograms_agree("\"actor_turn_seconds\"");
	assert_int_equal(collected_sum(one.out, "\"actor_turn_messages\"", "sum"), a.recorded);
	assert_int_equal(collected_sum(other.out, "\"actor_turn_messages\"", "sum"), a.recorded);
	loaded_stop(&load);
}

static void both_modes_agree(void **state)
{
	for (size_t i = 0; i < WORKLOADS; i++)
		observe_twice("--mode ledger", "--mode trace", workloads[i]);
	observe_twice("--mode ledger --perf-events", "--mode trace --perf-events", workloads[2]);
}

static void two_ledger_collectors_see_the_same(void **state)
{
	for (size_t i = 0; i < WORKLOADS; i += SANITIZED ? 2 : 1)
		observe_twice("", "--mode ledger", workloads[i]);
	observe_twice("", "--mode ledger --perf-events", workloads[1]);
}

/* The clock that a machine without an invariant time stamp counter has. */
static void the_monotonic_clock_serves_as_well(void **state)
{
	setenv("ACTOR_CLOCK", "monotonic", 1);
	observe_twice("--mode ledger", "--mode trace", workloads[1]);
	unsetenv("ACTOR_CLOCK");
}

/* Nobody reads the ring for seconds while messages come at full speed. */
static void a_stopped_collector_loses_nothing(void **state)
{
	static const char *const ways[] = {"", "--perf-events"};

	for (size_t w = 0; w < 2; w++) {
		struct loaded load;
		struct collected c;

		loaded_start(&load, "messages=0");
		program_start(&one, "$A hist -v -j %s -p %d", ways[w], load.pid);
		program_expect(&one, one.err, ATTACHED);
		loaded_say(&load, "go");
		usleep(200000);
		kill(one.pid, SIGSTOP);
		usleep(3000000);
		kill(one.pid, SIGCONT);
		usleep(200000);
		loaded_say(&load, "stop");
		loaded_expect(&load, "done");
		kill(one.pid, SIGINT);
		program_wait(&one);
		c = collected_account(one.out);
		print_message("# %lu messages, %lu records folded\n", (unsigned long)c.recorded,
			(unsigned long)collected_sum(one.out, "\"folded\"", "folded"));
		assert_int_equal(c.recorded, loaded_handled(&load));
		assert_int_equal(c.delivered, c.recorded);
		assert_int_equal(c.before + c.unstamped + c.lost, 0);
		assert_int_equal(collected_sum(one.out, "\"gaps\"", "gaps"), 0);
		assert_in_range(collected_sum(one.out, "\"folded\"", "folded"), 1, INT64_MAX);
		loaded_stop(&load);
	}
}

/* ---- sessions in this process ---- */

static struct session *session_of(const struct loaded *load)
{
	const struct session_options options = {.pid = load->pid, .mode = AGGREGATE_LEDGER};
	struct session *session = NULL;
	struct error error = {0};

	session_open(&session, &options, &error);
	assert_string_equal(error.text, "");
	return session;
}

static struct aggregate read_of(struct session *session)
{
	struct aggregate a;
	struct error error = {0};

	assert_int_equal(session_read(session, &a, &error), 0);
	assert_int_equal(aggregate_lost_total(&a), 0);
	assert_int_equal(a.delivered, a.recorded + a.unstamped);
	assert_int_equal(a.gaps, 0);
	return a;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Three messages, and then the loop sleeps: what it holds must have been handed over before. */
static void what_precedes_a_long_sleep_is_seen_at_once(void **state)
{
	struct loaded load;
	struct session *session;
	struct aggregate a = {0};
	uint64_t begun;

	loaded_start(&load, "work=backlog messages=3");
	session = session_of(&load);
	loaded_say(&load, "go");
	while (loaded_handled(&load) < 3)
		usleep(1000);
	begun = now_ms();
	do {
		aggregate_fini(&a);
		a = read_of(session);
	} while (a.recorded < 3 && now_ms() - begun < 1000);
	assert_int_equal(a.recorded, 3);
	print_message("# after %lu ms\n", (unsigned long)(now_ms() - begun));
	assert_in_range(now_ms() - begun, 0, 120); /* 20, and what a busy machine adds */
	aggregate_fini(&a);
	session_close(session);
	loaded_stop(&load);
}

/* A handler of four seconds: known as open meanwhile, recorded when it is over. */
static void a_handler_of_four_seconds_is_recorded_when_it_ends(void **state)
{
	struct loaded load;
	struct session *session;
	struct aggregate a;

	loaded_start(&load, "work=backlog messages=1 spin=4000000000");
	session = session_of(&load);
	loaded_say(&load, "go");
	usleep(500000);
	a = read_of(session);
	assert_int_equal(a.recorded, 0);
	assert_non_null(a.loops[0].actor);
	assert_in_range(a.loops[0].open_ns, 200000000, 4000000000);
	aggregate_fini(&a);
	loaded_expect(&load, "done");
	usleep(50000);
	a = read_of(session);
	assert_int_equal(a.recorded, 1);
	for (size_t i = 0; i < a.series_count; i++)
		if (a.series[i].metric == AGGREGATE_HANDLER)
			assert_in_range(a.series[i].histogram.max, 4000000000, 4200000000);
	aggregate_fini(&a);
	session_close(session);
	loaded_stop(&load);
}

/* Comes and goes while turns are open and passes never end: each session adds up, begins behind
 * the one before it, and has nothing of it. */
static void sessions_in_the_midst_of_turns_are_apart(void **state)
{
	static const char *const lines[] = {"messages=0 spin=3000000",
		"dispatcher=microtask messages=0", "loops=3 messages=0 rest=100",
		"work=ring messages=0 dispatcher=immediate"};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct loaded load;
		uint64_t end = 0, recorded = 0;
		int loops = strstr(lines[i], "loops=3") ? 3 : 1;

		print_message("# %s\n", lines[i]);
		loaded_start(&load, "%s", lines[i]);
		loaded_say(&load, "go");
		/* One may see nothing: no CPU for the target, or only mail from before. */
		for (int cycle = 0; cycle < 7 || (!recorded && cycle < 100); cycle++) {
			struct session *session = session_of(&load);
			struct aggregate a;
			uint64_t handled;

			usleep(30000 + (useconds_t)cycle * 1700);
			handled = loaded_handled(&load);
			session_stop(session);
			a = read_of(session);
			recorded += a.recorded;
			if (a.delivered)
				assert_in_range(a.delivered_before, end, loaded_handled(&load));
			assert_true(
				a.delivered_before + a.delivered + (uint64_t)loops * BATCH_MOST >=
				(a.delivered ? handled : 0));
			if (a.delivered)
				end = a.delivered_before + a.delivered;
			assert_true(end <= loaded_handled(&load));
			aggregate_fini(&a);
			session_close(session);
		}
		loaded_say(&load, "stop");
		loaded_expect(&load, "done");
		assert_true(recorded > 0);
		assert_int_equal(loaded_handled(&load), atomic_load(&load.counts->told));
		assert_true(loaded_clean_within(&load, 5000));
		loaded_stop(&load);
	}
}

static void everything_that_attaches(void **state)
{
	print_message("SKIP test_modes: attaching needs root\n");
	skip();
}

int main(void)
{
	const struct CMUnitTest without_root[] = {cmocka_unit_test(everything_that_attaches)};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_modes_agree),
		cmocka_unit_test(two_ledger_collectors_see_the_same),
		cmocka_unit_test(the_monotonic_clock_serves_as_well),
		cmocka_unit_test(a_stopped_collector_loses_nothing),
		cmocka_unit_test(what_precedes_a_long_sleep_is_seen_at_once),
		cmocka_unit_test(a_handler_of_four_seconds_is_recorded_when_it_ends),
		cmocka_unit_test(sessions_in_the_midst_of_turns_are_apart),
	};

	if (geteuid() != 0)
		return cmocka_run_group_tests(without_root, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
