/* SPDX-License-Identifier: MIT */
/* Mode ledger against hand-made hand-overs: every number exactly, whatever way a batch takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/maps.h"
#include "probe/aggregate.h"
#include "probe/error.h"
#include "runtime/abi.h"
#include "tests/fake.h"
#include "tests/fixture.h"

static void begin(struct fixture *f, struct session_options options)
{
	memset(f, 0, sizeof(*f));
	fake_start(&f->fake, "monotonic");
	fixture_open(f, AGGREGATE_LEDGER, options);
}

static void read_session(struct fixture *f)
{
	aggregate_fini(&f->a);
	assert_int_equal(session_read(f->session, &f->a, &f->error), 0);
	assert_int_equal(
		f->a.delivered, f->a.recorded + f->a.unstamped + aggregate_lost_total(&f->a));
}

static void end(struct fixture *f)
{
	session_close(f->session);
	aggregate_fini(&f->a);
	fake_stop(&f->fake);
}

static const struct aggregate_histogram *find(
	const struct aggregate *a, enum aggregate_metric metric, const char *class_name)
{
	for (size_t i = 0; i < a->series_count; i++)
		if (a->series[i].metric == metric &&
			(!class_name || strcmp(a->series[i].class_name, class_name) == 0))
			return &a->series[i].histogram;
	fail_msg("no such series");
	return NULL;
}

static uint64_t counted(const struct aggregate *a, enum aggregate_family family, const char *name,
	const char *reason)
{
	uint64_t total = 0;

	for (size_t i = 0; i < a->counter_count; i++) {
		const struct aggregate_counter *c = &a->counters[i];

		if (c->family == family &&
			strcmp(c->class_name ? c->class_name : c->dispatcher, name) == 0 &&
			(!reason || strcmp(c->reason, reason) == 0))
			total += c->value;
	}
	return total;
}

static void every_bound_is_where_bpf_has_it(void **state)
{
	struct fixture f;

	begin(&f, (struct session_options){0});
	for (int i = 0; i < BOUNDS_COUNT; i++) {
		fake_tell(&f.fake, "message 1 1 %lu %lu 1 0", bounds_ns[i], bounds_ns[i] + 1);
		if (i % 50 == 0)
			fake_tell(&f.fake, "over");
	}
	fake_tell(&f.fake, "over");
	read_session(&f);
	assert_int_equal(f.a.recorded, BOUNDS_COUNT);
	assert_int_equal(f.a.folded, 0);
	for (int i = 0; i < BOUNDS_COUNT; i++) {
		uint64_t above = 0;

		for (int k = 0; k < BOUNDS_COUNT; k++)
			above += bounds_ns[k] + 1 <= bounds_ns[i] &&
				 (i == 0 || bounds_ns[k] + 1 > bounds_ns[i - 1]);
		assert_int_equal(find(&f.a, AGGREGATE_WAIT, "alpha")->buckets[i], 1);
		assert_int_equal(find(&f.a, AGGREGATE_HANDLER, "alpha")->buckets[i], above);
	}
	end(&f);
}

/* Sizes around those of the reservations. */
static void batches_of_every_size_are_exact(void **state)
{
	static const int sizes[] = {
		0, 1, 7, 8, 9, 31, 32, 33, 127, 128, 129, 511, 512, 513, 1021, 1022, 1023, 1024};
	struct fixture f;

	for (int perf = 0; perf < 2; perf++) {
		uint64_t sum = 0;

		print_message("# by %s\n", ways[perf]);
		begin(&f, (struct session_options){.force_perf = perf});
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			fake_tell(&f.fake, "fill %d 1", sizes[i]);
			sum += sizes[i];
			read_session(&f);
			assert_int_equal(f.a.recorded, sum);
		}
		assert_int_equal(find(&f.a, AGGREGATE_WAIT, "alpha")->sum, sum * 1000);
		assert_int_equal(f.a.gaps, 0);
		end(&f);
	}
}

