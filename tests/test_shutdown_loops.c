/* SPDX-License-Identifier: MIT */
/* Coordinated shutdown of systems with loops of their own, by signals, and under stress. */
#include "tests/lab.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static struct lab lab;

/* ---- loops of the system's own, and signals ---- */

static _Atomic int there_rc;

static int wait_there(struct actor_ctx *ctx, const struct actor_message *message)
{
	atomic_store(&there_rc, actor_system_shutdown_wait(actor_ctx_system(ctx)));
	return 0;
}

static struct actor_class wait_class = {
	.size = sizeof(wait_class), .name = "wait", .on_message = wait_there};

static _Atomic uint32_t ran;

static int count_task(struct actor_system *system, int task, void *data)
{
	atomic_fetch_add(&ran, 1);
	return 0;
}

static void a_thread_outside_waits_for_the_end(void **state)
{
	actor_ref ref;

	atomic_store(&ran, 0);
	lab_open_owned(&lab, 3);
	assert_int_equal(actor_system_spawn(lab.system, &wait_class, NULL, &ref), 0);
	assert_int_equal(actor_system_tell(lab.system, ref, &plain_type, NULL, 0), 0);
	for (int i = 0; i < 10000 && !there_rc; i++)
		sleep_ms(1);
	assert_int_equal(there_rc, ACTOR_ETHREAD);
	assert_true(actor_shutdown_add(lab.system, ACTOR_UNBIND, "one", count_task, NULL) > 0);
	assert_true(actor_shutdown_add(lab.system, ACTOR_LEFT, "two", count_task, NULL) > 0);
	assert_int_equal(actor_system_shutdown_wait(lab.system), 0);
	assert_int_equal(ran, 2);
}

static void on_end(struct actor_system *system, void *data)
{
	atomic_store((_Atomic bool *)data, true);
}

static bool is_default(int number)
{
	struct sigaction action;

	assert_int_equal(sigaction(number, NULL, &action), 0);
	return action.sa_handler == SIG_DFL;
}

static void on_nothing(uv_timer_t *handle)
{
}

static void a_signal_begins_a_shutdown_and_has_its_usual_effect_then(void **state)
{
	static const int numbers[] = {SIGTERM, SIGINT};
	static _Atomic bool ended;

	for (int i = 0; i < 4; i++) {
		struct actor_system_options options = {.size = sizeof(options),
			.shutdown_signals = 1,
			.on_shutdown = on_end,
			.on_shutdown_data = (void *)&ended};
		struct actor_system *system;
		uv_timer_t timer;
		uv_loop_t loop;

		atomic_store(&ran, 0);
		atomic_store(&ended, false);
		uv_loop_init(&loop);
		/* The handles of signals do not keep the loop alive by themselves. */
		uv_timer_init(&loop, &timer);
		uv_timer_start(&timer, on_nothing, 1, 1);
		options.loop = i < 2 ? &loop : NULL;
		options.loops = 2;
		assert_int_equal(actor_system_open(&system, &options), 0);
		assert_false(is_default(SIGTERM) || is_default(SIGINT));
		actor_shutdown_add(system, ACTOR_UNBIND, "one", count_task, NULL);
		assert_int_equal(kill(getpid(), numbers[i % 2]), 0);
		for (int n = 0; n < 10000 && !ended; n++) {
			if (options.loop)
				uv_run(&loop, UV_RUN_NOWAIT);
			sleep_ms(1);
		}
		if (!ended)
			fail_msg("round %d has not ended", i);
		assert_int_equal(ran, 1);
		assert_true(is_default(SIGTERM) && is_default(SIGINT));
		uv_close((uv_handle_t *)&timer, NULL);
		uv_run(&loop, UV_RUN_DEFAULT);
		assert_int_equal(uv_loop_close(&loop), 0);
	}
}

static void a_close_ends_the_waiting_for_signals(void **state)
{
	for (int embedded = 0; embedded < 2; embedded++) {
		struct actor_system_options options = {
			.size = sizeof(options), .shutdown_signals = 1, .loops = 1};
		struct actor_system *system;
		uv_loop_t loop;

		uv_loop_init(&loop);
		options.loop = embedded ? &loop : NULL;
		assert_int_equal(actor_system_open(&system, &options), 0);
		uv_run(&loop, UV_RUN_DEFAULT); /* returns: nothing keeps it alive */
		if (embedded)
			assert_int_equal(actor_system_close(system, NULL, NULL), 0);
		else
			assert_int_equal(actor_system_close_wait(system), 0);
		uv_run(&loop, UV_RUN_DEFAULT);
		assert_int_equal(uv_loop_close(&loop), 0);
		assert_true(is_default(SIGTERM) && is_default(SIGINT));
	}
}

