/* SPDX-License-Identifier: MIT */
/* Ask from actors and from threads outside: answers, time-outs, cancellation, ownership. */
#include "tests/lab.h"

/* ---- who answers ---- */

enum answer { PLAIN, SILENT, TWICE, LATER, FAILS, STOPS, OWNED };

struct question {
	enum answer answer;
	uint32_t number;
};

static _Atomic uint32_t questions;

static int oracle_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	const struct question *q = message->payload;

	atomic_fetch_add(&questions, 1);
	switch (q->answer) {
	case TWICE:
		actor_reply(ctx, &counted_type, counted_new(q->number), sizeof(struct counted));
		return actor_reply(
			ctx, &counted_type, counted_new(q->number), sizeof(struct counted));
	case OWNED:
		return actor_reply(
			ctx, &counted_type, counted_new(q->number), sizeof(struct counted));
	case LATER:
		sleep_ms(60);
		return actor_reply(
			ctx, &counted_type, counted_new(q->number), sizeof(struct counted));
	case SILENT:
		return 0;
	case FAILS:
		return -EIO;
	case STOPS:
		actor_stop_self(ctx);
		return 0;
	default:
		return actor_reply(ctx, &plain_type, q, sizeof(*q));
	}
}

static struct actor_class oracle_class = {
	.size = sizeof(oracle_class), .name = "oracle", .on_message = oracle_message};

/* ---- who asks ---- */

struct order {
	actor_ref to;
	int64_t timeout_ms;
	struct question question;
	bool then_stop;
};

static _Atomic uint32_t answers, timeouts, wrong;
static _Atomic uint64_t sum;

static int on_reply(
	struct actor_ctx *ctx, int status, const struct actor_message *reply, void *data)
{
	if (status == -ETIMEDOUT && !reply) {
		atomic_fetch_add(&timeouts, 1);
	} else if (status == 0 && reply && reply->type == &plain_type) {
		const struct question *q = reply->payload;

		atomic_fetch_add(&answers, 1);
		atomic_fetch_add(&sum, q->number);
	} else if (status == 0 && reply && reply->type == &counted_type) {
		const struct counted *c = reply->payload;

		atomic_fetch_add(&answers, 1);
		atomic_fetch_add(&sum, c->value);
	} else {
		atomic_fetch_add(&wrong, 1);
	}
	if (data != (void *)1)
		atomic_fetch_add(&wrong, 1);
	return 0;
}

static int asker_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	struct order o;
	int rc;

	if (message->type != &plain_type || message->bytes != sizeof(o)) {
		atomic_fetch_add(&wrong, 1); /* an answer that came as a message */
		return 0;
	}
	memcpy(&o, message->payload, sizeof(o));
	rc = actor_ask(ctx, o.to, &plain_type, &o.question, sizeof(o.question), o.timeout_ms,
		on_reply, (void *)1);
	if (o.then_stop)
		actor_stop_self(ctx);
	return rc;
}

static struct actor_class asker_class = {
	.size = sizeof(asker_class), .name = "asker", .on_message = asker_message};

static int setup(void **state)
{
	answers = timeouts = wrong = questions = 0;
	sum = 0;
	counted_alive = 0;
	return 0;
}

static int teardown(void **state)
{
	assert_int_equal(wrong, 0);
	assert_int_equal(counted_alive, 0);
	return 0;
}

static actor_ref spawn(struct lab *lab, struct actor_class *cls, int loop)
{
	struct actor_spawn_options options = {
		.size = sizeof(options), .loop = loop, .strategy = &lab_stops};
	actor_ref ref;

	assert_int_equal(actor_system_spawn(lab->system, cls, &options, &ref), 0);
	return ref;
}

static void order(struct lab *lab, actor_ref asker, struct order o)
{
	assert_int_equal(actor_system_tell(lab->system, asker, &plain_type, &o, sizeof(o)), 0);
}