static void hostile_hand_overs_are_lost_by_format(void **state)
{
	struct fixture f;
	uint64_t lost = 0;

	for (int perf = 0; perf < 2; perf++) {
		begin(&f, (struct session_options){.force_perf = perf});
		for (int field = 0; field < 3; field++) {
			fake_tell(&f.fake, "header %d 1", field);
			fake_tell(&f.fake, "fill 13 1");
			fake_tell(&f.fake, "header %d 0", field);
		}
		lost = 3 * 13;
		fake_tell(&f.fake, "fire 0 0 3 0"); /* shorter than a header */
		fake_tell(&f.fake, "fire 0 63 3 0");
		fake_tell(&f.fake, "fire 0 32864 3 1"); /* a record too many */
		fake_tell(&f.fake, "fire 0 -1 3 1");
		fake_tell(&f.fake, "fire 0 96 3 2"); /* more messages than records */
		lost += 5;
		read_session(&f);
		assert_int_equal(f.a.lost[AGGREGATE_LOST_FORMAT], lost);
		fake_tell(&f.fake, "fire 0 96 256 1"); /* no such loop */
		fake_tell(&f.fake, "fire 0 96 -1 1");
		fake_tell(&f.fake, "raw 0 1 2 3");
		fake_tell(&f.fake, "raw 255 -1 -1 -1");
		fake_tell(&f.fake, "raw 6 0 0 0"); /* a mark is trace mode's */
		fake_tell(&f.fake, "message 77 1 1 1 1 0");
		fake_tell(&f.fake, "raw 4 -1 5 5"); /* a loop that cannot be */
		fake_tell(&f.fake, "raw %lu -1 -1 -1", (uint64_t)ACTOR_ABI_LIFE | 999 << 16);
		fake_tell(&f.fake, "raw 3 -1 -1 -1");
		fake_tell(&f.fake, "over");
		read_session(&f);
		assert_int_equal(f.a.lost[AGGREGATE_LOST_FORMAT], lost + 2);
		assert_int_equal(f.a.recorded, 1);
		end(&f);
	}
}

static void pages_that_are_away_are_lost_by_copy(void **state)
{
	struct fixture f;

	for (int perf = 0; perf < 2; perf++) {
		begin(&f, (struct session_options){.force_perf = perf});
		fake_tell(&f.fake, "fill 5 1");
		fake_tell(&f.fake, "unmap 1");
		fake_tell(&f.fake, "unmap 2");
		fake_tell(&f.fake, "fire %lu 96 3 1", f.fake.hole);
		fake_tell(&f.fake, "fire -64 96 3 1");
		read_session(&f);
		assert_int_equal(f.a.lost[AGGREGATE_LOST_COPY], 7 + 7 + 1 + 1);
		assert_int_equal(f.a.recorded, 5);
		assert_int_equal(f.a.delivered, 21);
		end(&f);
	}
}

static void gaps_are_seen_and_what_is_missing_is_not_invented(void **state)
{
	struct fixture f;

	begin(&f, (struct session_options){0});
	fake_tell(&f.fake, "skip 1009");
	fake_tell(&f.fake, "fill 3 1");
	fake_tell(&f.fake, "fill 3 1");
	read_session(&f);
	assert_int_equal(f.a.gaps, 0);
	assert_int_equal(f.a.delivered_before, 1009);
	fake_tell(&f.fake, "skip 5");
	fake_tell(&f.fake, "fill 3 1");
	fake_tell(&f.fake, "gap 2");
	fake_tell(&f.fake, "fill 3 1");
	fake_tell(&f.fake, "skip -20");
	fake_tell(&f.fake, "fill 3 1");
	aggregate_fini(&f.a);
	assert_int_equal(session_read(f.session, &f.a, &f.error), 0);
	assert_int_equal(f.a.gaps, 3);
	assert_int_equal(f.a.recorded, 15);
	assert_int_equal(f.a.delivered, 20);
	assert_int_equal(aggregate_lost_total(&f.a), 0);
	end(&f);
}

static void the_clock_may_step_back(void **state)
{
	struct fixture f;

	begin(&f, (struct session_options){0});
	fake_tell(&f.fake, "message 1 1 1000 77 1 %d", ACTOR_ABI_FIRST_BACK);
	fake_tell(&f.fake, "message 1 1 77 1000 1 %d", ACTOR_ABI_SECOND_BACK);
	fake_tell(&f.fake, "message 1 1 1001 77 1 %d", ACTOR_ABI_FIRST_BACK);
	fake_tell(&f.fake, "message 1 1 77 1001 1 %d", ACTOR_ABI_SECOND_BACK);
	fake_tell(&f.fake, "message 1 1 77 5 1 %d", ACTOR_ABI_UNSTAMPED);
	fake_tell(&f.fake, "over");
	read_session(&f);
	assert_int_equal(f.a.recorded, 2);
	assert_int_equal(f.a.unstamped, 1);
	assert_int_equal(f.a.clamped, 2);
	assert_int_equal(f.a.lost[AGGREGATE_LOST_CLOCK], 2);
	assert_int_equal(find(&f.a, AGGREGATE_WAIT, NULL)->sum, 77);
	end(&f);
}

#define META(kind, type, class_, dispatcher)                                                       \
	((uint64_t)(kind) | (uint64_t)(type) << 16 | (uint64_t)(class_) << 32 |                    \
		(uint64_t)(dispatcher) << 48)

