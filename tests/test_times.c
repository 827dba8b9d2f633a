/* SPDX-License-Identifier: MIT */
/* Compares the times that actorprobe reports with those that the observed program measured itself.
 *
 * Who measures what. The program reads CLOCK_MONOTONIC right before a tell, as the first and as the
 * last thing in a handler, and, where a dispatcher of its own wraps the real one, in execute and
 * when the unit runs. The runtime's own reads lie just around the handler and just inside the tell
 * and the execute; what lies between the two kinds is some 50 ns of the program's own reads. The
 * traps of the probes (about a microsecond each) fall inside or outside of both: `enqueue` fires
 * after the message's stamp and inside the telling handler, `turn_start` before the first handler
 * and `turn_end` after the last one of a turn.
 *
 * So for each quantile the program's value of the same rank must lie in the bucket of the tool's
 * value, or at most an exponential bucket (9 %) beside it. That is 180 ns for a handler of 2 us,
 * and a machine that is busy takes more from some messages between the two kinds of reads, where
 * only the runtime's see it. The program knows how much, because it also measures the way from one
 * handler to the next inside a turn: what that took beyond its median may lie in a handler as the
 * runtime sees it, and so much later may the 99th percentile be. Between turns lie traps, and there
 * nothing is granted: one row has turns of a single message, where each handler follows a trap.
 * A run whose 99th percentile disagrees is repeated, and that is printed; the median has no second
 * chance. With a sanitizer the runtime's own steps take as long as a short handler, and only the
 * medians of longer ones are compared.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/collected.h"
#include "tests/loaded.h"
#include "tests/program.h"
#include "tests/sanitized.h"

#define ATTACHED "observing process"
#define WAIT	 "\"actor_mailbox_wait_seconds\""
#define HANDLER	 "\"actor_message_handler_seconds\""
#define DELAY	 "\"actor_dispatcher_queue_delay_seconds\""
#define RUNS	 5
#define LONG_NS	 50000
#define EIGHTH	 1.0905077326652577 /* 2^(1/8) */

static struct program tool;
static struct loaded load;

/* How to observe; the text behind it is to be found in what -v says. */
struct way {
	const char *arguments, *says;
};

static struct way ledger = {"--mode ledger", "uprobe_multi links"};
static struct way trace = {"--mode trace", "uprobe_multi links"};
static struct way trace_perf = {"--mode trace --perf-events", "perf events"};

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void sort(struct load_samples *s)
{
	qsort(s->ns, s->count, sizeof(s->ns[0]), compare);
}

/* The bucket of the value with this rank, from 0. */
static size_t bucket_of_rank(const struct collected_histogram *h, uint64_t rank)
{
	uint64_t seen = 0;
	size_t i = 0;

	while (i < BOUNDS_COUNT && (seen += h->buckets[i]) <= rank)
		i++;
	return i;
}

/* Does the tool's quantile agree with the program's sorted samples? `late`: the same, where what
 * only the runtime saw may be added. */
static bool quantile_agrees(const char *what, const struct collected_histogram *h,
	const struct load_samples *own, const struct load_samples *late, double q, double reported)
{
	uint64_t rank = (uint64_t)ceil(q * (double)own->count) - 1; /* the tool's, too */
	size_t bucket = bucket_of_rank(h, rank);
	double from = bucket ? (double)bounds_ns[bucket - 1] : 0;
	double to = (double)bounds_ns[bucket];
	bool agrees =
		(double)late->ns[rank] * EIGHTH > from && (double)own->ns[rank] <= to * EIGHTH;

	print_message("#   %s p%g: program %.3f us, actorprobe %.3f us%s\n", what, q * 100,
		(double)own->ns[rank] / 1e3, reported * 1e6,
		agrees ? "" : ": more than a bucket apart");
	assert_true(bucket < BOUNDS_COUNT);
	/* What is printed lies inside that bucket. */
	assert_true(reported * 1e9 >= from * (1 - 1e-9) && reported * 1e9 <= to * (1 + 1e-9));
	return agrees;
}

