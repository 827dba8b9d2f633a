/* SPDX-License-Identifier: MIT */
/* What timers and sockets see while actors are busy, and what an actor gets per turn. */
#include "tests/workload.h"

#include <sys/socket.h>
#include <unistd.h>

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
	run_counted(&lab);
	lab_count_stop(&lab);
	assert_int_equal(messages, 4000);
	assert_int_equal(lab.pass_units[1], 1024);
	for (uint32_t i = 0; i < lab.passes; i++)
		assert_true(lab.pass_units[i] <= 1024);
	lab_close(&lab);
}

static void case_1_and_2_a_flooded_actor_takes_its_throughput_per_turn(void **state)
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
	run_counted(&lab);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_tick_of_a_1_ms_timer_sees_one_pass_of_slow_units),
		cmocka_unit_test(a_hybrid_pass_handles_at_most_1024_messages),
		cmocka_unit_test(case_1_and_2_a_flooded_actor_takes_its_throughput_per_turn),
		cmocka_unit_test(an_actor_alone_on_throughput_gets_batches_of_one),
		cmocka_unit_test(only_microtask_lets_a_volley_starve_timers_and_sockets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
