/* SPDX-License-Identifier: MIT */
/* Work on the thread pool: its result is told once, or completes its handler once, and whatever
 * ends before is cancelled. */
#include "tests/lab.h"

#include <unistd.h>

static _Atomic uint32_t worked, wrong, handled, completed, cancelled, dead;
static _Atomic bool gate; /* work waits while it is shut */
static _Atomic uint32_t at_gate;

static void gate_pass(void)
{
	atomic_fetch_add(&at_gate, 1);
	for (int i = 0; i < 20000 && !atomic_load(&gate); i++)
		sleep_ms(1);
	atomic_fetch_sub(&at_gate, 1);
}

/* All payloads begin with a number; work adds 1000 to it. */
static void add(void *payload, size_t bytes)
{
	uint64_t n;

	memcpy(&n, payload, sizeof(n));
	n += 1000;
	memcpy(payload, &n, sizeof(n));
	gate_pass();
	atomic_fetch_add(&worked, 1);
}

static int add_pending(void *data)
{
	gate_pass();
	atomic_fetch_add(&worked, 1);
	return (int)(intptr_t)data;
}

/* ---- an actor that does as it is told ---- */

enum what { INLINE, BLOCK, COPIED, PENDING, FAILING, DONE };

struct order {
	uint32_t what;
	uint32_t count;
	actor_ref to; /* 0: itself */
	int status;   /* of pending work */
	bool no_cb;
};

static struct actor_type order_type = ACTOR_TYPE("order");
static struct actor_type result_type = ACTOR_TYPE("result");
static _Atomic int last_rc;

static int on_work(
	struct actor_ctx *ctx, int status, const struct actor_message *message, void *data)
{
	const struct order *o = message->payload;

	atomic_fetch_add(status == -ECANCELED ? &cancelled : &completed, 1);
	if (status != -ECANCELED && status != o->status)
		atomic_fetch_add(&wrong, 1);
	if (data != (void *)(intptr_t)o->status)
		atomic_fetch_add(&wrong, 1);
	return status;
}

static int work(struct actor_ctx *ctx, const struct order *o, uint64_t n)
{
	actor_ref to = o->to ? o->to : actor_self(ctx);
	struct counted copied = {.value = n};
	uint64_t token;

	switch (o->what) {
	case INLINE:
		token = token_new(n);
		return actor_work(ctx, to, &token_type, &token, sizeof(token), add);
	case BLOCK:
		return actor_work(
			ctx, to, &counted_type, counted_new(n), sizeof(struct counted), add);
	case COPIED:
		return actor_work(ctx, to, &result_type, &copied, sizeof(copied), add);
	default:
		return actor_pending_work(ctx, add_pending, o->no_cb ? NULL : on_work,
			(void *)(intptr_t)o->status);
	}
}

static int doer_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct order o;

	if (m->type != &order_type) {
		uint64_t n = *(const uint64_t *)m->payload;

		if (n < 1000 || n >= 2000)
			atomic_fetch_add(&wrong, 1);
		atomic_fetch_add(&handled, 1);
		return 0;
	}
	memcpy(&o, m->payload, sizeof(o));
	for (uint32_t i = 0; i < o.count; i++) {
		last_rc = work(ctx, &o, i);
		if (last_rc)
			atomic_fetch_add(&wrong, 1);
	}
	return o.what == FAILING ? -EIO : 0;
}

static struct actor_class doer_class = {
	.size = sizeof(struct actor_class), .name = "doer", .on_message = doer_message};

static void on_dead(void *data, actor_ref to, const struct actor_message *m)
{
	if (m->type != &order_type)
		atomic_fetch_add(&dead, 1);
}

static actor_ref spawn(struct lab *lab, int loop)
{
	struct actor_spawn_options options = {
		.size = sizeof(options), .loop = loop, .strategy = &lab_stops};
	actor_ref ref;

	assert_int_equal(actor_system_spawn(lab->system, &doer_class, &options, &ref), 0);
	return ref;
}

static void order(struct lab *lab, actor_ref ref, struct order o)
{
	assert_int_equal(actor_system_tell(lab->system, ref, &order_type, &o, sizeof(o)), 0);
}

static int setup(void **state)
{
	worked = wrong = handled = completed = cancelled = dead = 0;
	gate = true;
	counted_alive = tokens_alive = 0;
	return 0;
}

static int teardown(void **state)
{
	assert_int_equal(wrong, 0);
	assert_int_equal(counted_alive, 0);
	assert_int_equal(tokens_alive, 0);
	return 0;
}

/* ---- messages ---- */

