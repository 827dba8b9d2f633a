/* SPDX-License-Identifier: MIT */
/* Two reasons for a restart at the same time: it is one restart, and each instance ends once. */
#include "tests/lab.h"

static const struct actor_strategy all = {
	.size = sizeof(all), .scope = ACTOR_ALL_FOR_ONE, .max_retries = -1};

static struct actor_type spawn_type = ACTOR_TYPE("spawn");
static struct actor_type pend_type = ACTOR_TYPE("pend");
static struct actor_type fail_type = ACTOR_TYPE("fail");

static struct actor_token token;
static actor_ref first, second;
static int started, stopped;

static int leaf_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	return 0;
}

static struct actor_class leaf_class = {
	.size = sizeof(leaf_class), .name = "leaf", .on_message = leaf_message};

static int sibling_start(struct actor_ctx *ctx)
{
	started++;
	return 0;
}

static void sibling_stop(struct actor_ctx *ctx)
{
	stopped++;
}

static int sibling_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	actor_ref leaf;

	if (message->type == &fail_type)
		return -EIO;
	if (message->type == &pend_type)
		return actor_pending(ctx, &token);
	return actor_spawn(ctx, &leaf_class, NULL, &leaf); /* a restart waits for its end */
}

static struct actor_class sibling_class = {.size = sizeof(sibling_class),
	.name = "sibling",
	.on_start = sibling_start,
	.on_message = sibling_message,
	.on_stop = sibling_stop};

static int parent_start(struct actor_ctx *ctx)
{
	int rc = actor_spawn(ctx, &sibling_class, NULL, &first);

	return rc ? rc : actor_spawn(ctx, &sibling_class, NULL, &second);
}

static struct actor_class parent_class = {.size = sizeof(parent_class),
	.name = "parent",
	.on_start = parent_start,
	.on_message = leaf_message,
	.strategy = &all};

static void give(struct lab *lab, actor_ref to, struct actor_type *type)
{
	assert_int_equal(actor_system_tell(lab->system, to, type, NULL, 0), 0);
	lab_run(lab);
}

/* One is pending while its sibling's failure asks all to restart; then its own handler fails. */
static void a_failure_of_one_that_is_to_restart_restarts_it_once(void **state)
{
	struct lab lab;
	actor_ref parent;

	lab_open(&lab, NULL);
	started = stopped = 0;
	assert_int_equal(actor_system_spawn(lab.system, &parent_class, NULL, &parent), 0);
	lab_run(&lab);
	assert_int_equal(started, 2);
	give(&lab, first, &spawn_type);
	give(&lab, first, &pend_type);
	give(&lab, second, &fail_type);
	assert_int_equal(actor_complete(lab.system, token, -EIO, NULL, NULL), 0);
	lab_run(&lab);
	assert_int_equal(started - stopped, 2);
	actor_system_stop(lab.system, parent);
	lab_run(&lab);
	assert_int_equal(started, stopped);
	assert_int_equal(lab_stats(&lab).created, lab_stats(&lab).terminated);
	lab_close(&lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failure_of_one_that_is_to_restart_restarts_it_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