/* Keeps the loop alive: a pending time-out alone does not. */
static void on_stop_timer(uv_timer_t *timer)
{
	uv_close((uv_handle_t *)timer, NULL);
}

static void run_for(struct lab *lab, uint64_t ms)
{
	static uv_timer_t timer;

	uv_timer_init(&lab->loop, &timer);
	uv_timer_start(&timer, on_stop_timer, ms, 0);
	lab_run(lab);
}

static void an_answer_runs_as_a_turn_of_the_asker(void **state)
{
	struct lab lab;
	actor_ref asker, oracle;

	lab_open(&lab, NULL);
	asker = spawn(&lab, &asker_class, 0);
	oracle = spawn(&lab, &oracle_class, 0);
	for (uint32_t i = 0; i < 100; i++)
		order(&lab, asker, (struct order){oracle, 0, {i % 2 ? PLAIN : OWNED, i}});
	lab_run(&lab);
	assert_int_equal(answers, 100);
	assert_int_equal(sum, 4950);
	lab_close(&lab);
}

static void only_the_first_answer_counts(void **state)
{
	struct lab lab;
	actor_ref asker, oracle;

	lab_open(&lab, NULL);
	asker = spawn(&lab, &asker_class, 0);
	oracle = spawn(&lab, &oracle_class, 0);
	order(&lab, asker, (struct order){oracle, 0, {TWICE, 5}});
	lab_run(&lab);
	assert_int_equal(answers, 1);
	assert_int_equal(sum, 5);
	lab_close(&lab);
}

static void without_an_answer_the_time_out_comes_once(void **state)
{
	struct lab lab;
	actor_ref asker, oracle, gone;

	lab_open(&lab, NULL);
	asker = spawn(&lab, &asker_class, 0);
	oracle = spawn(&lab, &oracle_class, 0);
	gone = spawn(&lab, &oracle_class, 0);
	actor_system_stop(lab.system, gone);
	lab_run(&lab);
	/* Later deadlines first: the timer must go back to the earliest. */
	order(&lab, asker, (struct order){oracle, 60, {SILENT, 0}});
	order(&lab, asker, (struct order){oracle, 20, {SILENT, 0}});
	order(&lab, asker, (struct order){oracle, 40, {SILENT, 0}});
	order(&lab, asker, (struct order){gone, 30, {PLAIN, 0}});
	order(&lab, asker, (struct order){oracle, 5, {FAILS, 0}});
	order(&lab, asker, (struct order){oracle, 50, {PLAIN, 0}});
	run_for(&lab, 300);
	assert_int_equal(timeouts, 6);
	assert_int_equal(answers, 0);
	lab_close(&lab);
	assert_int_equal(timeouts, 6);
}

static void an_answer_after_the_time_out_is_destroyed_unseen(void **state)
{
	struct lab lab;
	actor_ref asker, oracle;
	uint64_t end;

	lab_open_owned(&lab, 2);
	asker = spawn(&lab, &asker_class, 1);
	oracle = spawn(&lab, &oracle_class, 2);
	order(&lab, asker, (struct order){oracle, 10, {LATER, 1}});
	for (end = now_ns() + 10000000000u; now_ns() < end && !timeouts;)
		sleep_ms(1);
	sleep_ms(100);
	lab_close(&lab);
	assert_int_equal(timeouts, 1);
	assert_int_equal(answers, 0);
}

static void stopping_the_asker_cancels_without_a_call(void **state)
{
	struct lab lab;
	actor_ref asker, oracle;

	lab_open(&lab, NULL);
	asker = spawn(&lab, &asker_class, 0);
	oracle = spawn(&lab, &oracle_class, 0);
	order(&lab, asker, (struct order){oracle, 20, {SILENT, 0}});
	order(&lab, asker, (struct order){oracle, 20, {OWNED, 0}, .then_stop = true});
	run_for(&lab, 60);
	assert_int_equal(answers + timeouts, 0);
	assert_int_equal(lab.dead_letters, 1); /* the answer */
	lab_close(&lab);
}