static void a_result_is_told_whatever_its_payload(void **state)
{
	(void)state;
	for (uint32_t what = INLINE; what <= COPIED; what++) {
		struct lab lab;

		setup(NULL);
		lab_open(&lab, NULL);
		order(&lab, spawn(&lab, 0), (struct order){.what = what, .count = 20});
		lab_run(&lab); /* the work keeps the loop alive */
		assert_int_equal(worked, 20);
		assert_int_equal(handled, 20);
		assert_int_equal(lab_stats(&lab).delivered, 21);
		lab_close(&lab);
		assert_int_equal(lab.dead_letters, 0);
		teardown(NULL);
	}
}

static void two_loops(struct actor_system_options *options)
{
	options->loops = 1;
}

static void a_result_goes_to_another_actor_on_any_loop(void **state)
{
	(void)state;
	for (int loop = 1; loop <= 2; loop++) {
		struct lab lab;
		actor_ref other;

		setup(NULL);
		lab_open_with(&lab, two_loops);
		other = spawn(&lab, loop);
		for (uint32_t what = INLINE; what <= COPIED; what++)
			order(&lab, spawn(&lab, 1),
				(struct order){.what = what, .count = 7, .to = other});
		lab_run(&lab);
		lab_close(&lab);
		assert_int_equal(handled, 21);
		assert_int_equal(lab.dead_letters, 0);
		teardown(NULL);
	}
}

/* ---- pending handlers ---- */

static void work_completes_a_handler(void **state)
{
	static const struct {
		int status;
		bool no_cb, fails;
		uint32_t completed;
		uint64_t failed;
	} rows[] = {
		{0, false, false, 1, 0},
		{5, false, false, 1, 0},
		{5, true, false, 0, 0},
		{-EIO, false, false, 1, 1},
		{-EIO, true, false, 0, 1},
		{0, false, true, 1, 1},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct lab lab;
		actor_ref ref;

		setup(NULL);
		lab_open(&lab, NULL);
		ref = spawn(&lab, 0);
		order(&lab, ref,
			(struct order){.what = rows[i].fails ? FAILING : PENDING,
				.count = 1,
				.status = rows[i].status,
				.no_cb = rows[i].no_cb});
		order(&lab, ref, (struct order){.what = DONE});
		lab_run(&lab);
		assert_int_equal(worked, 1);
		assert_int_equal(completed, rows[i].completed);
		assert_int_equal(lab_stats(&lab).failed, rows[i].failed);
		lab_close(&lab);
		assert_int_equal(lab.dead_letters, rows[i].failed);
		assert_int_equal(lab.logged, rows[i].failed);
		teardown(NULL);
	}
}

/* ---- stops ---- */

static void run_until_at_gate(struct lab *lab, uint32_t threads)
{
	for (int i = 0; i < 10000 && at_gate < threads; i++) {
		uv_run(&lab->loop, UV_RUN_NOWAIT);
		sleep_ms(1);
	}
	assert_int_equal(at_gate, threads);
}

static void a_stop_cancels_what_has_not_begun(void **state)
{
	(void)state;
	for (uint32_t what = INLINE; what <= COPIED; what++) {
		struct lab lab;
		actor_ref ref;
		uint32_t running;

		setup(NULL);
		gate = false;
		lab_open(&lab, NULL);
		actor_system_on_dead_letter(lab.system, on_dead, NULL);
		ref = spawn(&lab, 0);
		order(&lab, ref, (struct order){.what = what, .count = 30});
		run_until_at_gate(&lab, 4);
		running = at_gate;
		actor_system_stop(lab.system, ref);
		uv_run(&lab.loop, UV_RUN_NOWAIT);
		assert_int_equal(lab_stats(&lab).terminated, 1);
		gate = true;
		lab_run(&lab);
		assert_int_equal(worked, running);
		assert_int_equal(dead, running);
		assert_int_equal(handled, 0);
		lab_close(&lab);
		teardown(NULL);
	}
}

static void the_result_for_another_actor_outlives_whoever_wanted_it(void **state)
{
	struct lab lab;
	actor_ref ref;

	(void)state;
	gate = false;
	lab_open(&lab, NULL);
	ref = spawn(&lab, 0);
	order(&lab, ref, (struct order){.what = BLOCK, .count = 3, .to = spawn(&lab, 0)});
	run_until_at_gate(&lab, 3);
	actor_system_stop(lab.system, ref);
	uv_run(&lab.loop, UV_RUN_NOWAIT);
	assert_int_equal(lab_stats(&lab).terminated, 1);
	gate = true;
	lab_run(&lab);
	assert_int_equal(handled, 3);
	lab_close(&lab);
}

/* ---- closing ---- */

static void no_drain(struct actor_system_options *options)
{
	options->drain_ms = -1;
}

static void *open_gate_later(void *unused)
{
	sleep_ms(30);
	atomic_store(&gate, true);
	return NULL;
}

