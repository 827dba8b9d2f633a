/* SPDX-License-Identifier: MIT */
/* Attaches to a process that fires hand-made records and compares every number exactly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/aggregate.h"
#include "probe/capability.h"
#include "probe/error.h"
#include "runtime/abi.h"
#include "tests/fake.h"
#include "tests/fixture.h"

static void begin(struct fixture *f, const char *clock, struct session_options options)
{
	memset(f, 0, sizeof(*f));
	fake_start(&f->fake, clock);
	fixture_open(f, AGGREGATE_TRACE, options);
}

static void read_session(struct fixture *f)
{
	aggregate_fini(&f->a);
	assert_int_equal(session_read(f->session, &f->a, &f->error), 0);
}

static void end(struct fixture *f)
{
	session_close(f->session);
	aggregate_fini(&f->a);
	fake_stop(&f->fake);
}

static const struct aggregate_series *find(const struct aggregate *a, enum aggregate_metric metric,
	const char *class_name, const char *actor)
{
	for (size_t i = 0; i < a->series_count; i++) {
		const struct aggregate_series *s = &a->series[i];

		if (s->metric == metric &&
			(!class_name ||
				(s->class_name && strcmp(s->class_name, class_name) == 0)) &&
			(!actor || (s->actor && strcmp(s->actor, actor) == 0)))
			return s;
	}
	return NULL;
}

static uint64_t counter(const struct aggregate *a, enum aggregate_family family,
	const char *class_or_dispatcher, const char *reason)
{
	for (size_t i = 0; i < a->counter_count; i++) {
		const struct aggregate_counter *c = &a->counters[i];
		const char *name = c->class_name ? c->class_name : c->dispatcher;

		if (c->family == family && strcmp(name, class_or_dispatcher) == 0 &&
			(!reason || strcmp(c->reason, reason) == 0))
			return c->value;
	}
	return 0;
}

static void assert_adds_up(const struct aggregate *a)
{
	assert_int_equal(a->delivered, a->recorded + a->unstamped + aggregate_lost_total(a));
}

static void values_at_bounds_and_one_above_are_told_apart(void **state)
{
	struct fixture f;
	const struct aggregate_histogram *h;
	uint64_t sum = 0;

	(void)state;
	SKIP_WITHOUT_ROOT();
	for (int perf = 0; perf < 2; perf++) {
		print_message("by %s\n", ways[perf]);
		sum = 0;
		begin(&f, "monotonic", (struct session_options){.force_perf = perf});
		for (int i = 0; i < BOUNDS_COUNT; i++) {
			fake_tell(
				&f.fake, "message 1 1 %lu %lu 1 0", bounds_ns[i], bounds_ns[i] + 1);
			fake_tell(&f.fake, "end 7");
			sum += bounds_ns[i];
		}
		read_session(&f);
		assert_int_equal(f.a.recorded, BOUNDS_COUNT);
		assert_adds_up(&f.a);
		h = &find(&f.a, AGGREGATE_WAIT, "alpha", NULL)->histogram;
		for (int i = 0; i < BOUNDS_COUNT; i++)
			assert_int_equal(h->buckets[i], 1);
		assert_int_equal(h->buckets[BOUNDS_COUNT], 0);
		assert_int_equal(h->sum, sum);
		assert_int_equal(h->count, BOUNDS_COUNT);
		assert_int_equal(h->max, bounds_ns[BOUNDS_COUNT - 1]);
		h = &find(&f.a, AGGREGATE_HANDLER, "alpha", NULL)->histogram;
		assert_int_equal(h->sum, sum + BOUNDS_COUNT);
		assert_int_equal(h->buckets[BOUNDS_COUNT], 1);
		for (int i = 0; i < BOUNDS_COUNT; i++) { /* bound + 1 may be the next bound */
			uint64_t expected = 0;

			for (int k = 0; k < BOUNDS_COUNT; k++)
				expected += bounds_ns[k] + 1 <= bounds_ns[i] &&
					    (i == 0 || bounds_ns[k] + 1 > bounds_ns[i - 1]);
			assert_int_equal(h->buckets[i], expected);
		}
		end(&f);
	}
}

