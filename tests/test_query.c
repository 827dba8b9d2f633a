/* SPDX-License-Identifier: MIT */
/* Asking from outside with a callback: called once, whatever comes first. */
#include "tests/lab.h"

#include <unistd.h>

enum answer { PLAIN, OWNED, TWICE, SILENT, FAILS, LATER };

struct question {
	uint64_t number;
	enum answer answer;
};

static _Atomic uint32_t answered, expired, cancelled, wrong, questions;
static _Atomic uint64_t sum;
static uint64_t order_seen[64];
static struct actor_token token;
static _Atomic bool pending;

static int oracle_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	const struct question *q = m->payload;
	uint32_t n = atomic_fetch_add(&questions, 1);

	if (n < COUNT(order_seen))
		order_seen[n] = q->number;
	switch (q->answer) {
	case TWICE:
		actor_reply(ctx, &counted_type, counted_new(q->number), sizeof(struct counted));
		/* fallthrough */
	case OWNED:
		return actor_reply(
			ctx, &counted_type, counted_new(q->number), sizeof(struct counted));
	case SILENT:
		return 0;
	case FAILS:
		return -EIO;
	case LATER:
		if (actor_pending(ctx, &token))
			return -1;
		pending = true;
		return 0;
	default:
		return actor_reply(ctx, &plain_type, &q->number, sizeof(q->number));
	}
}

static struct actor_class oracle_class = {
	.size = sizeof(struct actor_class), .name = "oracle", .on_message = oracle_message};

/* `data`: what the answer should be. */
static void on_answer(void *data, int status, const struct actor_message *reply)
{
	if (status == 0 && reply) {
		uint64_t n = *(const uint64_t *)reply->payload;

		if (data != (void *)(uintptr_t)n)
			atomic_fetch_add(&wrong, 1);
		atomic_fetch_add(&answered, 1);
		atomic_fetch_add(&sum, n);
	} else if (status == -ETIMEDOUT && !reply) {
		atomic_fetch_add(&expired, 1);
	} else if (status == -ECANCELED && !reply) {
		atomic_fetch_add(&cancelled, 1);
	} else {
		atomic_fetch_add(&wrong, 1);
	}
}

static int ask(struct lab *lab, actor_ref to, enum answer answer, uint64_t number, int64_t ms)
{
	struct question q = {number, answer};

	return actor_system_ask_async(lab->system, to, &plain_type, &q, sizeof(q), ms, on_answer,
		(void *)(uintptr_t)number);
}

static actor_ref spawn(struct lab *lab, int loop)
{
	struct actor_spawn_options options = {.size = sizeof(options), .loop = loop};
	actor_ref ref;

	assert_int_equal(actor_system_spawn(lab->system, &oracle_class, &options, &ref), 0);
	return ref;
}

static int setup(void **state)
{
	answered = expired = cancelled = wrong = questions = 0;
	sum = 0;
	counted_alive = 0;
	pending = false;
	return 0;
}

static int teardown(void **state)
{
	assert_int_equal(wrong, 0);
	assert_int_equal(counted_alive, 0);
	return 0;
}

static void wait_for(_Atomic uint32_t *what, uint32_t count)
{
	for (int i = 0; i < 20000 && atomic_load(what) < count; i++)
		sleep_ms(1);
	assert_int_equal(*what, count);
}

static void on_the_loops_own_thread_it_is_answered_or_expires_once(void **state)
{
	struct lab lab;
	actor_ref oracle, gone;

	(void)state;
	lab_open_with(&lab, lab_by_hand);
	gone = spawn(&lab, 0);
	actor_system_stop(lab.system, gone);
	lab_run(&lab);
	oracle = spawn(&lab, 0);
	assert_int_equal(ask(&lab, oracle, PLAIN, 1, 10), 0);
	assert_int_equal(ask(&lab, oracle, TWICE, 2, 10), 0);
	assert_int_equal(ask(&lab, oracle, OWNED, 4, -1), 0);
	assert_int_equal(ask(&lab, oracle, SILENT, 8, 10), 0);
	assert_int_equal(ask(&lab, oracle, SILENT, 8, -1), 0);
	assert_int_equal(ask(&lab, oracle, SILENT, 8, 0), 0);
	assert_int_equal(ask(&lab, gone, PLAIN, 16, 10), 0); /* a dead letter, and its time-out */
	lab_run(&lab);
	assert_int_equal(answered, 3);
	assert_int_equal(sum, 7);
	assert_int_equal(expired, 0);
	actor_system_advance(lab.system, 9);
	assert_int_equal(expired, 0);
	actor_system_advance(lab.system, 1);
	assert_int_equal(expired, 2);
	actor_system_advance(lab.system, 4989);
	assert_int_equal(expired, 2);
	actor_system_advance(lab.system, 1);
	assert_int_equal(expired, 3);
	assert_int_equal(cancelled, 0);
	lab_close(&lab);
	assert_int_equal(cancelled, 1);
	assert_int_equal(lab.dead_letters, 1);
	assert_int_equal(answered, 3);
}

