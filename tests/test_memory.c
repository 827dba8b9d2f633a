/* SPDX-License-Identifier: MIT */
/* The pool, and what happens when memory runs out at any place: -ENOMEM, and nothing leaks. */
#include "tests/lab.h"

#include "runtime/memory.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int setup(void **state)
{
	lab_heap_begin();
	return 0;
}

static int teardown(void **state)
{
	lab_heap_end();
	return 0;
}

/* ---- pool ---- */

static void blocks_are_aligned_and_apart(void **state)
{
	static const size_t sizes[] = {1, 16, 17, 48, 64, 100, 128, 192, 256, 1000, 1024, 2048, 2049};
	static unsigned char *blocks[COUNT(sizes)][50];
	struct actor__pool pool = {0};
	int64_t before = lab_heap_blocks;

	for (size_t i = 0; i < COUNT(sizes); i++) {
		size_t size = (sizes[i] + 15) & ~(size_t)15;
		size_t align = size & -size;

		for (int n = 0; n < 50; n++) {
			blocks[i][n] = actor__pool_take(&pool, sizes[i]);
			assert_non_null(blocks[i][n]);
			if (sizes[i] <= ACTOR__POOL_BYTES)
				assert_int_equal((uintptr_t)blocks[i][n] %
							 (align > 1024 ? 1024 : align),
					0);
			memset(blocks[i][n], (int)(i * 50 + (size_t)n), sizes[i]);
		}
	}
	for (size_t i = 0; i < COUNT(sizes); i++)
		for (int n = 0; n < 50; n++) {
			for (size_t b = 0; b < sizes[i]; b++)
				assert_int_equal(blocks[i][n][b],
					(unsigned char)(i * 50 + (size_t)n));
			actor__pool_give(&pool, blocks[i][n], sizes[i]);
		}
	actor__pool_fini(&pool);
	assert_int_equal(lab_heap_blocks, before);
}

static void a_block_given_back_is_taken_again(void **state)
{
	struct actor__pool pool = {0};
	void *block = actor__pool_take(&pool, 200);
	int64_t before = lab_heap_blocks;

	for (int i = 0; i < 100000; i++) {
		actor__pool_give(&pool, block, 200);
		block = actor__pool_take(&pool, 200);
	}
	assert_int_equal(lab_heap_blocks, before);
	actor__pool_fini(&pool);
}

static void a_pool_without_memory_says_so(void **state)
{
	struct actor__pool pool = {0};

	lab_heap_fail(1, LAB_FAIL_ONCE, 0);
	assert_null(actor__pool_take(&pool, 100));
	assert_non_null(actor__pool_take(&pool, 100));
	lab_heap_fail(1, LAB_FAIL_ONCE, 0);
	assert_null(actor__pool_take(&pool, 5000));
	actor__heap_free(NULL);
	actor__pool_fini(&pool);
}

/* ---- a system in which one allocation fails ---- */

static _Atomic uint32_t wrong;

static void check(int rc)
{
	if (rc && rc != -ENOMEM && rc != ACTOR_ECLOSED)
		atomic_fetch_add(&wrong, 1);
}

static int leaf_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	check(actor_reply(ctx, &plain_type, NULL, 0));
	return 0;
}

static struct actor_class leaf_class = {
	.size = sizeof(leaf_class), .name = "leaf", .on_message = leaf_message};

static int on_reply(
	struct actor_ctx *ctx, int status, const struct actor_message *reply, void *data)
{
	return 0;
}

static void tell_owned(struct actor_ctx *ctx, actor_ref to)
{
	struct counted *block = counted_new(1);
	int rc = actor_tell(ctx, to, &counted_type, block, sizeof(*block));

	check(rc);
	if (rc)
		counted_type.destroy(block, sizeof(*block));
}

static int root_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	struct actor_dispatcher_spec spec;
	struct actor_spawn_options options = {.size = sizeof(options), .dispatcher = &spec};

	if (message->type != &plain_type || actor_sender(ctx))
		return 0;
	actor_dispatcher_throughput(&spec, 3, "leaves");
	for (int loop = 1; loop <= 2; loop++) {
		char name[8];
		actor_ref leaf;
		int rc;

		snprintf(name, sizeof(name), "leaf-%d", loop);
		options.name = name;
		options.loop = loop;
		rc = actor_spawn(ctx, &leaf_class, &options, &leaf);
		check(rc);
		if (rc)
			continue;
		for (int i = 0; i < 40; i++)
			tell_owned(ctx, leaf);
		for (int i = 0; i < 20; i++)
			check(actor_ask(
				ctx, leaf, &plain_type, NULL, 0, i % 2 ? 5 : -1, on_reply, NULL));
	}
	return 0;
}