static void depths_and_turns_are_counted_in_their_buckets(void **state)
{
	struct fixture f;
	const struct aggregate_histogram *h;

	(void)state;
	SKIP_WITHOUT_ROOT();
	begin(&f, "monotonic", (struct session_options){0});
	for (int i = 0; i < DEPTH_BOUNDS_COUNT; i++) {
		fake_tell(&f.fake, "message 1 1 5 5 %lu 0", depth_bounds[i]);
		fake_tell(&f.fake, "message 1 1 5 5 %lu 0", depth_bounds[i] + 1);
		fake_tell(&f.fake, "turn 1 1 %d 70 %lu %d", 100 + i, depth_bounds[i],
			i == 0 ? ACTOR_ABI_NO_DELAY : 0);
		fake_tell(&f.fake, "end 0");
	}
	read_session(&f);
	h = &find(&f.a, AGGREGATE_DEPTH, "alpha", NULL)->histogram;
	assert_int_equal(h->count, 2 * DEPTH_BOUNDS_COUNT);
	assert_int_equal(h->max, 10001);
	assert_int_equal(h->buckets[0], 1);
	assert_int_equal(h->buckets[1], 2); /* 2, and 1 + 1 */
	assert_int_equal(h->buckets[2], 2); /* 5, and 2 + 1 */
	assert_int_equal(h->buckets[3], 2); /* 10, and 5 + 1 */
	assert_int_equal(h->buckets[DEPTH_BOUNDS_COUNT], 1);
	h = &find(&f.a, AGGREGATE_TURN_MESSAGES, "alpha", NULL)->histogram;
	assert_int_equal(h->count, DEPTH_BOUNDS_COUNT);
	for (int i = 0; i < DEPTH_BOUNDS_COUNT; i++)
		assert_int_equal(h->buckets[i], 1);
	assert_int_equal(
		find(&f.a, AGGREGATE_TURN, "alpha", NULL)->histogram.sum, 70 * DEPTH_BOUNDS_COUNT);
	h = &find(&f.a, AGGREGATE_DELAY, NULL, NULL)->histogram;
	assert_int_equal(h->count, DEPTH_BOUNDS_COUNT - 1);
	assert_null(find(&f.a, AGGREGATE_DELAY, NULL, NULL)->class_name);
	assert_string_equal(find(&f.a, AGGREGATE_DELAY, NULL, NULL)->dispatcher, "default");
	assert_int_equal(
		find(&f.a, AGGREGATE_DELAY, NULL, NULL)->dispatcher_kind, ACTOR_ABI_HYBRID);
	end(&f);
}

static void full_and_partial_batches_are_counted_exactly(void **state)
{
	struct fixture f;
	uint64_t messages = 0;

	(void)state;
	SKIP_WITHOUT_ROOT();
	for (int perf = 0; perf < 2; perf++) {
		messages = 0;
		begin(&f, "monotonic", (struct session_options){.force_perf = perf});
		for (int n = 0; n < 64; n++) {
			int whole = n % 2 && n < 63;

			for (int i = 0; i < n; i++)
				fake_tell(&f.fake, "message %d 1 10 10 1 %d", 1 + i % 2,
					i % 5 == 4 ? ACTOR_ABI_UNSTAMPED : 0);
			if (whole)
				fake_tell(&f.fake, "turn 1 1 1 1 %d 0", n);
			fake_tell(&f.fake, "end %d", whole ? ACTOR_ABI_EMPTY : ACTOR_ABI_MORE);
			messages += n;
		}
		read_session(&f);
		assert_int_equal(f.a.delivered, messages);
		assert_adds_up(&f.a);
		assert_int_equal(aggregate_lost_total(&f.a), 0);
		assert_int_equal(find(&f.a, AGGREGATE_TURN, NULL, NULL)->histogram.count, 31);
		assert_int_equal(
			counter(&f.a, AGGREGATE_DELIVERED, "alpha", NULL) +
				counter(&f.a, AGGREGATE_DELIVERED, "beta\\x1b[31m\\xff", NULL),
			messages);
		end(&f);
	}
}

