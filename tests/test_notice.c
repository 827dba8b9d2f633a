/* SPDX-License-Identifier: MIT */
/* Stop and close need no memory: trees over three loops end although nothing can be allocated and
 * all rings are full, and whichever allocation fails, a stop that was accepted ends its tree. */
#include "tests/lab.h"

#include <unistd.h>

#define LOOPS 3

static _Atomic uint32_t started, stopped, wrong;
static _Atomic actor_ref leaves[LOOPS]; /* the last one of each loop */

/* ---- trees: each actor has a child on every other loop, down to a depth ---- */

struct node {
	uint32_t depth;
};

static int node_start(struct actor_ctx *ctx);
static int node_message(struct actor_ctx *ctx, const struct actor_message *message);
static void node_stop(struct actor_ctx *ctx);

static struct actor_class node_class = {
	.size = sizeof(node_class),
	.name = "node",
	.state_bytes = sizeof(struct node),
	.on_start = node_start,
	.on_message = node_message,
	.on_stop = node_stop,
};

static void check(int rc)
{
	if (rc && rc != -ENOMEM && rc != ACTOR_ECLOSED)
		atomic_fetch_add(&wrong, 1);
}

static int loop_of(const struct actor_ctx *ctx)
{
	struct actor_system *system = actor_ctx_system(ctx);
	struct actor_dispatcher *dispatcher;

	for (int loop = 1; loop <= actor_system_loops(system); loop++)
		if (actor_system_dispatcher(system, loop, NULL, &dispatcher) == 0)
			return loop;
	return 0;
}

/* Children that cannot be made are missing, nothing else. */
static int node_start(struct actor_ctx *ctx)
{
	struct node *node = actor_state(ctx);
	struct node init = {.depth = node->depth - 1};
	struct actor_spawn_options options = {.size = sizeof(options), .init = &init};
	int here = loop_of(ctx);

	if (!node->depth)
		atomic_store(&leaves[here - 1], actor_self(ctx));
	atomic_fetch_add(&started, 1);
	for (int loop = 1; node->depth && loop <= LOOPS; loop++) {
		actor_ref child;
		int rc;

		if (loop == here)
			continue;
		options.loop = loop;
		rc = actor_spawn(ctx, &node_class, &options, &child);
		check(rc);
		for (int i = 0; !rc && i < 20; i++)
			check(actor_tell(ctx, child, &plain_type, NULL, 0));
	}
	return 0;
}

/* Plain mail of the parent is answered, a counted payload stops the actor. */
static int node_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	if (message->type == &counted_type) {
		actor_stop_self(ctx);
	} else if (message->type == &plain_type && actor_parent(ctx)) {
		uint64_t token = token_new(1);
		int rc = actor_tell(ctx, actor_parent(ctx), &token_type, &token, sizeof(token));

		check(rc);
		if (rc)
			token_type.destroy(&token, sizeof(token));
	}
	return 0;
}

static void node_stop(struct actor_ctx *ctx)
{
	atomic_fetch_add(&stopped, 1);
}

static actor_ref node_spawn(struct actor_system *system, uint32_t depth, int loop)
{
	struct node init = {.depth = depth};
	struct actor_spawn_options options = {.size = sizeof(options), .init = &init, .loop = loop};
	actor_ref ref = 0;

	check(actor_system_spawn(system, &node_class, &options, &ref));
	return ref;
}

/* ---- jammers: hold their loop and fill its rings ---- */

struct jam {
	actor_ref to[LOOPS];
	uint32_t self;
	bool fills;
	bool waits;
};

static struct actor_type jam_type = ACTOR_TYPE("jam");
static struct actor_type note_type = ACTOR_TYPE("note");
static _Atomic uint32_t held, may_begin, inside, may_fill, filled, passed, pass_wanted;

/* False after ten seconds. */
static bool wait_for(_Atomic uint32_t *value, uint32_t least)
{
	for (int i = 0; i < 10000 && atomic_load(value) < least; i++)
		sleep_ms(1);
	return atomic_load(value) >= least;
}