/* Once through the ring, once folded in the kernel: the same. */
static void other_records(struct fixture *f)
{
	static const uint64_t lives[] = {ACTOR_ABI_LIFE_SPAWN, ACTOR_ABI_LIFE_SPAWN,
		ACTOR_ABI_LIFE_STOP, ACTOR_ABI_LIFE_RESTART};
	static const int drops[] = {ACTOR_ABI_DROP_NEW, ACTOR_ABI_DROP_THROTTLE, 99};

	for (int i = 0; i < 3; i++)
		fake_tell(&f->fake, "raw %lu 64 1 0", META(ACTOR_ABI_YIELD, 0, 0, 1));
	fake_tell(&f->fake, "raw %lu 64 0 0", META(ACTOR_ABI_YIELD, 0, 0, 2));
	fake_tell(&f->fake, "raw %d 3 1001 0", ACTOR_ABI_LOOP);
	fake_tell(&f->fake, "raw %d 3 2003 0", ACTOR_ABI_LOOP);
	for (size_t i = 0; i < sizeof(lives) / sizeof(lives[0]); i++)
		fake_tell(&f->fake, "raw %lu 7 0 0", META(ACTOR_ABI_LIFE, lives[i], 1, 0));
	for (size_t i = 0; i < sizeof(drops) / sizeof(drops[0]); i++)
		fake_tell(&f->fake, "raw %lu 7 0 %d", META(ACTOR_ABI_LIFE, ACTOR_ABI_LIFE_DROP, 1, 0),
			drops[i]);
	fake_tell(
		&f->fake, "raw %lu 7 0 1", META(ACTOR_ABI_LIFE, ACTOR_ABI_LIFE_DEAD_LETTER, 0, 0));
	fake_tell(&f->fake, "raw %lu 0 2 -5",
		META(ACTOR_ABI_LIFE, ACTOR_ABI_LIFE_DISPATCHER_ERROR, 0, 0));
	fake_tell(&f->fake, "turn 1 1 40 70 3 0");
	fake_tell(&f->fake, "over");
}

static void assert_others(const struct aggregate *a, uint64_t times)
{
	assert_int_equal(counted(a, AGGREGATE_YIELDS, "default", "budget"), 3 * times);
	assert_int_equal(counted(a, AGGREGATE_YIELDS, "slow", "idle"), times);
	assert_int_equal(counted(a, AGGREGATE_CREATED, "alpha", NULL), 2 * times);
	assert_int_equal(counted(a, AGGREGATE_TERMINATED, "alpha", NULL), times);
	assert_int_equal(counted(a, AGGREGATE_RESTARTED, "alpha", NULL), times);
	assert_int_equal(counted(a, AGGREGATE_DROPPED, "alpha", "drop-new"), times);
	assert_int_equal(counted(a, AGGREGATE_DROPPED, "alpha", "throttle"), times);
	assert_int_equal(counted(a, AGGREGATE_DROPPED, "alpha", "#99"), times);
	assert_int_equal(counted(a, AGGREGATE_DEAD_LETTERS, "(unknown)", NULL), times);
	assert_int_equal(counted(a, AGGREGATE_DISPATCHER_ERRORS, "slow", NULL), times);
	assert_int_equal(find(a, AGGREGATE_LOOP_GAP, NULL)->count, 2 * times);
	assert_int_equal(find(a, AGGREGATE_LOOP_GAP, NULL)->sum, 3004 * times);
	assert_int_equal(find(a, AGGREGATE_LOOP_GAP, NULL)->max, 2003);
	assert_int_equal(find(a, AGGREGATE_TURN, NULL)->sum, 70 * times);
	assert_int_equal(find(a, AGGREGATE_DELAY, NULL)->sum, 40 * times);
	assert_int_equal(find(a, AGGREGATE_TURN_MESSAGES, NULL)->sum, 3 * times);
}

/* The ring's own thread must not come in between: more than it holds is handed over at once. */
static uint64_t overfill(struct fixture *f)
{
	uint64_t batches = 3 * RING_BYTES / 32768;

	for (uint64_t i = 0; i < batches; i++)
		fake_tell(&f->fake, "fill 1021 1");
	return batches * 1021;
}

static void everything_else_is_counted_by_either_way(void **state)
{
	struct fixture f;

	for (int perf = 0; perf < 2; perf++) {
		begin(&f, (struct session_options){.force_perf = perf});
		other_records(&f);
		read_session(&f);
		assert_others(&f.a, 1);
		assert_int_equal(f.a.folded, 0);
		assert_string_equal(
			f.a.series[f.a.series_count - 1].loop, "3"); /* sorted: the last metric */
		end(&f);
	}
}