static void what_was_delivered_before_the_attach_is_not_counted(void **state)
{
	struct fixture f;

	(void)state;
	SKIP_WITHOUT_ROOT();
	memset(&f, 0, sizeof(f));
	fake_start(&f.fake, "tsc");
	fake_tell(&f.fake, "skip 1000003");
	fixture_open(&f, AGGREGATE_TRACE, (struct session_options){0});
	fake_tell(&f.fake, "message 1 1 10 10 1 1");
	fake_tell(&f.fake, "message 1 1 10 10 1 0");
	fake_tell(&f.fake, "end 7");
	read_session(&f);
	assert_int_equal(f.a.delivered, 2);
	assert_int_equal(f.a.unstamped, 1);
	assert_int_equal(f.a.recorded, 1);
	end(&f);
}

static void a_counter_that_starts_anew_still_adds_up(void **state)
{
	struct fixture f;

	(void)state;
	SKIP_WITHOUT_ROOT();
	begin(&f, "tsc", (struct session_options){0});
	fake_tell(&f.fake, "skip 1000");
	for (int i = 0; i < 2; i++) {
		for (int k = 0; k < 3; k++)
			fake_tell(&f.fake, "message 1 1 10 10 1 0");
		fake_tell(&f.fake, "end 7");
		fake_tell(&f.fake, "skip -1003"); /* as after exec */
	}
	read_session(&f);
	assert_int_equal(f.a.delivered, 6);
	assert_adds_up(&f.a);
	end(&f);
}

static void what_nobody_reported_is_not_hidden(void **state)
{
	struct fixture f;

	(void)state;
	SKIP_WITHOUT_ROOT();
	begin(&f, "tsc", (struct session_options){0});
	fake_tell(&f.fake, "message 1 1 10 10 1 0");
	fake_tell(&f.fake, "end 7");
	fake_tell(&f.fake, "skip 5");
	fake_tell(&f.fake, "message 1 1 10 10 1 0");
	fake_tell(&f.fake, "end 7");
	read_session(&f);
	assert_int_equal(f.a.delivered, 7); /* losses are counted, never computed */
	assert_int_equal(f.a.recorded, 2);
	assert_int_equal(aggregate_lost_total(&f.a), 0);
	end(&f);
}

static void backward_clock_steps_are_clamped_or_lost(void **state)
{
	struct fixture f;

	(void)state;
	SKIP_WITHOUT_ROOT();
	begin(&f, "monotonic", (struct session_options){0});
	fake_tell(&f.fake, "message 1 1 1000 77 1 %d", ACTOR_ABI_FIRST_BACK);
	fake_tell(&f.fake, "message 1 1 77 1000 1 %d", ACTOR_ABI_SECOND_BACK);
	fake_tell(&f.fake, "message 1 1 1001 77 1 %d", ACTOR_ABI_FIRST_BACK);
	fake_tell(&f.fake, "message 1 1 77 1001 1 %d", ACTOR_ABI_SECOND_BACK);
	fake_tell(&f.fake, "end 7");
	read_session(&f);
	assert_int_equal(f.a.recorded, 2);
	assert_int_equal(f.a.clamped, 2);
	assert_int_equal(f.a.lost[AGGREGATE_LOST_CLOCK], 2);
	assert_int_equal(find(&f.a, AGGREGATE_WAIT, NULL, NULL)->histogram.buckets[0], 1);
	assert_int_equal(find(&f.a, AGGREGATE_WAIT, NULL, NULL)->histogram.sum, 77);
	assert_adds_up(&f.a);
	end(&f);
}

