/* SPDX-License-Identifier: MIT */
/* How many units each dispatcher runs per pass of the loop, wherever the work comes from. */
#include "tests/lab.h"

#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define UNITS 200

/* ---- units of the test's own ---- */

struct job {
	struct actor_unit unit; /* first */
	struct lab *lab;
	uint32_t number;
	uint32_t again; /* times it queues itself */
};

static uint32_t order[4096];
static uint32_t ordered;

static int job_run(struct actor_unit *unit)
{
	struct job *job = (struct job *)unit;

	job->lab->units++;
	if (ordered < COUNT(order))
		order[ordered++] = job->number;
	if (job->again) {
		job->again--;
		return actor_dispatcher_execute(unit->dispatcher, unit);
	}
	return 0;
}

static struct job jobs[UNITS];

static struct actor_dispatcher *dispatcher_of(
	struct lab *lab, const struct actor_dispatcher_spec *spec)
{
	struct actor_dispatcher *dispatcher;

	assert_int_equal(actor_system_dispatcher(lab->system, 1, spec, &dispatcher), 0);
	return dispatcher;
}

static void jobs_queue(struct lab *lab, uint32_t from, uint32_t to, uint32_t again)
{
	struct actor_dispatcher *dispatcher = dispatcher_of(lab, NULL);

	for (uint32_t i = from; i < to; i++) {
		actor_unit_init(&jobs[i].unit, job_run);
		jobs[i].lab = lab;
		jobs[i].number = i;
		jobs[i].again = again;
		assert_int_equal(actor_dispatcher_execute(dispatcher, &jobs[i].unit), 0);
	}
}

/* ---- actors that count their turns ---- */

struct counter {
	struct lab *lab;
	uint32_t in_turn;
};

static uint32_t messages;

static int counter_start(struct actor_ctx *ctx)
{
	return 0;
}

static int counter_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	struct counter *c = actor_state(ctx);

	messages++;
	c->lab->units++;
	return 0;
}

static struct actor_class counter_class = {
	.size = sizeof(counter_class),
	.name = "counter",
	.state_bytes = sizeof(struct counter),
	.on_start = counter_start,
	.on_message = counter_message,
};

static actor_ref refs[UNITS];

static void counters_spawn(struct lab *lab, uint32_t count)
{
	struct counter init = {.lab = lab};
	struct actor_spawn_options options = {.size = sizeof(options), .init = &init};

	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(
			actor_system_spawn(lab->system, &counter_class, &options, &refs[i]), 0);
	lab_run(lab);
}

static void counters_tell(struct lab *lab, uint32_t count, uint32_t each)
{
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t n = 0; n < each; n++)
			assert_int_equal(
				actor_system_tell(lab->system, refs[i], &plain_type, NULL, 0), 0);
}

/* ---- the table of dispatchers ---- */

enum which { IMMEDIATE, THROUGHPUT_16, THROUGHPUT_5, HYBRID_64, HYBRID_3, MICROTASK, KINDS };

static const struct {
	const char *name;
	uint32_t per_pass;
} kinds[KINDS] = {
	[IMMEDIATE] = {"immediate", 1},
	[THROUGHPUT_16] = {"throughput(16)", 16},
	[THROUGHPUT_5] = {"throughput(5)", 5},
	[HYBRID_64] = {"hybrid(64)", 64},
	[HYBRID_3] = {"hybrid(3)", 3},
	[MICROTASK] = {"microtask", UNITS},
};

static struct actor_dispatcher_spec spec_of(enum which kind)
{
	struct actor_dispatcher_spec spec;
	int rc = 0;

	if (kind == IMMEDIATE)
		rc = actor_dispatcher_immediate(&spec, NULL);
	else if (kind == MICROTASK)
		rc = actor_dispatcher_microtask(&spec, NULL);
	else if (kind == HYBRID_64 || kind == HYBRID_3)
		rc = actor_dispatcher_hybrid(&spec, kinds[kind].per_pass, NULL);
	else
		rc = actor_dispatcher_throughput(&spec, kinds[kind].per_pass, NULL);
	assert_int_equal(rc, 0);
	return spec;
}