/* A program like this one, stopped while the ring fills: nothing may be lost. Its session is read
 * by a child, which can be stopped. */
static void a_full_ring_is_folded(void **state)
{
	struct fixture f;

	for (int perf = 0; perf < 2; perf++) {
		uint64_t sum;
		int ask[2], answer[2];
		char byte;
		struct {
			uint64_t delivered, recorded, lost, folded, gaps, sum, folding, flows;
		} seen;
		pid_t child;

		memset(&f, 0, sizeof(f));
		fake_start(&f.fake, "monotonic");
		assert_int_equal(pipe(ask), 0);
		assert_int_equal(pipe(answer), 0);
		child = fork();
		if (child == 0) {
			close(ask[1]);
			fixture_open(&f, AGGREGATE_LEDGER, (struct session_options){.force_perf = perf});
			if (write(answer[1], "x", 1) != 1)
				_exit(1);
			while (read(ask[0], &byte, 1) == 1) {
				if (byte == 's')
					session_stop(f.session);
				read_session(&f);
				if (byte == 'o')
					assert_others(&f.a, 2);
				memset(&seen, 0, sizeof(seen));
				seen.delivered = f.a.delivered;
				seen.recorded = f.a.recorded;
				seen.lost = aggregate_lost_total(&f.a);
				seen.folded = f.a.folded;
				seen.gaps = f.a.gaps;
				seen.folding = f.a.folding;
				seen.sum = find(&f.a, AGGREGATE_WAIT, "alpha")->sum;
				seen.flows = f.a.flow_count;
				if (write(answer[1], &seen, sizeof(seen)) != sizeof(seen))
					_exit(1);
				if (byte == 's')
					session_close(f.session);
			}
			_exit(0);
		}
		assert_int_equal(read(answer[0], &byte, 1), 1);
		fake_tell(&f.fake, "fill 7 1");
		other_records(&f);
		kill(child, SIGSTOP);
		sum = 7 + overfill(&f);
		other_records(&f); /* folded, while the ones above came through the ring */
		kill(child, SIGCONT);
		assert_int_equal(write(ask[1], "o", 1), 1);
		assert_int_equal(read(answer[0], &seen, sizeof(seen)), sizeof(seen));
		assert_int_equal(seen.recorded, sum);
		assert_int_equal(seen.delivered, sum);
		assert_int_equal(seen.lost, 0);
		assert_int_equal(seen.gaps, 0);
		assert_int_equal(seen.sum, sum * 1000);
		assert_in_range(seen.folded, 1021, sum);
		assert_true(seen.folding);
		fake_tell(&f.fake, "fill 11 1"); /* to the ring again */
		sum += 11;
		assert_int_equal(write(ask[1], "s", 1), 1);
		assert_int_equal(read(answer[0], &seen, sizeof(seen)), sizeof(seen));
		assert_int_equal(seen.recorded, sum);
		assert_int_equal(seen.delivered, sum);
		assert_int_equal(seen.gaps, 0);
		assert_false(seen.folding);
		close(ask[1]);
		close(ask[0]);
		close(answer[0]);
		close(answer[1]);
		fake_stop(&f.fake);
		waitpid(child, NULL, 0);
	}
}

static void each_nth_batch_stands_for_the_others_exactly(void **state)
{
	struct fixture f;
	uint64_t sum = 0;

	begin(&f, (struct session_options){.sample_every = 5});
	for (int i = 1; i <= 101; i++) { /* the last one is taken as well */
		fake_tell(&f.fake, "fill %d 1", i);
		sum += i;
	}
	read_session(&f);
	assert_int_equal(f.a.sample_every, 5);
	assert_int_equal(f.a.recorded, sum);
	assert_int_equal(f.a.delivered, sum);
	assert_int_equal(f.a.gaps, 0);
	assert_int_equal(find(&f.a, AGGREGATE_WAIT, "alpha")->count, sum);
	assert_int_equal(counted(&f.a, AGGREGATE_DELIVERED, "alpha", NULL), sum);
	end(&f);
}

