/* SPDX-License-Identifier: MIT */
/* Attaches to a child that runs the real runtime and compares counts and times with its own. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "probe/aggregate.h"
#include "probe/error.h"
#include "runtime/actor.h"

#define TOKENS 7

/* ---- the child: tokens go round between actors until each has made its hops ---- */

struct token {
	uint32_t hops;
	uint32_t spin_ns;
};

static struct actor_type token_type = ACTOR_TYPE("token");
static actor_ref ring[64];
static int ring_count;
static atomic_ulong handled, finished;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int pass_on(struct actor_ctx *ctx, const struct actor_message *message)
{
	struct token token = *(const struct token *)message->payload;
	int at = 0;

	atomic_fetch_add(&handled, 1);
	for (uint64_t until = now_ns() + token.spin_ns; token.spin_ns && now_ns() < until;)
		;
	if (--token.hops == 0) {
		atomic_fetch_add(&finished, 1);
		return 0;
	}
	while (ring[at] != actor_self(ctx))
		at++;
	return actor_tell(ctx, ring[(at + 1 + (int)token.hops % 3) % ring_count], &token_type,
		&token, sizeof(token));
}

static struct actor_class passer = {
	.size = sizeof(passer), .name = "passer", .on_message = pass_on};

static void child_main(int in, int out, int loops)
{
	struct actor_system_options options = {
		.size = sizeof(options), .loops = loops, .name = "exact"};
	struct actor_system *system;
	FILE *commands = fdopen(in, "r");
	unsigned int n, spin;

	if (actor_system_open(&system, &options) < 0)
		_exit(3);
	for (int kind = 0; kind < 4; kind++)
		for (int i = 0; i < 2 * loops; i++) {
			struct actor_dispatcher_spec spec;
			struct actor_spawn_options spawn = {
				.size = sizeof(spawn), .loop = i % loops + 1, .dispatcher = &spec};

			if (kind == 0)
				actor_dispatcher_hybrid(&spec, 64, NULL);
			else if (kind == 1)
				actor_dispatcher_microtask(&spec, NULL);
			else if (kind == 2)
				actor_dispatcher_immediate(&spec, NULL);
			else
				actor_dispatcher_throughput(&spec, 16, NULL);
			if (actor_system_spawn(system, &passer, &spawn, &ring[ring_count++]) < 0)
				_exit(4);
		}
	dprintf(out, "ready\n");
	while (fscanf(commands, "%u %u", &n, &spin) == 2) {
		uint64_t before = atomic_load(&finished);

		for (unsigned int t = 0; t < TOKENS; t++) {
			struct token token = {n / TOKENS + (t == 0 ? n % TOKENS : 0), spin};

			actor_system_tell(system, ring[t % (unsigned int)ring_count], &token_type,
				&token, sizeof(token));
		}
		while (spin != 1 && atomic_load(&finished) < before + TOKENS)
			usleep(500);
		dprintf(out, "%lu\n", atomic_load(&handled));
	}
	actor_system_close_wait(system);
	_exit(0);
}

/* ---- the parent ---- */

struct child {
	pid_t pid;
	FILE *in, *out;
};

static void child_start(struct child *c, int loops)
{
	int to[2], from[2];
	char line[64];

	assert_int_equal(pipe2(to, O_CLOEXEC), 0);
	assert_int_equal(pipe2(from, O_CLOEXEC), 0);
	fflush(NULL);
	c->pid = fork();
	if (c->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(to[1]);
		close(from[0]);
		child_main(to[0], from[1], loops);
	}
	close(to[0]);
	close(from[1]);
	c->in = fdopen(to[1], "w");
	c->out = fdopen(from[0], "r");
	assert_non_null(fgets(line, sizeof(line), c->out));
}

static uint64_t child_run(struct child *c, unsigned int messages, unsigned int spin_ns)
{
	char line[64];

	fprintf(c->in, "%u %u\n", messages, spin_ns);
	fflush(c->in);
	assert_non_null(fgets(line, sizeof(line), c->out));
	return strtoull(line, NULL, 10);
}

static void child_stop(struct child *c)
{
	fclose(c->in);
	fclose(c->out);
	kill(c->pid, SIGKILL);
	waitpid(c->pid, NULL, 0);
}

static struct session *attach(pid_t pid, bool perf)
{
	struct session_options options = {.pid = pid, .force_perf = perf};
	struct session *session = NULL;
	struct error error = {0};

	session_open(&session, &options, &error);
	assert_string_equal(error.text, "");
	return session;
}

static void read_all(struct session *s, struct aggregate *a)
{
	struct error error = {0};

	aggregate_fini(a);
	assert_int_equal(session_read(s, a, &error), 0);
}

static uint64_t histogram_total(const struct aggregate *a, enum aggregate_metric metric)
{
	uint64_t total = 0;

	for (size_t i = 0; i < a->series_count; i++)
		if (a->series[i].metric == metric)
			total += a->series[i].histogram.count;
	return total;
}