static void lab_open_kind(struct lab *lab, enum which kind)
{
	struct actor_dispatcher_spec spec = spec_of(kind);

	lab_open(lab, &spec);
}

/* Every busy pass ran `most` units, the last one the rest. */
static void assert_passes(const struct lab *lab, uint32_t most, uint32_t total, const char *what)
{
	uint32_t units[LAB_PASSES];
	uint32_t count = lab_busy_passes(lab, units, LAB_PASSES);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t expected = total < most ? total : most;

		if (units[i] != expected)
			fail_msg("%s: busy pass %u ran %u units, expected %u", what, i, units[i],
				expected);
		total -= units[i];
	}
	if (total)
		fail_msg("%s: %u units did not run", what, total);
}

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

static void run_until(struct lab *lab, uv_run_mode mode, uint32_t *done)
{
	if (mode == UV_RUN_DEFAULT) {
		/* The counting handle would keep the loop alive. */
		uv_unref((uv_handle_t *)&lab->prepare);
		uv_run(&lab->loop, mode);
		uv_ref((uv_handle_t *)&lab->prepare);
		return;
	}
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

/* ---- per tick of a timer ---- */

static uint32_t ticks_units[UNITS * 2];
static uint32_t ticks;

static int slow_run(struct actor_unit *unit)
{
	spin_ns(1200000);
	return job_run(unit);
}

static void on_tick(uv_timer_t *timer)
{
	struct lab *lab = timer->data;

	if (ticks < COUNT(ticks_units))
		ticks_units[ticks++] = lab->units;
	lab->units = 0;
	if (ordered == UNITS)
		uv_close((uv_handle_t *)timer, NULL);
}

static void each_tick_of_a_1_ms_timer_sees_one_pass_of_slow_units(void **state)
{
	static const enum which which[] = {IMMEDIATE, THROUGHPUT_16, HYBRID_64, MICROTASK};

	for (size_t i = 0; i < COUNT(which); i++) {
		uint32_t left = UNITS;
		uv_timer_t timer;
		struct lab lab;

		lab_open_kind(&lab, which[i]);
		ordered = ticks = 0;
		jobs_queue(&lab, 0, UNITS, 0);
		for (uint32_t n = 0; n < UNITS; n++)
			jobs[n].unit.run = slow_run;
		uv_timer_init(&lab.loop, &timer);
		timer.data = &lab;
		uv_timer_start(&timer, on_tick, 1, 1);
		lab_run(&lab);
		for (uint32_t n = 0; n < ticks; n++) {
			uint32_t most = kinds[which[i]].per_pass;

			if (!ticks_units[n])
				continue;
			assert_int_equal(ticks_units[n], left < most ? left : most);
			left -= ticks_units[n];
		}
		assert_int_equal(left, 0);
		lab_close(&lab);
	}
}

/* ---- messages ---- */

static void a_hybrid_pass_handles_at_most_1024_messages(void **state)
{
	struct lab lab;

	lab_open(&lab, NULL);
	counters_spawn(&lab, 100);
	counters_tell(&lab, 100, 40);
	messages = 0;
	lab_count(&lab);
	run_until(&lab, UV_RUN_DEFAULT, &messages);
	lab_count_stop(&lab);
	assert_int_equal(messages, 4000);
	assert_int_equal(lab.pass_units[1], 1024);
	for (uint32_t i = 0; i < lab.passes; i++)
		assert_true(lab.pass_units[i] <= 1024);
	lab_close(&lab);
}

static void a_flooded_actor_takes_its_throughput_per_turn(void **state)
{
	static const struct {
		int64_t throughput;
		uint32_t messages, turns;
	} rows[] = {{0, 160, 10}, {1, 50, 50}, {16, 17, 2}, {1000, 160, 1}, {63, 130, 3}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct counter init;
		struct actor_spawn_options options = {.size = sizeof(options), .init = &init};
		struct lab lab;
		uint64_t before;

		lab_open(&lab, NULL);
		init.lab = &lab;
		options.throughput = rows[i].throughput;
		actor_system_spawn(lab.system, &counter_class, &options, &refs[0]);
		lab_run(&lab);
		before = lab_stats(&lab).turns;
		messages = 0;
		counters_tell(&lab, 1, rows[i].messages);
		lab_run(&lab);
		assert_int_equal(messages, rows[i].messages);
		assert_int_equal(lab_stats(&lab).turns - before, rows[i].turns);
		lab_close(&lab);
	}
}

static void an_actor_alone_on_throughput_gets_batches_of_one(void **state)
{
	struct lab lab;

	lab_open_kind(&lab, THROUGHPUT_16);
	counters_spawn(&lab, 1);
	messages = 0;
	lab_count(&lab);
	counters_tell(&lab, 1, 80);
	run_until(&lab, UV_RUN_DEFAULT, &messages);
	lab_count_stop(&lab);
	assert_passes(&lab, 16, 80, "one actor, 16 messages per turn");
	lab_close(&lab);
}

/* ---- volleys ---- */

static uint32_t hops, hops_max;
static uint32_t timer_ticks, socket_reads;

static int volley_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	spin_ns(20000);
	if (++hops >= hops_max)
		return 0;
	return actor_reply(ctx, &plain_type, NULL, 0);
}