/* Four run when it is closed, the others are cancelled; the payloads and callbacks say which. */
static void closing_waits_for_running_work_and_cancels_the_rest(void **state)
{
	(void)state;
	for (uint32_t what = INLINE; what <= PENDING; what++) {
		struct lab lab;
		pthread_t thread;
		bool pending = what == PENDING;

		setup(NULL);
		gate = false;
		lab_open_with(&lab, no_drain);
		actor_system_on_dead_letter(lab.system, on_dead, NULL);
		for (int i = 0; i < 10; i++)
			order(&lab, spawn(&lab, 0), (struct order){.what = what, .count = 1});
		run_until_at_gate(&lab, 4);
		pthread_create(&thread, NULL, open_gate_later, NULL);
		lab_close(&lab);
		pthread_join(thread, NULL);
		assert_int_equal(worked, 4);
		assert_int_equal(dead, pending ? 0 : 4);
		assert_int_equal(completed, pending ? 4 : 0);
		assert_int_equal(cancelled, pending ? 6 : 0);
		assert_int_equal(lab.logged, 0);
		teardown(NULL);
	}
}

static void closing_drains_work(void **state)
{
	struct lab lab;

	(void)state;
	lab_open(&lab, NULL);
	for (uint32_t what = INLINE; what <= PENDING; what++)
		order(&lab, spawn(&lab, 0),
			(struct order){.what = what, .count = what == PENDING ? 1 : 10});
	lab_close(&lab);
	assert_int_equal(worked, 31);
	assert_int_equal(handled, 30);
	assert_int_equal(completed, 1);
	assert_int_equal(lab.dead_letters, 0);
}

/* ---- wrong calls, no memory ---- */

static struct actor_ctx *kept;
static int rcs[6];

static int wrong_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	uint64_t n = 1;

	kept = ctx;
	rcs[0] = actor_work(ctx, actor_self(ctx), &plain_type, &n, sizeof(n), NULL);
	rcs[1] = actor_work(ctx, ACTOR_NONE, &plain_type, &n, sizeof(n), add);
	rcs[2] = actor_work(ctx, actor_self(ctx), NULL, &n, sizeof(n), add);
	rcs[3] = actor_pending_work(ctx, NULL, on_work, NULL);
	return 0;
}

static void wrong_stop(struct actor_ctx *ctx)
{
	uint64_t n = 1;

	rcs[4] = actor_work(ctx, actor_self(ctx), &plain_type, &n, sizeof(n), add);
	rcs[5] = actor_pending_work(ctx, add_pending, on_work, NULL);
}

static struct actor_class wrong_class = {.size = sizeof(struct actor_class),
	.name = "wrong",
	.on_message = wrong_message,
	.on_stop = wrong_stop};

static void wrong_calls_are_refused(void **state)
{
	uint64_t n = 1;
	struct lab lab;
	actor_ref ref;

	(void)state;
	lab_open(&lab, NULL);
	assert_int_equal(actor_system_spawn(lab.system, &wrong_class, NULL, &ref), 0);
	actor_system_tell(lab.system, ref, &plain_type, &n, sizeof(n));
	lab_run(&lab);
	assert_int_equal(rcs[0], -EINVAL);
	assert_int_equal(rcs[1], -EINVAL);
	assert_int_equal(rcs[2], ACTOR_ETYPE);
	assert_int_equal(rcs[3], -EINVAL);
	assert_int_equal(lab.logged, 2);
	assert_int_equal(actor_work(kept, ref, &plain_type, &n, sizeof(n), add), -EINVAL);
	assert_int_equal(actor_pending_work(kept, add_pending, on_work, NULL), -EINVAL);
	assert_int_equal(actor_work(NULL, ref, &plain_type, &n, sizeof(n), add), -EINVAL);
	lab_close(&lab);
	assert_int_equal(rcs[4], ACTOR_ECLOSED);
	assert_int_equal(rcs[5], ACTOR_ECLOSED);
}

static _Atomic uint32_t refused;

static int poor_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	int rc;

	if (m->type != &order_type) {
		atomic_fetch_add(&handled, 1);
		return 0;
	}
	for (uint32_t i = 0; i < 40; i++) {
		struct counted *counted = counted_new(i);

		rc = actor_work(ctx, actor_self(ctx), &counted_type, counted,
			sizeof(struct counted), add);
		if (rc == -ENOMEM) {
			counted_type.destroy(counted, sizeof(*counted)); /* ours again */
			atomic_fetch_add(&refused, 1);
		} else if (rc) {
			atomic_fetch_add(&wrong, 1);
		}
	}
	rc = actor_pending_work(ctx, add_pending, on_work, NULL);
	if (rc == -ENOMEM)
		atomic_fetch_add(&refused, 1);
	else if (rc)
		atomic_fetch_add(&wrong, 1);
	return 0;
}

