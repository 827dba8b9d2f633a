/* SPDX-License-Identifier: MIT */
/* How many units each dispatcher runs per pass, wherever the work comes from. */
#include "tests/workload.h"

#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- where work comes from ---- */

struct source {
	struct lab *lab;
	bool actors;
	union {
		uv_handle_t handle;
		uv_timer_t timer;
		uv_poll_t poll;
		uv_prepare_t prepare;
		uv_check_t check;
		uv_async_t async;
		uv_idle_t idle;
	};
	uv_idle_t waker;
	int fds[2];
	pthread_t thread;
};

static void submit(struct source *s)
{
	if (s->actors)
		counters_tell(s->lab, UNITS, 1);
	else
		jobs_queue(s->lab, 0, UNITS, 0);
}

static void submit_and_close(uv_handle_t *handle)
{
	struct source *s = handle->data;

	submit(s);
	uv_close(handle, NULL);
}

static void on_timer(uv_timer_t *h)
{
	submit_and_close((uv_handle_t *)h);
}

static void on_prepare(uv_prepare_t *h)
{
	submit_and_close((uv_handle_t *)h);
}

static void on_check(uv_check_t *h)
{
	struct source *s = h->data;

	uv_close((uv_handle_t *)&s->waker, NULL);
	submit_and_close((uv_handle_t *)h);
}

static void on_waker(uv_idle_t *h)
{
}

static void on_idle(uv_idle_t *h)
{
	submit_and_close((uv_handle_t *)h);
}

static void on_async(uv_async_t *h)
{
	submit_and_close((uv_handle_t *)h);
}

static void on_poll(uv_poll_t *h, int status, int events)
{
	struct source *s = h->data;

	uv_poll_stop(h);
	submit_and_close((uv_handle_t *)h);
	close(s->fds[0]);
	close(s->fds[1]);
}

static void on_close(uv_handle_t *h)
{
	submit(h->data);
}

static void *tell_all(void *argument)
{
	struct source *s = argument;

	counters_tell(s->lab, UNITS, 1);
	return NULL;
}

static void *send_async(void *argument)
{
	struct source *s = argument;

	uv_async_send(&s->async);
	return NULL;
}

/* All mail of the thread is there before the loop polls: the passes' counts are exact. */
static void on_prepare_wait(uv_prepare_t *h)
{
	struct source *s = h->data;

	assert_int_equal(pthread_create(&s->thread, NULL, tell_all, s), 0);
	pthread_join(s->thread, NULL);
	uv_close((uv_handle_t *)h, NULL);
}

static void from_before(struct source *s)
{
	submit(s);
}

static void from_timer(struct source *s)
{
	uv_timer_init(&s->lab->loop, &s->timer);
	uv_timer_start(&s->timer, on_timer, 1, 0);
}

static void from_poll(struct source *s)
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, s->fds), 0);
	assert_int_equal(write(s->fds[1], "x", 1), 1);
	uv_poll_init(&s->lab->loop, &s->poll, s->fds[0]);
	uv_poll_start(&s->poll, UV_READABLE, on_poll);
}

static void from_prepare(struct source *s)
{
	uv_prepare_init(&s->lab->loop, &s->prepare);
	uv_prepare_start(&s->prepare, on_prepare);
}

static void from_check(struct source *s)
{
	uv_check_init(&s->lab->loop, &s->check);
	uv_check_start(&s->check, on_check);
	uv_idle_init(&s->lab->loop, &s->waker); /* poll must return for check to come */
	uv_idle_start(&s->waker, on_waker);
}

static void from_idle(struct source *s)
{
	uv_idle_init(&s->lab->loop, &s->idle);
	uv_idle_start(&s->idle, on_idle);
}

static void from_close(struct source *s)
{
	uv_timer_init(&s->lab->loop, &s->timer);
	uv_close(&s->handle, on_close);
}

static void from_async(struct source *s)
{
	uv_async_init(&s->lab->loop, &s->async, on_async);
	assert_int_equal(pthread_create(&s->thread, NULL, send_async, s), 0);
	pthread_join(s->thread, NULL);
}

static void from_thread(struct source *s)
{
	uv_prepare_init(&s->lab->loop, &s->prepare);
	uv_prepare_start(&s->prepare, on_prepare_wait);
}

static const struct {
	const char *name;
	void (*arrange)(struct source *s);
	bool only_actors;
} sources[] = {
	{"before uv_run", from_before, false},
	{"timer", from_timer, false},
	{"poll", from_poll, false},
	{"prepare", from_prepare, false},
	{"check", from_check, false},
	{"idle", from_idle, false},
	{"close", from_close, false},
	{"async", from_async, false},
	{"another thread", from_thread, true},
};

static void run_until(struct lab *lab, uv_run_mode mode, const uint32_t *done)
{
	if (mode == UV_RUN_DEFAULT)
		run_counted(lab);
	else
		for (int i = 0; i < LAB_PASSES && *done < UNITS; i++)
			uv_run(&lab->loop, mode);
}