/* Tells to both other loops until neither takes any more. */
static void fill(struct actor_ctx *ctx, const struct jam *jam)
{
	for (uint32_t i = 0; i < LOOPS; i++)
		while (i != jam->self && actor_tell(ctx, jam->to[i], &plain_type, NULL, 0) == 0)
			;
}

static int jammer_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	const struct jam *jam = message->payload;

	if (message->type == &plain_type)
		return 0;
	if (message->type == &note_type) {
		atomic_fetch_add(&passed, 1);
		return 0;
	}
	if (jam->fills) {
		atomic_fetch_add(&inside, 1);
		if (!wait_for(&may_fill, 1))
			atomic_fetch_add(&wrong, 1);
		fill(ctx, jam);
		atomic_fetch_add(&filled, 1);
		if (!wait_for(&filled, LOOPS) ||
			(jam->waits && !wait_for(&passed, atomic_load(&pass_wanted))))
			atomic_fetch_add(&wrong, 1);
	} else { /* until all that is to be queued behind it has been told */
		atomic_fetch_add(&held, 1);
		if (!wait_for(&may_begin, 1))
			atomic_fetch_add(&wrong, 1);
	}
	return 0;
}

static struct actor_class jammer_class = {
	.size = sizeof(jammer_class), .name = "jammer", .on_message = jammer_message};

static void tell(struct actor_system *system, actor_ref to, struct actor_type *type,
	const void *payload, size_t bytes)
{
	assert_int_equal(actor_system_tell(system, to, type, payload, bytes), 0);
}

static void quiet(void *data, enum actor_log_level level, const char *text)
{
}

static int open_three(struct actor_system **system)
{
	struct actor_system_options options = {.size = sizeof(options),
		.loops = LOOPS,
		.ring_slots = 2,
		.drain_ms = 100,
		.log = quiet};

	started = stopped = wrong = 0;
	held = may_begin = inside = may_fill = filled = passed = 0;
	return actor_system_open(system, &options);
}

static struct actor_stats stats_of(struct actor_system *system)
{
	struct actor_stats stats = {.size = sizeof(stats)};

	actor_system_stats(system, &stats);
	return stats;
}

/* All actors that were made have gone; false after ten seconds. */
static bool all_gone(struct actor_system *system, uint64_t but)
{
	for (int i = 0; i < 10000; i++) {
		struct actor_stats stats = stats_of(system);

		if (stats.created == stats.terminated + but)
			return true;
		sleep_ms(1);
	}
	return false;
}

/* Per loop: hold it, tell its filler, then whoever is to stop, then the note that says that this
 * has happened. Loops on which nobody stops stay jammed until then. */
static void jam_all(struct actor_system *system, actor_ref stopping[LOOPS])
{
	actor_ref jammers[LOOPS][3];
	struct jam jam = {.fills = true};

	pass_wanted = 0;
	for (uint32_t i = 0; i < LOOPS; i++) {
		struct actor_spawn_options options = {
			.size = sizeof(options), .loop = (int)i + 1};

		for (int n = 0; n < 3; n++)
			assert_int_equal(actor_system_spawn(
						 system, &jammer_class, &options, &jammers[i][n]),
				0);
		jam.to[i] = jammers[i][1];
		pass_wanted += stopping[i] != 0;
	}
	for (uint32_t i = 0; i < LOOPS; i++)
		tell(system, jammers[i][0], &jam_type, &(struct jam){0}, sizeof(jam));
	assert_true(wait_for(&held, LOOPS));
	for (uint32_t i = 0; i < LOOPS; i++) {
		struct counted *stop;

		jam.self = i;
		jam.waits = !stopping[i];
		tell(system, jammers[i][1], &jam_type, &jam, sizeof(jam));
		if (!stopping[i])
			continue;
		stop = counted_new(1);
		tell(system, stopping[i], &counted_type, stop, sizeof(*stop));
		tell(system, jammers[i][2], &note_type, NULL, 0);
	}
	atomic_store(&may_begin, 1);
	assert_true(wait_for(&inside, LOOPS));
}