static void senders_are_known_by_their_turns(void **state)
{
	struct fixture f;
	uint64_t slot = (uint64_t)3 << 24 | 2; /* loop 3, actor 2 */
	uint64_t to = ((uint64_t)3 << 24 | 1) << 32;

	begin(&f, (struct session_options){0});
	fake_tell(&f.fake, "raw %lu %lu 1 0", META(ACTOR_ABI_MESSAGE, 1, 1, 1), to | slot);
	fake_tell(&f.fake, "turn 2 2 1 1 1 0");
	for (int i = 0; i < 3; i++)
		fake_tell(&f.fake, "raw %lu %lu 1 0", META(ACTOR_ABI_MESSAGE, 1, 1, 1), to | slot);
	fake_tell(&f.fake, "raw %lu %lu 1 0", META(ACTOR_ABI_MESSAGE, 1, 1, 1), to);
	fake_tell(&f.fake, "over");
	aggregate_fini(&f.a);
	assert_int_equal(session_read(f.session, &f.a, &f.error), 0);
	assert_int_equal(f.a.flow_count, 3);
	assert_string_equal(f.a.flows[0].from, "(outside)");
	assert_int_equal(f.a.flows[0].messages, 1);
	assert_string_equal(f.a.flows[1].from, "(unknown)");
	assert_int_equal(f.a.flows[1].messages, 1);
	assert_string_equal(f.a.flows[2].from, "beta\\x1b[31m\\xff");
	assert_string_equal(f.a.flows[2].to, "alpha");
	assert_int_equal(f.a.flows[2].messages, 3);
	end(&f);
}

static void actors_have_series_only_when_asked_for(void **state)
{
	struct fixture f;
	uint64_t overflow = 0, told_apart = 0;

	begin(&f, (struct session_options){.by_actor = true, .max_series = 10});
	for (int i = 0; i < 31; i++)
		fake_tell(&f.fake, "message 1 %d 1000 1000 1 0", 8 + i);
	fake_tell(&f.fake, "message 1 2 1000 1000 1 0");
	fake_tell(&f.fake, "over");
	read_session(&f);
	assert_int_equal(f.a.recorded, 32);
	assert_int_equal(f.a.series_overflow, 22);
	for (size_t i = 0; i < f.a.series_count; i++) {
		const struct aggregate_series *s = &f.a.series[i];

		if (s->metric != AGGREGATE_WAIT)
			continue;
		told_apart++;
		if (strcmp(s->actor, "__overflow__") == 0)
			overflow = s->histogram.count;
	}
	assert_int_equal(told_apart, 11);
	assert_int_equal(overflow, 22);
	end(&f);
	begin(&f, (struct session_options){0});
	for (int i = 0; i < 31; i++)
		fake_tell(&f.fake, "message 1 %d 1000 1000 1 0", 8 + i);
	fake_tell(&f.fake, "over");
	read_session(&f);
	assert_int_equal(find(&f.a, AGGREGATE_WAIT, "alpha")->count, 31);
	end(&f);
}

static void only_the_ledger_is_listened_to_and_nothing_stays(void **state)
{
	struct fixture f;

	for (int perf = 0; perf < 2; perf++) {
		begin(&f, (struct session_options){.force_perf = perf});
		assert_int_equal(fake_tell(&f.fake, "listened"), 1);
		session_stop(f.session);
		assert_int_equal(fake_tell(&f.fake, "listened"), 0);
		fake_tell(&f.fake, "fill 5 1");
		read_session(&f);
		assert_int_equal(f.a.delivered, 0);
		session_close(f.session);
		fixture_open(&f, AGGREGATE_LEDGER, (struct session_options){.force_perf = perf});
		fake_tell(&f.fake, "fill 3 1");
		read_session(&f);
		assert_int_equal(f.a.delivered_before, 5);
		assert_int_equal(f.a.delivered, 3);
		end(&f);
	}
}

static void everything_that_attaches(void **state)
{
	print_message("SKIP test_ledger: attaching needs root\n");
	skip();
}

int main(void)
{
	const struct CMUnitTest without_root[] = {cmocka_unit_test(everything_that_attaches)};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_bound_is_where_bpf_has_it),
		cmocka_unit_test(batches_of_every_size_are_exact),
		cmocka_unit_test(hostile_hand_overs_are_lost_by_format),
		cmocka_unit_test(pages_that_are_away_are_lost_by_copy),
		cmocka_unit_test(gaps_are_seen_and_what_is_missing_is_not_invented),
		cmocka_unit_test(the_clock_may_step_back),
		cmocka_unit_test(everything_else_is_counted_by_either_way),
		cmocka_unit_test(a_full_ring_is_folded),
		cmocka_unit_test(each_nth_batch_stands_for_the_others_exactly),
		cmocka_unit_test(senders_are_known_by_their_turns),
		cmocka_unit_test(actors_have_series_only_when_asked_for),
		cmocka_unit_test(only_the_ledger_is_listened_to_and_nothing_stays),
	};

	if (geteuid() != 0)
		return cmocka_run_group_tests(without_root, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