static void arrives(enum which kind, size_t source, bool actors, uv_run_mode mode)
{
	struct lab lab;
	struct source s = {.lab = &lab, .actors = actors};
	char what[128];

	snprintf(what, sizeof(what), "%s, %s, %s, run mode %d", kinds[kind].name,
		sources[source].name, actors ? "actors" : "units", mode);
	lab_open_kind(&lab, kind);
	if (actors)
		counters_spawn(&lab, UNITS);
	messages = ordered = 0;
	lab_count(&lab);
	s.handle.data = &s;
	sources[source].arrange(&s);
	run_until(&lab, mode, actors ? &messages : &ordered);
	lab_count_stop(&lab);
	assert_passes(&lab, kinds[kind].per_pass, UNITS, what);
	lab_close(&lab);
}

static void each_pass_runs_what_the_dispatcher_allows(void **state)
{
	static const uv_run_mode modes[] = {UV_RUN_DEFAULT, UV_RUN_ONCE, UV_RUN_NOWAIT};

	for (enum which kind = 0; kind < KINDS; kind++)
		for (size_t source = 0; source < COUNT(sources); source++)
			for (size_t mode = 0; mode < COUNT(modes); mode++)
				for (int actors = sources[source].only_actors; actors < 2; actors++)
					arrives(kind, source, actors, modes[mode]);
}

/* ---- refusals ---- */

static void case_29_budgets_out_of_range_are_refused(void **state)
{
	static const struct {
		int64_t budget;
		int rc;
	} rows[] = {{0, ACTOR_EBUDGET}, {-1, ACTOR_EBUDGET}, {1000001, ACTOR_EBUDGET},
		{INT64_MIN, ACTOR_EBUDGET}, {INT64_MAX, ACTOR_EBUDGET}, {1, 0}, {1000000, 0}};
	struct actor_dispatcher_spec spec;

	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(actor_dispatcher_hybrid(&spec, rows[i].budget, NULL), rows[i].rc);
		assert_int_equal(
			actor_dispatcher_throughput(&spec, rows[i].budget, NULL), rows[i].rc);
	}
	assert_int_equal(actor_dispatcher_hybrid(&spec, 64, ""), ACTOR_ENAME);
	assert_int_equal(actor_dispatcher_immediate(&spec, "a/b"), ACTOR_ENAME);
	assert_int_equal(actor_dispatcher_custom(&spec, NULL, NULL, NULL), ACTOR_EOPTIONS);
}

static void a_dispatcher_s_id_says_its_budget_unless_it_is_the_usual_one(void **state)
{
	struct actor_dispatcher_spec spec;

	actor_dispatcher_hybrid(&spec, 64, NULL);
	assert_string_equal(spec.id, "hybrid");
	actor_dispatcher_hybrid(&spec, 3, NULL);
	assert_string_equal(spec.id, "hybrid-3");
	actor_dispatcher_throughput(&spec, 16, NULL);
	assert_string_equal(spec.id, "throughput");
	actor_dispatcher_throughput(&spec, 4, "importer");
	assert_string_equal(spec.id, "importer");
	actor_dispatcher_microtask(&spec, NULL);
	assert_string_equal(spec.id, "microtask");
	actor_dispatcher_immediate(&spec, NULL);
	assert_string_equal(spec.id, "immediate");
}

static void an_id_means_one_description_per_system(void **state)
{
	struct actor_dispatcher_spec a, b;
	struct actor_dispatcher *first, *again, *other;
	struct lab lab;

	actor_dispatcher_hybrid(&a, 5, "same");
	actor_dispatcher_hybrid(&b, 6, "same");
	lab_open(&lab, NULL);
	assert_int_equal(actor_system_dispatcher(lab.system, 1, &a, &first), 0);
	assert_int_equal(actor_system_dispatcher(lab.system, 1, &a, &again), 0);
	assert_ptr_equal(first, again);
	assert_string_equal(actor_dispatcher_id(first), "same");
	assert_ptr_equal(actor_dispatcher_loop(first), &lab.loop);
	assert_int_equal(
		actor_system_dispatcher(lab.system, 1, &b, &other), ACTOR_EDISPATCHER);
	a.budget = 0;
	assert_int_equal(actor_system_dispatcher(lab.system, 1, &a, &other), ACTOR_EBUDGET);
	assert_int_equal(actor_system_dispatcher(lab.system, 2, &a, &other), ACTOR_EOPTIONS);
	assert_int_equal(actor_system_dispatcher(lab.system, 0, &a, &other), ACTOR_EOPTIONS);
	lab_close(&lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_pass_runs_what_the_dispatcher_allows),
		cmocka_unit_test(case_29_budgets_out_of_range_are_refused),
		cmocka_unit_test(a_dispatcher_s_id_says_its_budget_unless_it_is_the_usual_one),
		cmocka_unit_test(an_id_means_one_description_per_system),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