static void assert_adds_up(const struct aggregate *a)
{
	assert_int_equal(a->delivered, a->recorded + a->unstamped + aggregate_lost_total(a));
	assert_int_equal(histogram_total(a, AGGREGATE_WAIT), a->recorded);
	assert_int_equal(histogram_total(a, AGGREGATE_HANDLER), a->recorded);
	assert_int_equal(histogram_total(a, AGGREGATE_DEPTH), a->recorded);
}

#define SKIP_WITHOUT_ROOT()                                                                        \
	do {                                                                                       \
		if (geteuid() != 0) {                                                              \
			print_message("SKIP %s: attaching needs root\n", __func__);                \
			skip();                                                                    \
		}                                                                                  \
	} while (0)

static void a_prime_number_of_messages_is_counted_exactly(void **state)
{
	static const unsigned int primes[] = {100003, 10007};

	(void)state;
	SKIP_WITHOUT_ROOT();
	for (int loops = 1; loops <= 3; loops += 2)
		for (int perf = 0; perf < 2; perf++) {
			struct aggregate a = {0};
			struct session *session;
			struct child c;
			uint64_t messages = 0;

			child_start(&c, loops);
			session = attach(c.pid, perf);
			assert_int_equal(child_run(&c, primes[perf], 0), primes[perf]);
			session_stop(session);
			read_all(session, &a);
			print_message("%d loops, %s: %lu delivered, %lu clamped\n", loops,
				perf ? "perf" : "multi", a.delivered, a.clamped);
			assert_int_equal(a.recorded, primes[perf]);
			assert_int_equal(a.delivered, primes[perf]);
			assert_int_equal(aggregate_lost_total(&a) + a.unstamped, 0);
			assert_adds_up(&a);
			for (size_t i = 0; i < a.series_count; i++)
				if (a.series[i].metric == AGGREGATE_TURN_MESSAGES)
					messages += a.series[i].histogram.sum;
			assert_int_equal(messages, primes[perf]);
			assert_int_equal(histogram_total(&a, AGGREGATE_TURN),
				histogram_total(&a, AGGREGATE_DELAY));
			session_close(session);
			aggregate_fini(&a);
			child_stop(&c);
		}
}

static void attaching_in_the_middle_adds_up(void **state)
{
	struct child c;

	(void)state;
	SKIP_WITHOUT_ROOT();
	child_start(&c, 3);
	for (int perf = 0; perf < 2; perf++) {
		child_run(&c, 400000000, 1); /* does not wait for the end */
		for (int i = 0; i < 10; i++) {
			struct aggregate a = {0};
			struct session *session = attach(c.pid, perf);

			usleep(20000);
			read_all(session, &a);
			assert_int_equal(
				a.delivered, a.recorded + a.unstamped + aggregate_lost_total(&a));
			session_stop(session);
			read_all(session, &a);
			assert_true(a.recorded > 0);
			assert_int_equal(aggregate_lost_total(&a), 0);
			assert_adds_up(&a);
			session_close(session);
			aggregate_fini(&a);
		}
	}
	child_stop(&c);
}

/* Value below which the share `q` lies, as the upper bound of its bucket. */
static uint64_t quantile(const struct aggregate_histogram *h, double q)
{
	uint64_t rank = (uint64_t)(q * (double)h->count), seen = 0;
	int i = 0;

	while (i < BOUNDS_COUNT && (seen += h->buckets[i]) <= rank)
		i++;
	return bounds_ns[i < BOUNDS_COUNT ? i : BOUNDS_COUNT - 1];
}

static void known_handler_times_are_found_again(void **state)
{
	static const unsigned int spins[] = {2000, 50000, 1000000, 20000000};

	(void)state;
	SKIP_WITHOUT_ROOT();
	for (size_t i = 0; i < sizeof(spins) / sizeof(spins[0]); i++) {
		struct aggregate a = {0};
		struct session *session;
		struct child c;

		child_start(&c, 1);
		session = attach(c.pid, false);
		child_run(&c, spins[i] > 1000000 ? 29 : 211, spins[i]);
		session_stop(session);
		read_all(session, &a);
		for (size_t k = 0; k < a.series_count; k++) {
			const struct aggregate_histogram *h = &a.series[k].histogram;

			if (a.series[k].metric != AGGREGATE_HANDLER || h->count < 5)
				continue;
			print_message("%s: p50 %lu of %u\n", a.series[k].dispatcher,
				quantile(h, 0.5), spins[i]);
			/* The handler tells the next one: the trap of `enqueue` is part of it. */
			assert_in_range(quantile(h, 0.5), spins[i], spins[i] * 1.25 + 5000);
			assert_true(h->sum >= h->count * spins[i]);
		}
		session_close(session);
		aggregate_fini(&a);
		child_stop(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_prime_number_of_messages_is_counted_exactly),
		cmocka_unit_test(attaching_in_the_middle_adds_up),
		cmocka_unit_test(known_handler_times_are_found_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