/* Somebody closes all handles of his loop first, then the system. */
static void close_any(uv_handle_t *handle, void *data)
{
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

static void on_closed(struct actor_system *system, void *data)
{
	*(bool *)data = true;
}

static void handles_for_signals_may_be_walked_over(void **state)
{
	struct actor_system_options options = {.size = sizeof(options), .shutdown_signals = 1};
	struct actor_system *system;
	bool closed = false;
	uv_loop_t loop;

	uv_loop_init(&loop);
	options.loop = &loop;
	assert_int_equal(actor_system_open(&system, &options), 0);
	uv_walk(&loop, close_any, NULL);
	assert_int_equal(actor_system_shutdown(system, on_closed, &closed), 0);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_true(closed);
	assert_int_equal(uv_loop_close(&loop), 0);
}

/* ---- stress ---- */

#define PLAYERS 24
#define TASKS	40

static actor_ref players[PLAYERS];
static _Atomic uint64_t told, handled;

/* Hits to and fro between loops, for ever. */
static int player_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	uint64_t value = token_new(*(const uint64_t *)message->payload * 6364136223846793005u + 1);

	atomic_fetch_add(&handled, 1);
	atomic_fetch_add(&told, 1);
	if (actor_tell(ctx, players[value >> 33 & 15], &token_type, &value, sizeof(value)))
		atomic_fetch_sub(&told, 1), atomic_fetch_sub(&tokens_alive, 1);
	return 0;
}

static struct actor_class player_class = {
	.size = sizeof(player_class), .name = "player", .on_message = player_message};

static struct plan {
	enum { AT_ONCE, FAILS, LATER, NEVER } how;
	uint32_t after_us;
	int task;
} plans[TASKS];
static _Atomic uint32_t begun;

static void *done_elsewhere(void *data)
{
	struct plan *plan = data;

	usleep(plan->after_us);
	/* Late is fine: the phase may be over, but the system is not gone: its end waits for us. */
	actor_shutdown_done(lab.system, plan->task, 0);
	return NULL;
}

static pthread_t threads[TASKS];
static bool threaded[TASKS];

static int planned_task(struct actor_system *system, int task, void *data)
{
	struct plan *plan = data;

	atomic_fetch_add(&begun, 1);
	plan->task = task;
	if (plan->how == AT_ONCE)
		return 0;
	if (plan->how == FAILS)
		return -EIO;
	if (plan->how == LATER) {
		size_t i = (size_t)(plan - plans);

		threaded[i] = pthread_create(&threads[i], NULL, done_elsewhere, plan) == 0;
	}
	return ACTOR_SHUTDOWN_LATER;
}

static int join_all(struct actor_system *system, int task, void *data)
{
	for (int i = 0; i < TASKS; i++)
		if (threaded[i])
			pthread_join(threads[i], NULL);
	return 0;
}

static void busy_round(uint64_t *seed)
{
	uint32_t bad = 0;

	memset(threaded, 0, sizeof(threaded));
	atomic_store(&begun, 0);
	atomic_store(&told, 0);
	atomic_store(&handled, 0);
	lab_open_owned(&lab, 3);
	actor_shutdown_timeout(lab.system, ACTOR_EACH_PHASE, 40);
	for (int i = 0; i < PLAYERS; i++) {
		struct actor_spawn_options options = {.size = sizeof(options), .loop = i % 3 + 1};

		assert_int_equal(
			actor_system_spawn(lab.system, &player_class, &options, &players[i]), 0);
	}
	for (int i = 0; i < PLAYERS; i++) {
		uint64_t value = token_new(random_next(seed));

		atomic_fetch_add(&told, 1);
		assert_int_equal(actor_system_tell(lab.system, players[i], &token_type, &value,
					 sizeof(value)),
			0);
	}
	for (int i = 0; i < TASKS; i++) {
		char name[16];

		plans[i].how = random_below(seed, 20) ? random_below(seed, 3) : NEVER;
		plans[i].after_us = random_below(seed, 50000);
		bad += plans[i].how == FAILS || plans[i].how == NEVER;
		snprintf(name, sizeof(name), "task-%d", i);
		assert_true(actor_shutdown_add(lab.system,
				    (enum actor_shutdown_phase)(1 + random_below(seed, 11)), name,
				    planned_task, &plans[i]) > 0);
	}
	assert_true(actor_shutdown_add(lab.system, ACTOR_SYSTEM_STOP, "join", join_all, NULL) > 0);
	assert_int_equal(actor_system_shutdown_wait(lab.system), 0);
	assert_int_equal(begun, TASKS);
	assert_true(lab.logged >= bad);
	assert_int_equal(tokens_alive, 0);
	assert_int_equal(told, handled + lab.dead_letters);
}

static void busy_systems_shut_down_and_lose_nothing(void **state)
{
	const char *given = getenv("STRESS_SEED");
	uint64_t seed = given ? strtoull(given, NULL, 0) : now_ns() | 1;

	printf("# seed %llu\n", (unsigned long long)seed);
	for (int i = 0; i < 6; i++)
		busy_round(&seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_outside_waits_for_the_end),
		cmocka_unit_test(a_signal_begins_a_shutdown_and_has_its_usual_effect_then),
		cmocka_unit_test(a_close_ends_the_waiting_for_signals),
		cmocka_unit_test(handles_for_signals_may_be_walked_over),
		cmocka_unit_test(busy_systems_shut_down_and_lose_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
