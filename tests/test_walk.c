/* SPDX-License-Identifier: MIT */
/* Walks over actors: what they show, that none is missed, and that others may go on meanwhile. */
#include "tests/lab.h"

#include <stdio.h>

#define MET 64

/* Copies of what a walk has shown. */
static struct met {
	struct actor_info info;
	char path[128];
	pthread_t thread;
} met[MET];
static _Atomic uint32_t met_count;

static int meet(const struct actor_info *info, void *data)
{
	uint32_t i = met_count;

	assert_int_equal(info->size, sizeof(*info));
	assert_true(i < MET);
	met[i].info = *info;
	snprintf(met[i].path, sizeof(met[i].path), "%s", info->path);
	met[i].thread = pthread_self();
	met_count = i + 1;
	return 0;
}

static const struct met *met_find(const char *path)
{
	for (uint32_t i = 0; i < met_count; i++)
		if (strcmp(met[i].path, path) == 0)
			return &met[i];
	fail_msg("%s was not met", path);
	return NULL;
}

static int setup(void **state)
{
	memset(met, 0, sizeof(met));
	met_count = 0;
	return 0;
}

static int done_status;
static uint32_t done_count;

static void on_done(struct actor_system *system, int status, void *data)
{
	done_status = status;
	done_count++;
}

/* ---- one loop ---- */

static struct lab lab;
static bool walk_in_turn;

static int plain_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	if (walk_in_turn)
		assert_int_equal(actor_system_walk_here(actor_ctx_system(ctx), meet, NULL), 0);
	return 0;
}

static int family_start(struct actor_ctx *ctx);

static struct actor_class plain_class = {
	.size = sizeof(plain_class), .name = "plain", .on_message = plain_message};
static struct actor_class family_class = {.size = sizeof(family_class),
	.name = "family",
	.on_start = family_start,
	.on_message = plain_message};

static int family_start(struct actor_ctx *ctx)
{
	struct actor_dispatcher_spec spec;
	struct actor_spawn_options options = {
		.size = sizeof(options), .name = "child", .throughput = 3, .dispatcher = &spec};

	actor_dispatcher_immediate(&spec, NULL);
	return actor_spawn(ctx, &plain_class, &options, NULL);
}

static actor_ref spawn(struct actor_class *cls, const char *name, int loop)
{
	struct actor_spawn_options options = {.size = sizeof(options), .name = name, .loop = loop};
	actor_ref ref;

	assert_int_equal(actor_system_spawn(lab.system, cls, &options, &ref), 0);
	return ref;
}

static void a_walk_shows_what_each_actor_is(void **state)
{
	const struct met *m;
	actor_ref family;

	lab_open(&lab, NULL);
	family = spawn(&family_class, "family", 1);
	lab_run(&lab);
	for (int i = 0; i < 5; i++)
		assert_int_equal(actor_system_tell(lab.system, family, &plain_type, NULL, 0), 0);
	assert_int_equal(actor_system_walk_here(lab.system, meet, NULL), 0);
	assert_int_equal(met_count, 2);
	m = met_find("/user/family");
	assert_int_equal(m->info.ref, family);
	assert_int_equal(m->info.parent, ACTOR_NONE);
	assert_string_equal(m->info.class_name, "family");
	assert_string_equal(m->info.dispatcher, "hybrid");
	assert_int_equal(m->info.stage, ACTOR_STAGE_RUNNING);
	assert_int_equal(m->info.loop, 1);
	assert_int_equal(m->info.mailbox, 5);
	assert_int_equal(m->info.children, 1);
	assert_int_equal(m->info.throughput, 16);
	m = met_find("/user/family/child");
	assert_int_equal(m->info.parent, family);
	assert_string_equal(m->info.class_name, "plain");
	assert_string_equal(m->info.dispatcher, "immediate");
	assert_int_equal(m->info.throughput, 3);
	assert_int_equal(m->info.mailbox, 0);
	assert_int_equal(m->info.children, 0);
	lab_run(&lab);
	lab_close(&lab);
}

static void a_handler_may_walk_over_its_own_loop(void **state)
{
	actor_ref ref;

	lab_open(&lab, NULL);
	ref = spawn(&family_class, "family", 1);
	lab_run(&lab);
	walk_in_turn = true;
	assert_int_equal(actor_system_tell(lab.system, ref, &plain_type, NULL, 0), 0);
	lab_run(&lab);
	walk_in_turn = false;
	assert_int_equal(met_count, 2);
	lab_close(&lab);
}