static struct actor_class volley_class = {
	.size = sizeof(volley_class),
	.name = "volley",
	.on_message = volley_message,
};

static int serve_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	return actor_tell(ctx, refs[1], &plain_type, NULL, 0);
}

static struct actor_class serve_class = {
	.size = sizeof(serve_class),
	.name = "serve",
	.on_message = serve_message,
};

static int serve_or_volley(struct actor_ctx *ctx, const struct actor_message *message)
{
	return actor_sender(ctx) ? volley_message(ctx, message) : serve_message(ctx, message);
}

static void on_volley_tick(uv_timer_t *timer)
{
	if (hops >= hops_max)
		uv_close((uv_handle_t *)timer, NULL);
	else if (hops)
		timer_ticks++;
}

static void on_volley_poll(uv_poll_t *poll, int status, int events)
{
	if (hops >= hops_max)
		uv_close((uv_handle_t *)poll, NULL);
	else if (hops)
		socket_reads++;
}

static void only_microtask_lets_a_volley_starve_timers_and_sockets(void **state)
{
	static const enum which which[] = {IMMEDIATE, THROUGHPUT_16, HYBRID_64, MICROTASK};

	serve_class.on_message = serve_or_volley;
	for (size_t i = 0; i < COUNT(which); i++) {
		uv_timer_t timer;
		uv_poll_t poll;
		struct lab lab;
		int fds[2];

		lab_open_kind(&lab, which[i]);
		hops = timer_ticks = socket_reads = 0;
		hops_max = 1000;
		actor_system_spawn(lab.system, &serve_class, NULL, &refs[0]);
		actor_system_spawn(lab.system, &volley_class, NULL, &refs[1]);
		actor_system_tell(lab.system, refs[0], &plain_type, NULL, 0);
		uv_timer_init(&lab.loop, &timer);
		uv_timer_start(&timer, on_volley_tick, 1, 1);
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
		assert_int_equal(write(fds[1], "x", 1), 1);
		uv_poll_init(&lab.loop, &poll, fds[0]);
		uv_poll_start(&poll, UV_READABLE, on_volley_poll);
		lab_run(&lab);
		assert_int_equal(hops, hops_max);
		if (which[i] == MICROTASK) {
			assert_int_equal(timer_ticks, 0);
			assert_int_equal(socket_reads, 0);
		} else {
			assert_true(timer_ticks > 0);
			assert_true(socket_reads > 0);
		}
		close(fds[0]);
		close(fds[1]);
		lab_close(&lab);
	}
}

/* ---- order ---- */

static uint32_t queued;