static struct actor_class poor_class = {
	.size = sizeof(struct actor_class), .name = "poor", .on_message = poor_message};

static void without_memory_it_is_refused_or_told_later(void **state)
{
	struct order o = {.what = DONE};
	bool some = false;

	(void)state;
	for (int64_t n = 1; n < 60; n++) {
		struct lab lab;
		actor_ref ref;

		refused = handled = completed = 0;
		lab_heap_begin();
		lab_open(&lab, NULL);
		assert_int_equal(actor_system_spawn(lab.system, &poor_class, NULL, &ref), 0);
		lab_run(&lab);
		order(&lab, ref, o);
		lab_heap_fail(n, LAB_FAIL_ONCE, 0);
		lab_count(&lab); /* keeps the loop alive for what is told later */
		for (int i = 0; i < 10000 && handled + completed + refused < 41; i++) {
			uv_run(&lab.loop, UV_RUN_NOWAIT);
			if (i > 10)
				sleep_ms(1);
		}
		lab_heap_fail(0, LAB_FAIL_ONCE, 0);
		assert_int_equal(handled + completed + refused, 41);
		some |= refused != 0;
		lab_close(&lab);
		assert_int_equal(lab.dead_letters, 0);
		assert_int_equal(lab_heap_blocks, 0);
		lab_heap_end();
	}
	assert_true(some);
}

/* ---- stress ---- */

static _Atomic uint64_t asked;
static uint64_t seed;

static int busy_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	uint64_t *random = actor_state(ctx);
	uint64_t n = 0;

	if (!*random)
		*random = (seed + actor_self(ctx) * 0x9e3779b97f4a7c15ull) | 1;
	if (m->type != &order_type) {
		atomic_fetch_add(&handled, 1);
		return 0;
	}
	for (uint32_t i = random_below(random, 4); i; i--) {
		actor_ref to;

		memcpy(&to, m->payload, sizeof(to));
		if (random_below(random, 2))
			to = actor_self(ctx);
		n = token_new(i);
		if (actor_work(ctx, to, &token_type, &n, sizeof(n), add)) {
			token_type.destroy(&n, sizeof(n));
		} else {
			atomic_fetch_add(&asked, 1);
		}
	}
	if (random_below(random, 4) == 0) {
		int rc = actor_pending_work(ctx, add_pending, on_work, NULL);

		if (rc && rc != ACTOR_ECLOSED)
			atomic_fetch_add(&wrong, 1);
	}
	if (random_below(random, 50) == 0)
		actor_stop_self(ctx);
	return 0;
}

static struct actor_class busy_class = {.size = sizeof(struct actor_class),
	.name = "busy",
	.state_bytes = sizeof(uint64_t),
	.on_message = busy_message};

/* What was asked for is handled, a dead letter, or cancelled; each payload ends once. */
static void many_loops_share_the_pool(void **state)
{
	uint64_t end = now_ns() + 2000000000u;

	(void)state;
	seed = now_ns() ^ (uint64_t)getpid() << 40;
	if (getenv("STRESS_SEED"))
		seed = strtoull(getenv("STRESS_SEED"), NULL, 0);
	print_message("seed %#llx\n", (unsigned long long)seed);
	do {
		uint64_t random = (seed += 2) | 1;
		actor_ref refs[12];
		struct lab lab;

		setup(NULL);
		asked = 0;
		lab_open_owned(&lab, 3);
		actor_system_on_dead_letter(lab.system, on_dead, NULL);
		for (int i = 0; i < 12; i++) {
			struct actor_spawn_options options = {
				.size = sizeof(options), .loop = i % 3 + 1};

			assert_int_equal(actor_system_spawn(
						 lab.system, &busy_class, &options, &refs[i]),
				0);
		}
		for (int i = 0; i < 600; i++) {
			struct order o = {0};

			memcpy(&o, &refs[random_below(&random, 12)], sizeof(actor_ref));
			actor_system_tell(lab.system, refs[random_below(&random, 12)],
				&order_type, &o, sizeof(o));
		}
		if (random_below(&random, 2))
			sleep_ms(5);
		lab_close(&lab);
		assert_true(handled + dead <= asked);
		teardown(NULL);
	} while (now_ns() < end);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_result_is_told_whatever_its_payload),
		TEST(a_result_goes_to_another_actor_on_any_loop),
		TEST(work_completes_a_handler),
		TEST(a_stop_cancels_what_has_not_begun),
		TEST(the_result_for_another_actor_outlives_whoever_wanted_it),
		TEST(closing_waits_for_running_work_and_cancels_the_rest),
		TEST(closing_drains_work),
		TEST(wrong_calls_are_refused),
		TEST(without_memory_it_is_refused_or_told_later),
		TEST(many_loops_share_the_pool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