static void hostile_arguments_only_raise_loss_counters(void **state)
{
	struct fixture f;

	(void)state;
	SKIP_WITHOUT_ROOT();
	for (int perf = 0; perf < 2; perf++) {
		begin(&f, "monotonic", (struct session_options){.force_perf = perf});
		fake_tell(&f.fake, "hand 0 1000 0");
		fake_tell(&f.fake, "hand 0 -1 0");
		fake_tell(&f.fake, "hand 0 0 0");
		fake_tell(&f.fake, "hand 0 5 7");		  /* 4 messages */
		fake_tell(&f.fake, "hand %lu 12 0", f.fake.hole); /* 10 and a turn */
		fake_tell(&f.fake, "hand -1 2 0");		  /* a turn only */
		read_session(&f);
		assert_int_equal(f.a.lost[AGGREGATE_LOST_FORMAT], 3);
		assert_int_equal(f.a.lost[AGGREGATE_LOST_COPY], 14);
		assert_int_equal(f.a.recorded, 0);
		assert_adds_up(&f.a);
		fake_tell(&f.fake, "raw 0 1 2 3");
		fake_tell(&f.fake, "raw 255 -1 -1 -1");
		fake_tell(&f.fake, "raw 6 0 0 0"); /* a mark that is not the first */
		fake_tell(&f.fake, "message 77 1 1 1 1 0");
		fake_tell(&f.fake, "end 7");
		read_session(&f);
		assert_int_equal(f.a.lost[AGGREGATE_LOST_FORMAT], 6);
		assert_int_equal(f.a.recorded, 1);
		assert_string_equal(find(&f.a, AGGREGATE_WAIT, NULL, NULL)->class_name, "#77");
		assert_adds_up(&f.a);
		end(&f);
	}
}

static void paths_come_from_the_actor_table(void **state)
{
	static const struct {
		int actor;
		const char *path;
	} rows[] = {
		{1, "/user/boss"}, {2, "/user/boss/child"}, {5, "/user/$5.70005"}, {7, "/user/#7"}};
	struct fixture f;
	const struct aggregate_series *s;

	(void)state;
	SKIP_WITHOUT_ROOT();
	begin(&f, "tsc", (struct session_options){.by_actor = true});
	for (int i = 1; i < 8; i++)
		fake_tell(&f.fake, "message 1 %d 1 1 1 0", i);
	fake_tell(&f.fake, "turn 1 2 1 1 1 0");
	fake_tell(&f.fake, "end 0");
	read_session(&f);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		s = find(&f.a, AGGREGATE_WAIT, "alpha", rows[i].path);
		assert_non_null(s);
		assert_int_equal(s->histogram.count, 1);
	}
	assert_non_null(find(&f.a, AGGREGATE_TURN, "alpha", "/user/boss/child"));
	assert_null(find(&f.a, AGGREGATE_DELAY, NULL, NULL)->actor);
	for (size_t i = 0; i < f.a.series_count; i++)
		if (f.a.series[i].actor)
			assert_in_range(strlen(f.a.series[i].actor), 6, 1023);
	end(&f);
}

static void series_beyond_the_cap_share_one(void **state)
{
	struct fixture f;

	(void)state;
	SKIP_WITHOUT_ROOT();
	begin(&f, "tsc", (struct session_options){.by_actor = true, .max_series = 10});
	fake_tell(&f.fake, "actors 31");
	read_session(&f);
	assert_int_equal(f.a.recorded, 31);
	assert_int_equal(f.a.series_overflow, 21);
	assert_int_equal(find(&f.a, AGGREGATE_WAIT, "__overflow__", NULL)->histogram.count, 21);
	assert_adds_up(&f.a);
	end(&f);
}

static void a_burst_of_new_series_finds_room(void **state)
{
	struct fixture f;

	(void)state;
	SKIP_WITHOUT_ROOT();
	for (int perf = 0; perf < 2; perf++) {
		begin(&f, "tsc",
			(struct session_options){
				.by_actor = true, .max_series = 4000, .force_perf = perf});
		fake_tell(&f.fake, "actors 3001");
		read_session(&f);
		assert_int_equal(f.a.recorded, 3001);
		assert_int_equal(f.a.series_overflow, 0);
		end(&f);
	}
}

static void equal_names_are_added_up(void **state)
{
	struct fixture f;

	(void)state;
	SKIP_WITHOUT_ROOT();
	begin(&f, "tsc", (struct session_options){0});
	fake_tell(&f.fake, "message 1 1 1 1 1 0"); /* classes 1 and 4 are both called alpha */
	fake_tell(&f.fake, "message 4 1 1 1 1 0");
	fake_tell(&f.fake, "end 7");
	read_session(&f);
	assert_int_equal(find(&f.a, AGGREGATE_WAIT, "alpha", NULL)->histogram.count, 2);
	assert_int_equal(counter(&f.a, AGGREGATE_DELIVERED, "alpha", NULL), 2);
	end(&f);
}