static void from_another_thread_it_is_answered_or_expires_once(void **state)
{
	struct lab lab;
	actor_ref oracles[2];

	(void)state;
	lab_open_owned(&lab, 2);
	for (int i = 0; i < 2; i++)
		oracles[i] = spawn(&lab, i + 1);
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(ask(&lab, oracles[i % 2], i % 3 ? OWNED : PLAIN, i, 60000), 0);
	for (uint64_t i = 0; i < 50; i++)
		assert_int_equal(ask(&lab, oracles[i % 2], SILENT, i, 5), 0);
	wait_for(&answered, 1000);
	wait_for(&expired, 50);
	assert_int_equal(sum, 499500);
	lab_close(&lab);
	assert_int_equal(answered + expired + cancelled, 1050);
}

/* What a thread tells and asks stays in order. */
static void a_question_does_not_overtake_what_was_told_before(void **state)
{
	struct lab lab;
	actor_ref oracle;

	(void)state;
	lab_open_owned(&lab, 1);
	oracle = spawn(&lab, 1);
	for (uint64_t i = 0; i < 60; i++) {
		struct question q = {i, SILENT};

		if (i % 2)
			ask(&lab, oracle, PLAIN, i, 60000);
		else
			actor_system_tell(lab.system, oracle, &plain_type, &q, sizeof(q));
	}
	wait_for(&questions, 60);
	lab_close(&lab);
	for (uint64_t i = 0; i < 60; i++)
		assert_int_equal(order_seen[i], i);
}

static int on_later(
	struct actor_ctx *ctx, int status, const struct actor_message *message, void *data)
{
	const struct question *q = message->payload;

	return actor_reply(ctx, &plain_type, &q->number, sizeof(q->number));
}

static void an_answer_after_the_time_out_is_ignored(void **state)
{
	struct lab lab;

	(void)state;
	lab_open_owned(&lab, 1);
	assert_int_equal(ask(&lab, spawn(&lab, 1), LATER, 1, 5), 0);
	wait_for(&expired, 1);
	while (!pending)
		sleep_ms(1);
	assert_int_equal(actor_complete(lab.system, token, 0, on_later, NULL), 0);
	lab_close(&lab);
	assert_int_equal(answered, 0);
	assert_int_equal(lab.dead_letters, 0);
}

static void closing_cancels_what_is_open_and_leaks_nothing(void **state)
{
	struct lab lab;

	(void)state;
	lab_open_owned(&lab, 3); /* the tables of its loops stay for the next ones */
	for (int loop = 1; loop <= 3; loop++)
		spawn(&lab, loop);
	lab_close(&lab);
	for (int round = 0; round < 20; round++) {
		setup(NULL);
		lab_heap_begin();
		lab_open_owned(&lab, 3);
		for (uint64_t i = 0; i < 60; i++)
			assert_int_equal(ask(&lab, spawn(&lab, 1 + (int)i % 3), SILENT, i,
						 i % 2 ? -1 : 60000),
				0);
		lab_close(&lab);
		assert_int_equal(cancelled, 60);
		assert_int_equal(answered + expired, 0);
		assert_int_equal(lab_heap_blocks, 0);
		lab_heap_end();
	}
}

struct thread {
	pthread_t id;
	struct lab *lab;
	actor_ref *refs;
	uint32_t accepted, refused;
};

static _Atomic bool over;

static void *thread_main(void *argument)
{
	struct thread *t = argument;
	uint64_t random = (uint64_t)(uintptr_t)t | 1;

	while (!over && t->accepted < 20000) {
		enum answer how = (enum answer)random_below(&random, FAILS);
		int rc = ask(t->lab, t->refs[random_below(&random, 6)], how, 5,
			random_below(&random, 3) ? 60000 : 1);

		if (rc == 0)
			t->accepted++;
		else if (rc == ACTOR_ECLOSED)
			t->refused++;
		else
			atomic_fetch_add(&wrong, 1);
	}
	return NULL;
}

static void stop_it(struct actor_system *system, void *data)
{
	over = true;
	for (int i = 0; i < 3; i++)
		pthread_join(((struct thread *)data)[i].id, NULL);
}