static void a_walk_from_the_loop_keeps_it_alive_until_it_is_done(void **state)
{
	lab_open(&lab, NULL);
	spawn(&family_class, "family", 1);
	lab_run(&lab);
	done_count = 0;
	assert_int_equal(actor_system_walk(lab.system, meet, on_done, NULL), 0);
	assert_int_equal(met_count, 0); /* later */
	lab_run(&lab);
	assert_int_equal(done_count, 1);
	assert_int_equal(done_status, 0);
	assert_int_equal(met_count, 2);
	lab_close(&lab);
}

/* ---- stages ---- */

static struct actor_token token;

static int stage_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	return actor_pending(ctx, &token);
}

static struct actor_class stage_class = {
	.size = sizeof(stage_class), .name = "stage", .on_message = stage_message};

static int nest_start(struct actor_ctx *ctx)
{
	struct actor_spawn_options options = {.size = sizeof(options), .name = "slow"};
	actor_ref ref;
	int rc = actor_spawn(ctx, &stage_class, &options, &ref);

	return rc ? rc : actor_tell(ctx, ref, &plain_type, NULL, 0);
}

static struct actor_class nest_class = {.size = sizeof(nest_class),
	.name = "nest",
	.on_start = nest_start,
	.on_message = plain_message};

static void assert_stage(const char *path, enum actor_stage stage, uint64_t mailbox)
{
	setup(NULL);
	assert_int_equal(actor_system_walk_here(lab.system, meet, NULL), 0);
	assert_int_equal(met_find(path)->info.stage, stage);
	if (met_find(path)->info.mailbox != mailbox)
		fail_msg("%s has %u messages", path, (unsigned int)met_find(path)->info.mailbox);
}

static void each_stage_is_seen(void **state)
{
	static const struct actor_throttle_options slow = {
		.size = sizeof(slow), .messages = 1, .per_ms = 3600000};
	struct actor_spawn_options options = {
		.size = sizeof(options), .name = "throttled", .throttle = &slow};
	actor_ref throttled, nest;

	lab_open(&lab, NULL);
	nest = spawn(&nest_class, "nest", 1);
	assert_stage("/user/nest", ACTOR_STAGE_STARTING, 0);
	lab_run(&lab);
	assert_stage("/user/nest", ACTOR_STAGE_RUNNING, 0);
	assert_stage("/user/nest/slow", ACTOR_STAGE_PENDING, 1);
	assert_int_equal(actor_system_suspend(lab.system, nest), 0);
	assert_int_equal(actor_system_tell(lab.system, nest, &plain_type, NULL, 0), 0);
	lab_run(&lab);
	assert_stage("/user/nest", ACTOR_STAGE_SUSPENDED, 1);
	assert_int_equal(actor_system_resume(lab.system, nest), 0);
	lab_run(&lab);
	assert_stage("/user/nest", ACTOR_STAGE_RUNNING, 0);
	assert_int_equal(actor_system_stop(lab.system, nest), 0);
	lab_run(&lab);
	assert_stage("/user/nest", ACTOR_STAGE_STOPPING, 0);
	assert_int_equal(actor_system_spawn(lab.system, &plain_class, &options, &throttled), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(actor_system_tell(lab.system, throttled, &plain_type, NULL, 0), 0);
	for (int i = 0; i < 10; i++)
		uv_run(&lab.loop, UV_RUN_NOWAIT);
	assert_stage("/user/throttled", ACTOR_STAGE_THROTTLED, 2);
	assert_int_equal(actor_complete(lab.system, token, 0, NULL, NULL), 0);
	lab_close(&lab);
}

static void every_stage_has_a_name(void **state)
{
	static const char *const names[] = {
		"starting", "running", "suspended", "throttled", "pending", "stopping"};

	for (int i = 0; i < 6; i++)
		assert_string_equal(actor_stage_name((enum actor_stage)(i + 1)), names[i]);
	assert_null(actor_stage_name((enum actor_stage)0));
	assert_null(actor_stage_name((enum actor_stage)7));
}

/* ---- many actors ---- */

#define MANY 1000

static actor_ref many[MANY];
static uint8_t times[MANY];
static uint32_t met_between; /* messages handled while the walk was under way */
static uint32_t units;

static int count_many(const struct actor_info *info, void *data)
{
	for (int i = 0; i < MANY; i++)
		if (many[i] == info->ref)
			times[i]++;
	return data && ++*(uint32_t *)data == 100 ? 77 : 0;
}

static int between_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	if (!done_count)
		met_between++;
	units++;
	return done_count ? 0 : actor_tell(ctx, actor_self(ctx), &plain_type, NULL, 0);
}