static struct actor_class root_class = {
	.size = sizeof(root_class), .name = "root", .on_message = root_message};

static void on_closed(struct actor_system *system, void *data)
{
	*(bool *)data = true;
}

static void quiet(void *data, enum actor_log_level level, const char *text)
{
}

static int use(struct actor_system *system)
{
	struct actor_spawn_options options = {.size = sizeof(options), .name = "root"};
	actor_ref roots[2];
	int rc = 0;

	for (int i = 0; i < 2 && !rc; i++) {
		options.loop = i + 1;
		options.name = i ? "other" : "root";
		rc = actor_system_spawn(system, &root_class, &options, &roots[i]);
		if (!rc)
			rc = actor_system_tell(system, roots[i], &plain_type, NULL, 0);
	}
	return rc;
}

/* 0 or the first error; the system is closed again in any case. */
static int scenario(void)
{
	struct actor_system_options options = {
		.size = sizeof(options), .loops = 1, .ring_slots = 2, .log = quiet};
	struct actor_system *system;
	bool closed = false;
	uv_loop_t loop;
	int rc, close_rc;

	uv_loop_init(&loop);
	options.loop = &loop;
	rc = actor_system_open(&system, &options);
	if (!rc) {
		rc = use(system);
		uv_run(&loop, UV_RUN_DEFAULT);
		while ((close_rc = actor_system_close(system, on_closed, &closed)) == -ENOMEM)
			;
		check(close_rc);
		uv_run(&loop, UV_RUN_DEFAULT);
		if (!closed)
			atomic_fetch_add(&wrong, 1);
	}
	if (uv_loop_close(&loop))
		atomic_fetch_add(&wrong, 1);
	return rc;
}

#define FAILURES 120

static void any_allocation_may_fail_once_without_a_leak(void **state)
{
	int64_t before;
	int failed = 0;

	assert_int_equal(scenario(), 0);
	before = lab_heap_blocks;
	for (int n = 1; n <= FAILURES; n++) {
		int rc;

		lab_heap_fail(n, LAB_FAIL_ONCE, 0);
		rc = scenario();
		lab_heap_fail(0, LAB_FAIL_ONCE, 0);
		check(rc);
		failed += rc == -ENOMEM;
		if (lab_heap_blocks != before || counted_alive || wrong)
			fail_msg("allocation %d: rc %d, %lld blocks, %lld payloads, %u wrong", n, rc,
				(long long)(lab_heap_blocks - before), (long long)counted_alive, wrong);
	}
	assert_true(failed >= 10);
}

/* The process's first system: tables that stay for good are made as well. */
static int first_time(int n)
{
	int rc;

	lab_heap_fail(n, LAB_FAIL_ONCE, 0);
	rc = scenario();
	lab_heap_fail(0, LAB_FAIL_ONCE, 0);
	check(rc);
	if (scenario() || counted_alive || wrong)
		return 1;
	return rc == -ENOMEM ? 2 : 0;
}

static void the_first_system_of_a_process_survives_a_failure_as_well(void **state)
{
	int failed = 0;

	for (int n = 1; n <= 40; n++) {
		int status;
		pid_t pid = fork();

		if (pid == 0)
			_exit(first_time(n));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (!WIFEXITED(status) || WEXITSTATUS(status) == 1)
			fail_msg("allocation %d: status %#x", n, (unsigned int)status);
		failed += WEXITSTATUS(status) == 2;
	}
	assert_true(failed >= 10);
}

static void close_any(uv_handle_t *handle, void *data)
{
	uv_close(handle, NULL);
}

static void closing_without_memory_for_new_handles_is_refused(void **state)
{
	struct lab lab;

	lab_open(&lab, NULL);
	assert_int_equal(actor_system_spawn(lab.system, &leaf_class, NULL, NULL), 0);
	lab_run(&lab);
	uv_walk(&lab.loop, close_any, NULL);
	lab_heap_fail(1, LAB_FAIL_ONCE, 0);
	assert_int_equal(actor_system_close(lab.system, NULL, NULL), -ENOMEM);
	lab_close(&lab); /* nothing had begun */
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(blocks_are_aligned_and_apart),
		TEST(a_block_given_back_is_taken_again),
		TEST(a_pool_without_memory_says_so),
		/* forks, so before any thread */
		TEST(the_first_system_of_a_process_survives_a_failure_as_well),
		TEST(any_allocation_may_fail_once_without_a_leak),
		TEST(closing_without_memory_for_new_handles_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