/* Threads go on asking until the system has closed below them. */
static void each_accepted_question_is_settled_once_though_the_system_closes(void **state)
{
	for (int round = 0; round < 10; round++) {
		struct thread threads[3] = {{0}};
		actor_ref refs[6];
		uint32_t accepted = 0;
		struct lab lab;
		uv_loop_t loop;
		struct actor_system_options options = {
			.size = sizeof(options), .loop = &loop, .loops = 2};

		setup(state);
		over = false;
		memset(&lab, 0, sizeof(lab));
		uv_loop_init(&loop);
		assert_int_equal(actor_system_open(&lab.system, &options), 0);
		for (int i = 0; i < 6; i++)
			refs[i] = spawn(&lab, i % 3 + 1);
		for (int i = 0; i < 3; i++) {
			threads[i].lab = &lab;
			threads[i].refs = refs;
			pthread_create(&threads[i].id, NULL, thread_main, &threads[i]);
		}
		for (int i = 0; i < 20; i++) {
			uv_run(&loop, UV_RUN_NOWAIT);
			sleep_ms(1);
		}
		assert_int_equal(actor_system_close(lab.system, stop_it, threads), 0);
		uv_run(&loop, UV_RUN_DEFAULT);
		assert_int_equal(uv_loop_close(&loop), 0);
		for (int i = 0; i < 3; i++)
			accepted += threads[i].accepted;
		assert_int_equal(answered + expired + cancelled, accepted);
		teardown(state);
	}
}

static void without_memory_it_is_refused_and_the_payload_is_the_askers(void **state)
{
	uint32_t refused = 0;

	(void)state;
	for (int64_t n = 1; n < 12; n++) {
		struct counted *big = counted_new(3);
		struct question copied[4] = {{7, PLAIN}};
		struct lab lab;
		actor_ref oracle;
		int rc;

		lab_heap_begin();
		lab_open_owned(&lab, 1);
		oracle = spawn(&lab, 1);
		while (lab_stats(&lab).turns < 1)
			sleep_ms(1);
		lab_heap_fail(n, LAB_FAIL_ONCE, 0);
		rc = actor_system_ask_async(lab.system, oracle, &counted_type, big,
			sizeof(*big), 60000, on_answer, (void *)3);
		if (rc) {
			assert_int_equal(rc, -ENOMEM);
			counted_type.destroy(big, sizeof(*big));
			refused++;
		}
		rc = actor_system_ask_async(lab.system, oracle, &plain_type, copied,
			sizeof(copied), 60000, on_answer, (void *)7);
		refused += rc != 0;
		lab_heap_fail(0, LAB_FAIL_ONCE, 0);
		lab_close(&lab);
		assert_int_equal(lab_heap_blocks, 0);
		lab_heap_end();
		assert_int_equal(counted_alive, 0);
	}
	assert_true(refused > 3);
	wrong = 0; /* the oracle reads a counted as a question: that is not what is tested here */
}

static void wrong_calls_are_refused(void **state)
{
	struct question q = {1, PLAIN};
	struct lab lab;
	actor_ref oracle;

	(void)state;
	lab_open(&lab, NULL);
	oracle = spawn(&lab, 0);
	assert_int_equal(actor_system_ask_async(
				 NULL, oracle, &plain_type, &q, sizeof(q), 1, on_answer, NULL),
		-EINVAL);
	assert_int_equal(lab.logged, 0);
	assert_int_equal(actor_system_ask_async(
				 lab.system, oracle, &plain_type, &q, sizeof(q), 1, NULL, NULL),
		-EINVAL);
	assert_int_equal(lab.logged, 1);
	assert_int_equal(ask(&lab, ACTOR_NONE, PLAIN, 1, 1), -EINVAL);
	assert_int_equal(actor_system_ask_async(
				 lab.system, oracle, NULL, &q, sizeof(q), 1, on_answer, NULL),
		ACTOR_ETYPE);
	lab_close(&lab);
	assert_int_equal(answered + expired + cancelled, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(on_the_loops_own_thread_it_is_answered_or_expires_once),
		TEST(from_another_thread_it_is_answered_or_expires_once),
		TEST(a_question_does_not_overtake_what_was_told_before),
		TEST(an_answer_after_the_time_out_is_ignored),
		TEST(closing_cancels_what_is_open_and_leaks_nothing),
		TEST(each_accepted_question_is_settled_once_though_the_system_closes),
		TEST(without_memory_it_is_refused_and_the_payload_is_the_askers),
		TEST(wrong_calls_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