static struct actor_class between_class = {
	.size = sizeof(between_class), .name = "between", .on_message = between_message};

static void a_long_walk_lets_others_work_in_between(void **state)
{
	actor_ref ref;

	lab_open(&lab, NULL);
	for (int i = 0; i < MANY; i++)
		many[i] = spawn(&plain_class, NULL, 1);
	ref = spawn(&between_class, "between", 1);
	lab_run(&lab);
	memset(times, 0, sizeof(times));
	met_between = done_count = 0;
	assert_int_equal(actor_system_walk(lab.system, count_many, on_done, NULL), 0);
	assert_int_equal(actor_system_tell(lab.system, ref, &plain_type, NULL, 0), 0);
	lab_run(&lab);
	assert_int_equal(done_count, 1);
	for (int i = 0; i < MANY; i++)
		assert_int_equal(times[i], 1);
	assert_true(met_between >= MANY / 64 - 1);
	lab_close(&lab);
}

static void a_callback_ends_the_walk(void **state)
{
	uint32_t count = 0;

	lab_open(&lab, NULL);
	for (int i = 0; i < MANY; i++)
		many[i] = spawn(&plain_class, NULL, 1);
	lab_run(&lab);
	done_count = 0;
	assert_int_equal(actor_system_walk(lab.system, count_many, on_done, &count), 0);
	lab_run(&lab);
	assert_int_equal(done_count, 1);
	assert_int_equal(done_status, 77);
	assert_int_equal(count, 100);
	count = 0;
	assert_int_equal(actor_system_walk_here(lab.system, count_many, &count), 77);
	assert_int_equal(count, 100);
	lab_close(&lab);
}

/* A dispatcher of the program's own is not asked to run the walk. */
static uint32_t foreign_units;

static int foreign_open(void **self, struct actor_dispatcher *dispatcher, void *data)
{
	struct actor_dispatcher_spec spec;

	actor_dispatcher_hybrid(&spec, ACTOR_HYBRID_BUDGET, NULL);
	return actor_system_dispatcher(
		actor_dispatcher_system(dispatcher), 1, &spec, (struct actor_dispatcher **)self);
}

static int foreign_run(struct actor_unit *unit)
{
	actor_unit_unwrap(unit);
	return actor_unit_inner(unit);
}

static void foreign_execute(void *self, struct actor_unit *unit)
{
	foreign_units++;
	actor_unit_wrap(unit, foreign_run, NULL);
	actor_dispatcher_execute(self, unit);
}

static void a_walk_does_without_a_dispatcher_of_the_program(void **state)
{
	static const struct actor_dispatcher_ops ops = {
		.size = sizeof(ops), .open = foreign_open, .execute = foreign_execute};
	struct actor_dispatcher_spec spec;

	actor_dispatcher_custom(&spec, &ops, NULL, "foreign");
	lab_open(&lab, &spec);
	foreign_units = done_count = 0;
	assert_int_equal(actor_system_walk(lab.system, meet, on_done, NULL), 0);
	lab_run(&lab);
	assert_int_equal(done_count, 1);
	assert_int_equal(foreign_units, 0);
	lab_close(&lab);
}

/* ---- misuse ---- */

static void on_closed(struct actor_system *system, void *data)
{
	*(bool *)data = true;
}

static void wrong_walks_are_refused(void **state)
{
	bool closed = false;

	lab_open(&lab, NULL);
	assert_int_equal(actor_system_walk(lab.system, NULL, on_done, NULL), -EINVAL);
	assert_int_equal(actor_system_walk(lab.system, meet, NULL, NULL), -EINVAL);
	assert_int_equal(actor_system_walk_here(lab.system, NULL, NULL), -EINVAL);
	assert_int_equal(actor_system_walk_wait(lab.system, NULL, NULL), -EINVAL);
	assert_int_equal(actor_system_walk_wait(lab.system, meet, NULL), -EDEADLK);
	lab_heap_begin();
	lab_heap_fail(1, LAB_FAIL_ONCE, 0);
	assert_int_equal(actor_system_walk(lab.system, meet, on_done, NULL), -ENOMEM);
	lab_heap_end();
	assert_int_equal(actor_system_close(lab.system, on_closed, &closed), 0);
	assert_int_equal(actor_system_walk(lab.system, meet, on_done, NULL), ACTOR_ECLOSED);
	uv_run(&lab.loop, UV_RUN_DEFAULT);
	assert_true(closed);
	lab.closed = true;
	lab_close(&lab);
	lab_open_owned(&lab, 1);
	assert_int_equal(actor_system_walk_here(lab.system, meet, NULL), ACTOR_ETHREAD);
	lab_close(&lab);
}