static void asks_that_are_open_at_the_end_leave_nothing(void **state)
{
	struct lab lab;
	actor_ref asker, oracle;

	lab_open(&lab, NULL);
	asker = spawn(&lab, &asker_class, 0);
	oracle = spawn(&lab, &oracle_class, 0);
	for (int i = 0; i < 100; i++)
		order(&lab, asker, (struct order){oracle, i % 2 ? -1 : 0, {SILENT, 0}});
	lab_run(&lab);
	lab_close(&lab);
	assert_int_equal(questions, 100);
	assert_int_equal(answers + timeouts, 0);
}

static void asks_cross_loops_both_ways(void **state)
{
	actor_ref askers[3], oracles[3];
	struct lab lab;
	uint64_t end;

	lab_open_owned(&lab, 3);
	for (int i = 0; i < 3; i++) {
		askers[i] = spawn(&lab, &asker_class, i + 1);
		oracles[i] = spawn(&lab, &oracle_class, i + 1);
	}
	for (uint32_t i = 0; i < 3000; i++)
		order(&lab, askers[i % 3],
			(struct order){oracles[i / 3 % 3], 60000, {i % 2 ? PLAIN : TWICE, 1}});
	for (end = now_ns() + 60000000000u; now_ns() < end && answers < 3000;)
		sleep_ms(1);
	lab_close(&lab);
	assert_int_equal(answers, 3000);
	assert_int_equal(sum, 3000);
}

/* ---- cancelling ---- */

static uint64_t other_id;

/* Asks three times and cancels the one in the middle, once; another one's never. */
static int canceller_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	struct question q = {PLAIN, 1};
	uint64_t ids[3];
	actor_ref to;

	memcpy(&to, message->payload, sizeof(to));
	wrong += actor_ask_id(ctx) != 0;
	for (int i = 0; i < 3; i++) {
		q.number = 1u << i;
		if (i == 1)
			q.answer = TWICE;
		wrong += actor_ask(ctx, to, &plain_type, &q, sizeof(q), 20, on_reply,
				  (void *)1) != 0;
		ids[i] = actor_ask_id(ctx);
	}
	wrong += ids[0] == ids[1] || ids[1] == ids[2] || !ids[0] || !ids[1] || !ids[2];
	wrong += actor_ask_cancel(ctx, ids[1]) != 0;
	wrong += actor_ask_cancel(ctx, ids[1]) != -ESTALE;
	wrong += actor_ask_cancel(ctx, 0) != -ESTALE;
	wrong += actor_ask_cancel(ctx, ids[0] + ((uint64_t)1 << 32)) != -ESTALE;
	if (other_id)
		wrong += actor_ask_cancel(ctx, other_id) != -ESTALE;
	other_id = ids[2];
	return 0;
}

static struct actor_class canceller_class = {
	.size = sizeof(canceller_class), .name = "canceller", .on_message = canceller_message};

static void a_cancelled_ask_is_not_answered(void **state)
{
	struct lab lab;
	actor_ref cancellers[2], oracle;

	other_id = 0;
	lab_open(&lab, NULL);
	oracle = spawn(&lab, &oracle_class, 0);
	for (int i = 0; i < 2; i++) {
		cancellers[i] = spawn(&lab, &canceller_class, 0);
		actor_system_tell(
			lab.system, cancellers[i], &plain_type, &oracle, sizeof(oracle));
	}
	run_for(&lab, 60);
	assert_int_equal(questions, 6); /* the message stays told */
	assert_int_equal(answers, 4);
	assert_int_equal(sum, 10);
	assert_int_equal(timeouts, 0);
	lab_close(&lab);
	assert_int_equal(lab.dead_letters, 0);
}

/* The time-out's message is queued behind the one that cancels. */
static uint64_t slow_id;