/* One that stops tells the whole tree below it; those that stop tell their parent. */
static void stop_behind_full_rings(bool root_stops)
{
	actor_ref stopping[LOOPS] = {0};
	uint64_t left = 3 * LOOPS + !root_stops;
	struct actor_system *system;
	actor_ref root;

	assert_int_equal(open_three(&system), 0);
	root = node_spawn(system, root_stops ? 3 : 1, 1);
	assert_true(wait_for(&started, root_stops ? 15 : 3));
	for (uint32_t i = 0; i < LOOPS; i++)
		stopping[i] = root_stops == (i == 0) ? (i ? atomic_load(&leaves[i]) : root) : 0;
	jam_all(system, stopping);
	lab_heap_fail(1, LAB_FAIL_FROM_THEN_ON, 0);
	atomic_store(&may_fill, 1);
	assert_true(all_gone(system, left));
	assert_int_equal(actor_system_close_wait(system), 0);
	lab_heap_fail(0, LAB_FAIL_ONCE, 0);
	assert_int_equal(wrong, 0);
	assert_int_equal(started, stopped);
	assert_int_equal(counted_alive, 0);
	assert_int_equal(tokens_alive, 0);
}

static void trees_stop_and_close_behind_full_rings_without_memory(void **state)
{
	int64_t before = 0;

	for (int round = 0; round < 12; round++) {
		stop_behind_full_rings(round % 2);
		if (round == 1)
			before = lab_heap_blocks; /* tables of the process have grown by then */
	}
	assert_int_equal(lab_heap_blocks, before);
}

/* ---- whichever allocation fails ---- */

static int ask_root(struct actor_system *system, actor_ref root)
{
	size_t bytes = 0;
	int rc = actor_system_ask(system, root, &plain_type, NULL, 0, 1, NULL, &bytes);

	return rc == -ETIMEDOUT ? 0 : rc; /* nodes do not answer from outside */
}

/* A tree is made, stopped as a whole or in part, and the system closed. 0 or the first error. */
static int scenario(bool stops)
{
	struct actor_system *system;
	actor_ref root;
	int rc = open_three(&system);

	if (rc)
		return rc;
	root = node_spawn(system, 3, 1);
	rc = root ? ask_root(system, root) : -ENOMEM;
	if (root && stops) {
		int stop_rc = actor_system_stop(system, root);

		check(stop_rc);
		/* Accepted is accepted: the tree ends, memory or not. */
		if (stop_rc)
			rc = stop_rc;
		else if (!all_gone(system, 0))
			atomic_fetch_add(&wrong, 1);
	}
	if (actor_system_close_wait(system))
		atomic_fetch_add(&wrong, 1);
	return rc;
}

static void whichever_allocation_fails_stop_and_close_end(void **state)
{
	for (int how = 0; how < 4; how++) {
		int64_t before, most;
		int failed = 0;

		assert_int_equal(scenario(how % 2), 0);
		before = lab_heap_blocks;
		lab_heap_fail(0, LAB_FAIL_ONCE, 0);
		assert_int_equal(scenario(how % 2), 0);
		most = lab_heap_asked;
		for (int64_t n = 1; n <= most; n++) {
			int rc;

			lab_heap_fail(n, how < 2 ? LAB_FAIL_ONCE : LAB_FAIL_FROM_THEN_ON, 0);
			rc = scenario(how % 2);
			lab_heap_fail(0, LAB_FAIL_ONCE, 0);
			check(rc);
			failed += rc == -ENOMEM;
			if (wrong || lab_heap_blocks != before || tokens_alive || started != stopped)
				fail_msg("allocation %lld, way %d: rc %d, %lld blocks, %lld tokens, "
					 "%u started, %u stopped, %u wrong",
					(long long)n, how, rc, (long long)(lab_heap_blocks - before),
					(long long)tokens_alive, started, stopped, wrong);
		}
		assert_true(failed >= 10);
	}
}

static int setup(void **state)
{
	alarm(200); /* what hangs is killed */
	lab_heap_begin();
	return 0;
}

static int teardown(void **state)
{
	lab_heap_end();
	alarm(0);
	return 0;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(trees_stop_and_close_behind_full_rings_without_memory),
		TEST(whichever_allocation_fails_stop_and_close_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