/* ---- several loops ---- */

static void each_loop_is_walked_on_its_own_thread(void **state)
{
	lab_open_owned(&lab, 3);
	for (int i = 0; i < 9; i++) {
		char name[8];

		snprintf(name, sizeof(name), "a%d", i);
		spawn(&plain_class, name, i % 3 + 1);
	}
	assert_int_equal(actor_system_walk_wait(lab.system, meet, NULL), 0);
	assert_int_equal(met_count, 9);
	for (uint32_t i = 0; i < met_count; i++)
		for (uint32_t n = 0; n < met_count; n++)
			assert_int_equal(met[i].info.loop == met[n].info.loop,
				pthread_equal(met[i].thread, met[n].thread) != 0);
	lab_close(&lab);
}

static _Atomic uint32_t walks_done;

static void count_done(struct actor_system *system, int status, void *data)
{
	atomic_fetch_add(&walks_done, 1);
}

static int count_met(const struct actor_info *info, void *data)
{
	atomic_fetch_add(&met_count, 1);
	return 0;
}

/* However it comes between closing and walking: each walk that was accepted ends. */
static void closing_waits_for_walks(void **state)
{
	for (int round = 0; round < 50; round++) {
		uint32_t accepted = 0;

		lab_open_owned(&lab, 3);
		atomic_store(&walks_done, 0);
		for (int i = 0; i < 60; i++)
			spawn(&plain_class, NULL, i % 3 + 1);
		for (int i = 0; i < 5; i++)
			accepted += actor_system_walk(lab.system, count_met, count_done, NULL) == 0;
		assert_int_equal(accepted, 5);
		lab_close(&lab);
		assert_int_equal(walks_done, accepted);
	}
}

/* Actors that stay are met once by each walk, whatever comes and goes on three loops. */
#define STAY 300

static int churn_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	struct actor_spawn_options options = {.size = sizeof(options)};
	actor_ref ref;

	options.loop = 1 + (int)(actor_self(ctx) % 3);
	if (actor_spawn(ctx, &plain_class, &options, &ref) == 0)
		actor_stop(ctx, ref);
	return actor_tell(ctx, actor_self(ctx), &plain_type, NULL, 0);
}

static struct actor_class churn_class = {
	.size = sizeof(churn_class), .name = "churn", .on_message = churn_message};

static void what_stays_is_met_exactly_once_while_others_come_and_go(void **state)
{
	lab_open_owned(&lab, 3);
	memset(many, 0, sizeof(many));
	for (int i = 0; i < 6; i++)
		actor_system_tell(
			lab.system, spawn(&churn_class, NULL, i % 3 + 1), &plain_type, NULL, 0);
	for (int i = 0; i < STAY; i++)
		many[i] = spawn(&plain_class, NULL, i % 3 + 1);
	for (int round = 0; round < 40; round++) {
		memset(times, 0, sizeof(times));
		assert_int_equal(actor_system_walk_wait(lab.system, count_many, NULL), 0);
		for (int i = 0; i < STAY; i++)
			assert_int_equal(times[i], 1);
	}
	lab_close(&lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_walk_shows_what_each_actor_is, setup),
		cmocka_unit_test_setup(a_handler_may_walk_over_its_own_loop, setup),
		cmocka_unit_test_setup(a_walk_from_the_loop_keeps_it_alive_until_it_is_done, setup),
		cmocka_unit_test_setup(each_stage_is_seen, setup),
		cmocka_unit_test(every_stage_has_a_name),
		cmocka_unit_test_setup(a_long_walk_lets_others_work_in_between, setup),
		cmocka_unit_test_setup(a_callback_ends_the_walk, setup),
		cmocka_unit_test_setup(a_walk_does_without_a_dispatcher_of_the_program, setup),
		cmocka_unit_test_setup(wrong_walks_are_refused, setup),
		cmocka_unit_test_setup(each_loop_is_walked_on_its_own_thread, setup),
		cmocka_unit_test_setup(closing_waits_for_walks, setup),
		cmocka_unit_test_setup(
			what_stays_is_met_exactly_once_while_others_come_and_go, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