static int slow_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	struct question q = {SILENT, 1};
	actor_ref to;

	memcpy(&to, message->payload, sizeof(to));
	if (slow_id)
		return actor_ask_cancel(ctx, slow_id);
	wrong += actor_ask(ctx, to, &plain_type, &q, sizeof(q), 20, on_reply, (void *)1) != 0;
	slow_id = actor_ask_id(ctx);
	return 0;
}

static struct actor_class slow_class = {
	.size = sizeof(slow_class), .name = "slow", .on_message = slow_message};

static void manual(struct actor_system_options *options)
{
	options->manual_ms = 1000;
}

static void an_ask_that_is_cancelled_after_its_time_stays_so(void **state)
{
	struct lab lab;
	actor_ref slow, oracle;

	slow_id = 0;
	lab_open_with(&lab, manual);
	slow = spawn(&lab, &slow_class, 0);
	oracle = spawn(&lab, &oracle_class, 0);
	actor_system_tell(lab.system, slow, &plain_type, &oracle, sizeof(oracle));
	lab_run(&lab);
	actor_system_tell(lab.system, slow, &plain_type, &oracle, sizeof(oracle));
	actor_system_advance(lab.system, 100);
	lab_run(&lab);
	assert_int_equal(timeouts, 0);
	assert_int_equal(lab_stats(&lab).failed, 0);
	lab_close(&lab);
}

/* Both begin with the same numbers. */
static void answers_of_two_systems_do_not_mix_case_25(void **state)
{
	struct lab labs[2];
	actor_ref askers[2], oracles[2];

	for (int i = 0; i < 2; i++) {
		lab_open(&labs[i], NULL);
		askers[i] = spawn(&labs[i], &asker_class, 0);
		oracles[i] = spawn(&labs[i], &oracle_class, 0);
	}
	for (int i = 0; i < 2; i++) {
		order(&labs[i], askers[i], (struct order){oracles[i], 0, {PLAIN, 1u << i}});
		/* an actor of the other system: nobody here */
		order(&labs[i], askers[i], (struct order){oracles[1 - i], 20, {PLAIN, 100}});
	}
	for (int i = 0; i < 2; i++) {
		uv_update_time(&labs[i].loop); /* the other one has run meanwhile */
		run_for(&labs[i], 300);
	}
	assert_int_equal(answers, 2);
	assert_int_equal(sum, 3);
	assert_int_equal(timeouts, 2);
	assert_int_equal(questions, 2);
	for (int i = 0; i < 2; i++) {
		lab_close(&labs[i]);
		assert_int_equal(labs[i].dead_letters, 1);
	}
}

/* ---- from outside ---- */

static int ask(struct lab *lab, actor_ref to, enum answer answer, int64_t timeout_ms,
	struct counted *reply, size_t *bytes)
{
	struct question q = {answer, 77};

	return actor_system_ask(
		lab->system, to, &plain_type, &q, sizeof(q), timeout_ms, reply, bytes);
}

static void a_thread_outside_waits_for_the_answer(void **state)
{
	struct counted reply = {0};
	size_t bytes;
	struct lab lab;
	actor_ref oracle;

	lab_open_owned(&lab, 2);
	oracle = spawn(&lab, &oracle_class, 2);
	for (int i = 0; i < 200; i++) {
		reply.value = 0;
		bytes = sizeof(reply);
		assert_int_equal(ask(&lab, oracle, OWNED, 0, &reply, &bytes), 0);
		assert_int_equal(bytes, sizeof(struct counted));
		assert_int_equal(reply.value, 77);
	}
	/* Too small a place: cut, and the true size told. */
	bytes = 8;
	memset(&reply, 0, sizeof(reply));
	assert_int_equal(ask(&lab, oracle, TWICE, -1, &reply, &bytes), 0);
	assert_int_equal(bytes, sizeof(struct counted));
	assert_int_equal(reply.value, 77);
	assert_int_equal(ask(&lab, oracle, OWNED, 0, NULL, NULL), 0);
	lab_close(&lab);
}