/* False: the 99th percentile does not agree. */
static bool histogram_agrees(const char *what, const char *metric, struct load_samples *own,
	const struct load_samples *late)
{
	struct collected_histogram h = collected_times(tool.out, metric, metric);

	assert_true(own->count > 0);
	assert_int_equal(h.count, own->count);
	sort(own);
	if (SANITIZED && own->ns[own->count / 2] < LONG_NS)
		return true;
	assert_true(quantile_agrees(what, &h, own, own, 0.5, h.p50));
	return SANITIZED || quantile_agrees(what, &h, own, late ? late : own, 0.99, h.p99);
}

/* The handlers of a backlog, each with what the way to it took beyond the median. */
static const struct load_samples *handlers_late(unsigned int turn)
{
	static struct load_samples late, inside;
	const struct load_counts *c = load.counts;
	uint64_t median = UINT64_MAX;

	late = c->handler;
	inside.count = 0;
	for (uint32_t i = 0; i < c->between.count; i++)
		if (i % turn)
			inside.ns[inside.count++] = c->between.ns[i];
	sort(&inside);
	if (inside.count)
		median = inside.ns[inside.count / 2];
	for (uint32_t i = 0; i < c->between.count; i++)
		if (i % turn && c->between.ns[i] > median)
			late.ns[i] += c->between.ns[i] - median;
	sort(&late);
	return &late;
}

/* The first turn of each actor starts it; it was asked for before anybody listened. */
static bool delays_agree(void)
{
	struct load_samples *own = &load.counts->delay;

	own->count -= LOAD_ACTORS;
	memmove(own->ns, own->ns + LOAD_ACTORS, own->count * sizeof(own->ns[0]));
	return histogram_agrees("delay", DELAY, own, NULL);
}

/* What the load is to do; messages of `spin_ns` each, or rounds that a unit of `spin_ns` blocks. */
struct row {
	const char *dispatcher;
	unsigned int turn; /* messages per turn at most */
	unsigned int messages, spin_ns;
};

static void tool_starts(const struct way *way)
{
	program_start(&tool, "$A hist %s -v -j --by dispatcher -p %d", way->arguments, load.pid);
	program_expect(&tool, tool.err, ATTACHED);
	assert_non_null(strstr(tool.err, way->says));
}

static void tool_stops(void)
{
	kill(tool.pid, SIGINT);
	program_wait(&tool);
	assert_int_equal(tool.exit, 0);
}

static void observe(const struct way *way, const char *work, const struct row *row)
{
	print_message("# %s, %s, %s, turns of %u, %u of %g us\n", way->arguments, work,
		row->dispatcher, row->turn, row->messages, row->spin_ns / 1e3);
	loaded_start(&load, "work=%s dispatcher=%s turn=%u messages=%u spin=%u", work,
		row->dispatcher, row->turn, row->messages, row->spin_ns);
	tool_starts(way);
	loaded_say(&load, "go");
	loaded_expect(&load, "done");
	tool_stops();
}

/* Observes until all agrees, at most RUNS times. */
static void agrees_in_some_run(const struct way *way, const char *work, const struct row *row,
	bool (*agrees)(const struct row *))
{
	bool fine = false;

	for (int run = 0; run < RUNS && !fine; run++) {
		observe(way, work, row);
		fine = agrees(row);
		if (!fine)
			print_message("#   run %d of at most %d disagrees\n", run + 1, RUNS);
		loaded_stop(&load);
	}
	assert_true(fine);
}

static bool backlog_agrees(const struct row *row)
{
	uint64_t n = row->messages;
	const struct load_samples *late = handlers_late(row->turn);
	bool handlers = histogram_agrees("handler", HANDLER, &load.counts->handler, late);
	bool waits = histogram_agrees("wait", WAIT, &load.counts->wait, NULL);

	assert_int_equal(
		collected_sum(tool.out, "\"actor_mailbox_depth\"", "sum"), n * (n + 1) / 2);
	assert_int_equal(collected_sum(tool.out, "\"actor_mailbox_depth\"", "max"), n);
	return handlers && waits;
}