static void events_without_records_are_tallied(void **state)
{
	struct fixture f;

	(void)state;
	SKIP_WITHOUT_ROOT();
	for (int perf = 0; perf < 2; perf++) {
		begin(&f, "tsc", (struct session_options){.force_perf = perf});
		for (int i = 0; i < 7; i++)
			fake_tell(&f.fake, "enqueue 1");
		fake_tell(&f.fake, "yield 1 1");
		fake_tell(&f.fake, "yield 1 1");
		fake_tell(&f.fake, "yield 2 0");
		fake_tell(&f.fake, "start 1");
		read_session(&f);
		assert_int_equal(counter(&f.a, AGGREGATE_ENQUEUED, "alpha", NULL), 7);
		assert_int_equal(counter(&f.a, AGGREGATE_YIELDS, "default", "budget"), 2);
		assert_int_equal(counter(&f.a, AGGREGATE_YIELDS, "slow", "idle"), 1);
		end(&f);
	}
}

static void leaving_lowers_every_semaphore(void **state)
{
	struct fixture f, other;

	(void)state;
	SKIP_WITHOUT_ROOT();
	memset(&other, 0, sizeof(other));
	fake_start(&other.fake, "tsc");
	for (int perf = 0; perf < 2; perf++) {
		begin(&f, "tsc", (struct session_options){.force_perf = perf});
		assert_in_range(fake_tell(&f.fake, "listened"), 4, 100);
		assert_int_equal(fake_tell(&other.fake, "listened"), 0);
		session_stop(f.session);
		assert_int_equal(fake_tell(&f.fake, "listened"), 0);
		read_session(&f);
		session_close(f.session);
		assert_int_equal(fake_tell(&f.fake, "listened"), 0);
		fixture_open(&f, AGGREGATE_TRACE, (struct session_options){.force_perf = perf});
		assert_in_range(fake_tell(&f.fake, "listened"), 4, 100);
		end(&f);
	}
	fake_stop(&other.fake);
}

static void a_killed_collector_leaves_nothing(void **state)
{
	struct fake fake;
	long listened = 1;

	(void)state;
	SKIP_WITHOUT_ROOT();
	fake_start(&fake, "tsc");
	for (int perf = 0; perf < 2; perf++) {
		struct session_options options = {
			.pid = fake.pid, .mode = AGGREGATE_TRACE, .force_perf = perf};
		struct session *session;
		struct error error = {0};
		int ends[2];
		pid_t pid;
		char byte;

		assert_int_equal(pipe(ends), 0);
		fflush(NULL);
		pid = fork();
		if (pid == 0) {
			session_open(&session, &options, &error);
			_exit(write(ends[1], "x", 1) != 1 || pause());
		}
		assert_int_equal(read(ends[0], &byte, 1), 1);
		assert_in_range(fake_tell(&fake, "listened"), 4, 100);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		for (int i = 0; i < 200 && (listened = fake_tell(&fake, "listened")); i++)
			usleep(10000);
		assert_int_equal(listened, 0);
		close(ends[0]);
		close(ends[1]);
	}
	fake_stop(&fake);
}