static void a_thread_outside_is_told_of_the_time_out(void **state)
{
	struct counted reply;
	size_t bytes = sizeof(reply);
	struct lab lab;
	actor_ref oracle;

	lab_open_owned(&lab, 1);
	oracle = spawn(&lab, &oracle_class, 1);
	assert_int_equal(ask(&lab, oracle, SILENT, 20, &reply, &bytes), -ETIMEDOUT);
	assert_int_equal(ask(&lab, oracle, LATER, 5, &reply, &bytes), -ETIMEDOUT);
	assert_int_equal(ask(&lab, ACTOR_NONE, PLAIN, 5, &reply, &bytes), -EINVAL);
	assert_int_equal(ask(&lab, oracle, OWNED, 0, &reply, &bytes), 0);
	lab_close(&lab);
}

static _Atomic int ask_rc;

static int blocking_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	size_t bytes = 0;

	ask_rc = actor_system_ask(
		actor_ctx_system(ctx), actor_self(ctx), &plain_type, NULL, 0, 5, NULL, &bytes);
	actor_stop_self(ctx);
	return 0;
}

static struct actor_class blocking_class = {
	.size = sizeof(blocking_class), .name = "blocking", .on_message = blocking_message};

static void blocking_on_a_loops_thread_is_refused(void **state)
{
	size_t bytes = 0;
	struct lab lab;
	actor_ref ref;

	lab_open_owned(&lab, 2);
	ref = spawn(&lab, &blocking_class, 2);
	actor_system_tell(lab.system, ref, &plain_type, NULL, 0);
	assert_true(lab_wait_terminated(&lab, 1));
	assert_int_equal(ask_rc, -EDEADLK);
	lab_close(&lab);
	lab_open(&lab, NULL);
	ref = spawn(&lab, &oracle_class, 0);
	assert_int_equal(
		actor_system_ask(lab.system, ref, &plain_type, NULL, 0, 5, NULL, &bytes), -EDEADLK);
	lab_close(&lab);
}

struct waiting {
	struct lab *lab;
	actor_ref to;
	int rc;
};

static void *wait_for_ever(void *argument)
{
	struct waiting *w = argument;
	size_t bytes = 0;

	w->rc = ask(w->lab, w->to, SILENT, -1, NULL, &bytes);
	return NULL;
}

static void closing_wakes_the_threads_that_wait(void **state)
{
	for (int round = 0; round < 20; round++) {
		struct waiting waiting[3];
		pthread_t threads[3];
		struct lab lab;
		uint64_t end;

		atomic_store(&questions, 0);
		lab_open_owned(&lab, 2);
		for (int i = 0; i < 3; i++) {
			waiting[i] = (struct waiting){&lab, spawn(&lab, &oracle_class, 1 + i % 2)};
			pthread_create(&threads[i], NULL, wait_for_ever, &waiting[i]);
		}
		for (end = now_ns() + 10000000000u; now_ns() < end && questions < 3;)
			sleep_ms(1);
		lab_close(&lab);
		for (int i = 0; i < 3; i++) {
			pthread_join(threads[i], NULL);
			assert_int_equal(waiting[i].rc, -ECANCELED);
		}
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_answer_runs_as_a_turn_of_the_asker),
		TEST(only_the_first_answer_counts),
		TEST(without_an_answer_the_time_out_comes_once),
		TEST(an_answer_after_the_time_out_is_destroyed_unseen),
		TEST(stopping_the_asker_cancels_without_a_call),
		TEST(asks_that_are_open_at_the_end_leave_nothing),
		TEST(asks_cross_loops_both_ways),
		TEST(a_cancelled_ask_is_not_answered),
		TEST(an_ask_that_is_cancelled_after_its_time_stays_so),
		TEST(answers_of_two_systems_do_not_mix_case_25),
		TEST(a_thread_outside_waits_for_the_answer),
		TEST(a_thread_outside_is_told_of_the_time_out),
		TEST(blocking_on_a_loops_thread_is_refused),
		TEST(closing_wakes_the_threads_that_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
