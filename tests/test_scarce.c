/* SPDX-License-Identifier: MIT */
/* All features at once on one loop, by a clock of the test's own, again and again: each time
 * another allocation fails, alone or with all that follow until the end of the crowd. Whoever asked
 * for it gets an error code, and nothing that was accepted is lost. */
#include "tests/crowd.h"
#include "tests/sanitized.h"

#include <stdio.h>

#define ACTORS 12
#define SEEDS  (SANITIZED ? 4 : 12)

static int64_t failing; /* the last that failed, for who has to find out why */

static void step(struct actor_system *system, uv_loop_t *loop, int passes)
{
	while (passes--)
		uv_run(loop, UV_RUN_NOWAIT);
	actor_system_advance(system, 3);
}

static void feed(struct actor_system *system, uint64_t *random)
{
	for (uint32_t i = 0; i < ACTORS; i++) {
		struct deed_payload p = {.hops = 10};

		count_made(DEED);
		accepted(DEED,
			actor_system_tell(system, somebody(random), &deed_type, &p, sizeof(p)),
			DO_tell);
	}
}

/* The n-th allocation fails, 0: none. Returns how many there were. */
static int64_t run(int64_t n, enum lab_heap_failure how)
{
	struct actor_system_options options = {
		.size = sizeof(options), .log = crowd_log, .manual_ms = 1, .drain_ms = 50};
	struct actor_stats stats = {.size = sizeof(stats)};
	struct actor_system *system;
	uint64_t random = seed;
	uv_loop_t loop;
	int64_t asked;

	uv_loop_init(&loop);
	options.loop = &loop;
	crowd_again();
	crowd_reset(1, n % 2);
	assert_int_equal(actor_system_open(&system, &options), 0);
	actor_system_on_dead_letter(system, crowd_dead, NULL);
	for (uint32_t i = 0; i < CROWD_PLACES; i++) /* each actor has several */
		if (i < ACTORS)
			assert_int_equal(settle(system, NULL, i, &random), 0);
		else
			atomic_store(&places[i], atomic_load(&places[i % ACTORS]));
	failing = n;
	lab_heap_fail(n, how, 0);
	for (int i = 0; i < 24; i++) {
		if (i < 18)
			feed(system, &random);
		step(system, &loop, 4);
	}
	asked = lab_heap_asked;
	lab_heap_fail(0, LAB_FAIL_ONCE, 0);
	atomic_store(&over, true);
	dangling_end(system, &random);
	assert_int_equal(actor_system_close(system, crowd_closed, &stats), 0);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
	crowd_balance(&stats);
	return asked;
}

static void sweep(enum lab_heap_failure how)
{
	int64_t total = 0, blocks;

	crowd_begin();
	seed = 1;
	run(0, how); /* tables of the process stay */
	blocks = lab_heap_blocks;
	for (uint64_t s = 1; s <= SEEDS; s++) {
		int64_t asked;

		seed = s * 0x9e3779b97f4a7c15ull;
		scarce = false;
		asked = run(0, how);
		scarce = true;
		for (int64_t n = 1; n <= asked; n++)
			run(n, how);
		total += asked;
	}
	assert_int_equal(lab_heap_blocks, blocks);
	print_message("%lld allocations\n", (long long)total);
	assert_true(total > 200);
}

static void any_allocation_may_fail_and_nothing_accepted_is_lost(void **state)
{
	sweep(LAB_FAIL_ONCE);
}

static void memory_may_end_anywhere_and_nothing_accepted_is_lost(void **state)
{
	sweep(LAB_FAIL_FROM_THEN_ON);
}

static int setup(void **state)
{
	lab_heap_begin();
	return 0;
}

static int teardown(void **state)
{
	print_message("last: seed %#llx, allocation %lld\n", (unsigned long long)seed,
		(long long)failing);
	lab_heap_fail(0, LAB_FAIL_ONCE, 0);
	lab_heap_end();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			any_allocation_may_fail_and_nothing_accepted_is_lost, setup, teardown),
		cmocka_unit_test_setup_teardown(
			memory_may_end_anywhere_and_nothing_accepted_is_lost, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