static void observation_goes_on_without_privileges(void **state)
{
	struct fixture f;
	int status = -1;
	pid_t pid;

	(void)state;
	SKIP_WITHOUT_ROOT();
	memset(&f, 0, sizeof(f));
	fake_start(&f.fake, "tsc");
	fflush(NULL);
	pid = fork(); /* the test itself stays root */
	if (pid == 0) {
		fixture_open(&f, AGGREGATE_TRACE, (struct session_options){.by_actor = true});
		/* Of this thread: the session's own have given up theirs, and libc would insist
		 * on all of them. */
		if (syscall(SYS_setgid, 65534) < 0 || syscall(SYS_setuid, 65534) < 0 ||
			capability_drop_all() < 0)
			_exit(2);
		fake_tell(&f.fake, "message 1 2 1 1 1 0");
		fake_tell(&f.fake, "end 7");
		if (session_read(f.session, &f.a, &f.error) != 0)
			_exit(3);
		_exit(find(&f.a, AGGREGATE_WAIT, "alpha", "/user/boss/child") ? 0 : 4);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	end(&f);
}

static void the_final_state_outlives_the_target(void **state)
{
	struct fixture f;
	struct pollfd p = {.events = POLLIN};

	(void)state;
	SKIP_WITHOUT_ROOT();
	begin(&f, "tsc", (struct session_options){.by_actor = true});
	fake_tell(&f.fake, "message 1 2 1 1 1 0");
	fake_tell(&f.fake, "end 7");
	read_session(&f);
	assert_true(f.a.alive);
	assert_string_equal(f.a.loops[0].system, "fake");
	fake_stop(&f.fake);
	p.fd = session_exit_fd(f.session);
	assert_int_equal(poll(&p, 1, 2000), 1);
	read_session(&f);
	assert_false(f.a.alive);
	assert_int_equal(f.a.recorded, 1);
	assert_non_null(find(&f.a, AGGREGATE_WAIT, "alpha", "/user/boss/child"));
	end(&f);
}

static void an_open_turn_is_named_and_ages(void **state)
{
	struct fixture f;

	(void)state;
	SKIP_WITHOUT_ROOT();
	begin(&f, "tsc", (struct session_options){0});
	fake_tell(&f.fake, "open 2");
	read_session(&f);
	usleep(20000);
	read_session(&f);
	assert_int_equal(f.a.loop_count, 1);
	assert_string_equal(f.a.loops[0].actor, "/user/boss/child");
	assert_string_equal(f.a.loops[0].class_name, "alpha");
	assert_in_range(f.a.loops[0].open_ns, 20000000, 20000000000);
	fake_tell(&f.fake, "open 0");
	read_session(&f);
	assert_null(f.a.loops[0].actor);
	end(&f);
}

static void each_failure_has_its_exit_code(void **state)
{
	struct session_options options = {.pid = 0x3fffff};
	struct session *session = NULL;
	struct error error = {0};
	struct fake fake;

	(void)state;
	SKIP_WITHOUT_ROOT();
	assert_int_equal(session_open(&session, &options, &error), EXIT_TARGET);
	error = (struct error){0};
	options.pid = getpid();
	assert_int_equal(session_open(&session, &options, &error), EXIT_PROBES);
	assert_non_null(strstr(error.text, "does not carry libactor"));
	fake_start(&fake, "tsc");
	fake_tell(&fake, "major 2");
	error = (struct error){0};
	options.pid = fake.pid;
	assert_int_equal(session_open(&session, &options, &error), EXIT_PROBES);
	assert_non_null(strstr(error.text, "newer"));
	fake_stop(&fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_at_bounds_and_one_above_are_told_apart),
		cmocka_unit_test(depths_and_turns_are_counted_in_their_buckets),
		cmocka_unit_test(full_and_partial_batches_are_counted_exactly),
		cmocka_unit_test(what_was_delivered_before_the_attach_is_not_counted),
		cmocka_unit_test(a_counter_that_starts_anew_still_adds_up),
		cmocka_unit_test(what_nobody_reported_is_not_hidden),
		cmocka_unit_test(backward_clock_steps_are_clamped_or_lost),
		cmocka_unit_test(hostile_arguments_only_raise_loss_counters),
		cmocka_unit_test(paths_come_from_the_actor_table),
		cmocka_unit_test(series_beyond_the_cap_share_one),
		cmocka_unit_test(a_burst_of_new_series_finds_room),
		cmocka_unit_test(equal_names_are_added_up),
		cmocka_unit_test(events_without_records_are_tallied),
		cmocka_unit_test(leaving_lowers_every_semaphore),
		cmocka_unit_test(a_killed_collector_leaves_nothing),
		cmocka_unit_test(observation_goes_on_without_privileges),
		cmocka_unit_test(the_final_state_outlives_the_target),
		cmocka_unit_test(an_open_turn_is_named_and_ages),
		cmocka_unit_test(each_failure_has_its_exit_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
