/* SPDX-License-Identifier: MIT */
/* Threads outside that never stop telling: timers have their turn, and closing comes to an end. */
#include "tests/lab.h"

#include <pthread.h>
#include <stdatomic.h>

static struct actor_type drop = ACTOR_TYPE("drop");
static _Atomic int stop;
static _Atomic uint64_t accepted;
static uint64_t handled;
static uint64_t dead;
static int ticks;
static int closed;

static struct actor_system *sink_system;
static actor_ref sink;

static int on_drop(struct actor_ctx *ctx, const struct actor_message *m)
{
	handled++;
	return 0;
}

static struct actor_class sink_class = {
	.size = sizeof(struct actor_class), .name = "sink", .on_message = on_drop};

static void on_dead_letter(void *data, actor_ref to, const struct actor_message *m)
{
	dead++;
}

static void *tell_for_ever(void *unused)
{
	while (!stop)
		if (actor_system_tell(sink_system, sink, &drop, NULL, 0) == 0)
			accepted++;
	return NULL;
}

static void on_closed(struct actor_system *system, void *data)
{
	closed = 1;
}

/* Until the inbox is closed the threads are heard; then they must be gone before the system is. */
static void on_tick(uv_timer_t *timer)
{
	if (++ticks < 20)
		return;
	stop = 1;
	uv_close((uv_handle_t *)timer, NULL);
}

static void timers_run_while_threads_tell_without_end(void **state)
{
	struct actor_system_options options = {.size = sizeof(options)};
	pthread_t threads[2];
	uv_timer_t timer;
	uv_loop_t loop;

	uv_loop_init(&loop);
	options.loop = &loop;
	options.drain_ms = 100;
	assert_int_equal(actor_system_open(&sink_system, &options), 0);
	actor_system_on_dead_letter(sink_system, on_dead_letter, NULL);
	assert_int_equal(actor_system_spawn(sink_system, &sink_class, NULL, &sink), 0);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, tell_for_ever, NULL);
	uv_timer_init(&loop, &timer);
	uv_timer_start(&timer, on_tick, 10, 10);
	uv_run(&loop, UV_RUN_DEFAULT);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(ticks, 20);
	assert_true(handled > 0);

	/* What is queued now is far more than the drain budget may hold: the rest is dead letters. */
	assert_int_equal(actor_system_close(sink_system, on_closed, NULL), 0);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(closed, 1);
	assert_int_equal(handled + dead, accepted);
	assert_int_equal(uv_loop_close(&loop), 0);
}

static _Atomic int inflow_closed;

static void on_inflow_closed(struct actor_system *system, void *data)
{
	/* The inbox is closed by now: whoever tells is refused, and must be done before we return. */
	stop = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(((pthread_t *)data)[i], NULL);
	inflow_closed = 1;
}

static void closing_ends_although_threads_tell_without_end(void **state)
{
	struct actor_system_options options = {.size = sizeof(options)};
	pthread_t threads[2];
	uv_loop_t loop;

	stop = 0;
	accepted = handled = dead = 0;
	uv_loop_init(&loop);
	options.loop = &loop;
	options.drain_ms = 50;
	assert_int_equal(actor_system_open(&sink_system, &options), 0);
	actor_system_on_dead_letter(sink_system, on_dead_letter, NULL);
	assert_int_equal(actor_system_spawn(sink_system, &sink_class, NULL, &sink), 0);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, tell_for_ever, NULL);
	assert_int_equal(actor_system_close(sink_system, on_inflow_closed, threads), 0);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(inflow_closed, 1);
	assert_int_equal(handled + dead, accepted);
	assert_int_equal(uv_loop_close(&loop), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(timers_run_while_threads_tell_without_end),
		cmocka_unit_test(closing_ends_although_threads_tell_without_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