static void queue_more(struct lab *lab, uint32_t count)
{
	if (queued + count > UNITS)
		count = UNITS - queued;
	jobs_queue(lab, queued, queued + count, 0);
	queued += count;
}

static int queueing_run(struct actor_unit *unit)
{
	struct job *job = (struct job *)unit;

	job_run(unit);
	if (job->number % 3 == 0)
		queue_more(job->lab, 1);
	return 0;
}

static void on_more(uv_timer_t *timer)
{
	struct lab *lab = timer->data;

	queue_more(lab, 3);
	if (queued == UNITS)
		uv_close((uv_handle_t *)timer, NULL);
	else
		uv_timer_start(timer, on_more, 0, 0);
}

static void on_more_prepare(uv_prepare_t *prepare)
{
	struct lab *lab = prepare->data;

	queue_more(lab, 2);
	if (queued == UNITS)
		uv_close((uv_handle_t *)prepare, NULL);
}

static void units_run_in_the_order_they_were_queued(void **state)
{
	static const struct {
		bool hybrid;
		int64_t budget;
	} rows[] = {{true, 1}, {true, 2}, {true, 3}, {true, 64}, {false, 1}, {false, 2},
		{false, 16}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct actor_dispatcher_spec spec;
		uv_prepare_t prepare;
		uv_timer_t timer;
		struct lab lab;

		if (rows[i].hybrid)
			actor_dispatcher_hybrid(&spec, rows[i].budget, NULL);
		else
			actor_dispatcher_throughput(&spec, rows[i].budget, NULL);
		lab_open(&lab, &spec);
		ordered = queued = 0;
		queue_more(&lab, 20);
		for (uint32_t n = 0; n < queued; n++)
			jobs[n].unit.run = queueing_run;
		uv_timer_init(&lab.loop, &timer);
		uv_prepare_init(&lab.loop, &prepare);
		timer.data = prepare.data = &lab;
		uv_timer_start(&timer, on_more, 0, 0);
		uv_prepare_start(&prepare, on_more_prepare);
		lab_run(&lab);
		assert_int_equal(ordered, UNITS);
		for (uint32_t n = 0; n < UNITS; n++)
			assert_int_equal(order[n], n);
		lab_close(&lab);
	}
}

/* ---- rearming ---- */

static void units_that_queue_themselves_never_raise_the_count_per_pass(void **state)
{
	static const struct {
		enum actor_dispatcher_kind kind;
		int64_t budget;
		uint32_t units, per_pass;
	} rows[] = {
		{ACTOR_THROUGHPUT_DISPATCHER, 1, 2, 1},
		{ACTOR_THROUGHPUT_DISPATCHER, 4, 4, 4},
		{ACTOR_THROUGHPUT_DISPATCHER, 16, 40, 16},
		{ACTOR_THROUGHPUT_DISPATCHER, 16, 3, 3},
		{ACTOR_HYBRID, 1, 2, 1},
		{ACTOR_HYBRID, 64, 3, 64},
		{ACTOR_IMMEDIATE, 1, 5, 1},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct actor_dispatcher_spec spec;
		struct lab lab;

		if (rows[i].kind == ACTOR_HYBRID)
			actor_dispatcher_hybrid(&spec, rows[i].budget, NULL);
		else if (rows[i].kind == ACTOR_IMMEDIATE)
			actor_dispatcher_immediate(&spec, NULL);
		else
			actor_dispatcher_throughput(&spec, rows[i].budget, NULL);
		lab_open(&lab, &spec);
		lab_count(&lab);
		jobs_queue(&lab, 0, rows[i].units, 200);
		for (int pass = 0; pass < 150; pass++)
			uv_run(&lab.loop, UV_RUN_NOWAIT);
		lab_count_stop(&lab);
		for (uint32_t n = 1; n < lab.passes && n * rows[i].per_pass < 200 * rows[i].units; n++)
			assert_int_equal(lab.pass_units[n], rows[i].per_pass);
		lab_run(&lab);
		lab_close(&lab);
	}
}

/* ---- several dispatchers on a loop ---- */