/* A mailbox that was filled before its loop runs: the wait grows by a handler with each message,
 * and the depth at each delivery is known exactly. */
static void a_backlog_is_timed_as_the_program_does(void **state)
{
	static const struct row rows[] = {{"hybrid", 1, 4001, 2000}, {"hybrid", 16, 4001, 2000},
		{"hybrid", 16, 1009, 50000}, {"hybrid", 16, 251, 1000000},
		{"hybrid", 16, 23, 20000000}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		agrees_in_some_run(*state, "backlog", &rows[i], backlog_agrees);
}

static bool ring_agrees(const struct row *row)
{
	bool handlers = histogram_agrees("handler", HANDLER, &load.counts->handler, NULL);
	bool waits = histogram_agrees("wait", WAIT, &load.counts->wait, NULL);

	(void)row;
	return delays_agree() && handlers && waits;
}

/* Tokens that go round: each wait is short, and each handler tells, which takes the trap of
 * `enqueue`; both clocks see it. */
static void a_ring_is_timed_as_the_program_does(void **state)
{
	static const struct row rows[] = {{"custom", 16, 4001, 2000}, {"custom", 16, 1009, 50000}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		agrees_in_some_run(*state, "ring", &rows[i], ring_agrees);
}

static bool blocked_agrees(const struct row *row)
{
	struct collected_histogram h = collected_times(tool.out, DELAY, DELAY);

	(void)row;
	assert_true(h.p50 > 0.02 && h.p50 < 1);
	return delays_agree();
}

/* One unit of 20 ms in front of ten others. */
static void a_blocked_dispatcher_delays_the_others(void **state)
{
	static const struct row rows[] = {{"hybrid", 16, 7, 20000000}, {"custom", 16, 7, 20000000},
		{"microtask", 16, 7, 20000000}, {"immediate", 16, 7, 20000000},
		{"throughput", 16, 7, 20000000}};
	size_t count = SANITIZED || *state == &trace_perf ? 2 : sizeof(rows) / sizeof(rows[0]);

	for (size_t i = 0; i < count; i++)
		agrees_in_some_run(*state, "blocked", &rows[i], blocked_agrees);
}

/* A long turn that is under way when the attach comes: its first message tells the others, which
 * have a stamp, and those of its second batch are observed. Nothing was timed before them. */
static void a_turn_that_is_noticed_late_times_its_handlers(void **state)
{
	struct collected_histogram h;
	struct collected account;

	loaded_start(&load, "work=inside turn=199 messages=199 spin=50000");
	loaded_say(&load, "go");
	loaded_expect(&load, "inside");
	tool_starts(*state);
	loaded_say(&load, "go");
	loaded_expect(&load, "done");
	tool_stops();
	account = collected_account(tool.out);
	h = collected_times(tool.out, HANDLER, HANDLER);
	assert_int_equal(account.before + account.delivered, 199);
	assert_in_range(account.before, 1, 198);
	assert_int_equal(account.lost, 0);
	assert_int_equal(h.count, account.delivered);
	assert_true(h.p50 >= 0.00005 && h.max < 1);
	loaded_stop(&load);
}

static void everything_that_attaches(void **state)
{
	print_message("SKIP test_times: attaching needs root\n");
	skip();
}

#define IN_EVERY_WAY(test)                                                                         \
	cmocka_unit_test_prestate(test, &ledger), cmocka_unit_test_prestate(test, &trace),         \
		cmocka_unit_test_prestate(test, &trace_perf)

int main(void)
{
	const struct CMUnitTest without_root[] = {cmocka_unit_test(everything_that_attaches)};
	const struct CMUnitTest tests[] = {
		IN_EVERY_WAY(a_backlog_is_timed_as_the_program_does),
		IN_EVERY_WAY(a_ring_is_timed_as_the_program_does),
		IN_EVERY_WAY(a_blocked_dispatcher_delays_the_others),
		IN_EVERY_WAY(a_turn_that_is_noticed_late_times_its_handlers),
	};

	if (geteuid() != 0)
		return cmocka_run_group_tests(without_root, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