static void queue_on(struct lab *lab, const struct actor_dispatcher_spec *spec, uint32_t from,
	uint32_t to)
{
	struct actor_dispatcher *dispatcher = dispatcher_of(lab, spec);

	for (uint32_t i = from; i < to; i++) {
		actor_unit_init(&jobs[i].unit, job_run);
		jobs[i].lab = lab;
		jobs[i].number = i;
		jobs[i].again = 0;
		assert_int_equal(actor_dispatcher_execute(dispatcher, &jobs[i].unit), 0);
	}
}

static void dispatchers_that_share_a_loop_add_up(void **state)
{
	struct actor_dispatcher_spec hybrid, throughput, immediate;
	struct lab lab;

	actor_dispatcher_hybrid(&hybrid, 10, NULL);
	actor_dispatcher_throughput(&throughput, 4, NULL);
	actor_dispatcher_immediate(&immediate, NULL);
	lab_open(&lab, NULL);
	lab_count(&lab);
	queue_on(&lab, &hybrid, 0, 40);
	queue_on(&lab, &throughput, 40, 56);
	queue_on(&lab, &immediate, 56, 60);
	uv_unref((uv_handle_t *)&lab.prepare);
	lab_run(&lab);
	lab_count_stop(&lab);
	assert_passes(&lab, 15, 60, "hybrid(10), throughput(4) and immediate");
	lab_close(&lab);
}

static void immediate_dispatchers_share_one_unit_per_pass_by_turns(void **state)
{
	static const uint32_t expected[] = {0, 4, 1, 5, 2, 6, 3, 7};
	struct actor_dispatcher_spec a, b;
	struct lab lab;

	actor_dispatcher_immediate(&a, "one");
	actor_dispatcher_immediate(&b, "other");
	lab_open(&lab, NULL);
	lab_count(&lab);
	ordered = 0;
	queue_on(&lab, &a, 0, 4);
	queue_on(&lab, &b, 4, 8);
	uv_unref((uv_handle_t *)&lab.prepare);
	lab_run(&lab);
	lab_count_stop(&lab);
	assert_passes(&lab, 1, 8, "two immediate dispatchers");
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(order[i], expected[i]);
	lab_close(&lab);
}

/* A unit of one dispatcher queues one on a throughput dispatcher: it waits for the next pass. */
static struct job late;

static int late_queue(struct actor_unit *unit)
{
	job_run(unit);
	return actor_dispatcher_execute(late.unit.dispatcher, &late.unit);
}

static void throughput_runs_only_what_was_queued_when_the_pass_began(void **state)
{
	/* Opened before and behind the hybrid dispatcher, with and without work of its own. */
	for (int variant = 0; variant < 4; variant++) {
		struct actor_dispatcher_spec hybrid, throughput;
		uint32_t units[LAB_PASSES];
		struct lab lab;

		actor_dispatcher_hybrid(&hybrid, 10, NULL);
		actor_dispatcher_throughput(&throughput, 4, NULL);
		lab_open(&lab, NULL);
		dispatcher_of(&lab, variant & 1 ? &hybrid : &throughput);
		ordered = 0;
		queue_on(&lab, &hybrid, 0, 1);
		jobs[0].unit.run = late_queue;
		if (variant & 2)
			queue_on(&lab, &throughput, 1, 2);
		actor_unit_init(&late.unit, job_run);
		late.lab = &lab;
		late.number = 99;
		late.unit.dispatcher = dispatcher_of(&lab, &throughput);
		lab_count(&lab);
		uv_unref((uv_handle_t *)&lab.prepare);
		lab_run(&lab);
		lab_count_stop(&lab);
		assert_int_equal(lab_busy_passes(&lab, units, LAB_PASSES), 2);
		assert_int_equal(units[0], variant & 2 ? 2 : 1);
		assert_int_equal(units[1], 1);
		assert_int_equal(order[ordered - 1], 99);
		lab_close(&lab);
	}
}

/* ---- drain by hand ---- */

static int drained[3];

static void on_drain(uv_timer_t *timer)
{
	struct lab *lab = timer->data;

	jobs_queue(lab, 0, UNITS, 0);
	for (int i = 0; i < 3; i++)
		drained[i] = actor_system_drain(lab->system);
	uv_close((uv_handle_t *)timer, NULL);
}

static void drain_spends_the_pass_s_own_counts(void **state)
{
	for (enum which kind = 0; kind < KINDS; kind++) {
		uint32_t per_pass = kinds[kind].per_pass;
		uv_timer_t timer;
		struct lab lab;

		lab_open_kind(&lab, kind);
		lab_count(&lab);
		uv_timer_init(&lab.loop, &timer);
		timer.data = &lab;
		uv_timer_start(&timer, on_drain, 1, 0);
		uv_unref((uv_handle_t *)&lab.prepare);
		lab_run(&lab);
		lab_count_stop(&lab);
		assert_int_equal(drained[0], per_pass);
		assert_int_equal(drained[1], 0);
		assert_int_equal(drained[2], 0);
		/* Run in the timer phase, so the first prepare after it sees them already. */
		assert_passes(&lab, per_pass, UNITS, kinds[kind].name);
		lab_close(&lab);
	}
}

static int inside;

static int drain_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	inside = actor_system_drain(actor_ctx_system(ctx));
	return 0;
}

static struct actor_class drain_class = {
	.size = sizeof(drain_class), .name = "drain", .on_message = drain_message};

static int drain_run(struct actor_unit *unit)
{
	struct job *job = (struct job *)unit;

	inside = actor_system_drain(job->lab->system);
	return 0;
}

static void *drain_elsewhere(void *argument)
{
	struct lab *lab = argument;

	inside = actor_system_drain(lab->system);
	return NULL;
}

static void drain_is_refused_inside_a_turn_and_on_other_threads(void **state)
{
	pthread_t thread;
	actor_ref ref;
	struct lab lab;

	lab_open(&lab, NULL);
	actor_system_spawn(lab.system, &drain_class, NULL, &ref);
	actor_system_tell(lab.system, ref, &plain_type, NULL, 0);
	lab_run(&lab);
	assert_int_equal(inside, -EBUSY);
	inside = 0;
	jobs_queue(&lab, 0, 1, 0);
	jobs[0].unit.run = drain_run;
	lab_run(&lab);
	assert_int_equal(inside, -EBUSY);
	pthread_create(&thread, NULL, drain_elsewhere, &lab);
	pthread_join(thread, NULL);
	assert_int_equal(inside, ACTOR_ETHREAD);
	lab_close(&lab);
}

/* ---- refusals ---- */

static void budgets_out_of_range_are_refused(void **state)
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
		cmocka_unit_test(each_tick_of_a_1_ms_timer_sees_one_pass_of_slow_units),
		cmocka_unit_test(a_hybrid_pass_handles_at_most_1024_messages),
		cmocka_unit_test(a_flooded_actor_takes_its_throughput_per_turn),
		cmocka_unit_test(an_actor_alone_on_throughput_gets_batches_of_one),
		cmocka_unit_test(only_microtask_lets_a_volley_starve_timers_and_sockets),
		cmocka_unit_test(units_run_in_the_order_they_were_queued),
		cmocka_unit_test(units_that_queue_themselves_never_raise_the_count_per_pass),
		cmocka_unit_test(dispatchers_that_share_a_loop_add_up),
		cmocka_unit_test(immediate_dispatchers_share_one_unit_per_pass_by_turns),
		cmocka_unit_test(throughput_runs_only_what_was_queued_when_the_pass_began),
		cmocka_unit_test(drain_spends_the_pass_s_own_counts),
		cmocka_unit_test(drain_is_refused_inside_a_turn_and_on_other_threads),
		cmocka_unit_test(budgets_out_of_range_are_refused),
		cmocka_unit_test(a_dispatcher_s_id_says_its_budget_unless_it_is_the_usual_one),
		cmocka_unit_test(an_id_means_one_description_per_system),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
