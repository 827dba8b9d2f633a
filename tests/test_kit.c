/* SPDX-License-Identifier: MIT */
/* The test kit: probes and their expectations, and calls that are wrong. */
#include "tests/lab.h"

#include "tests/kitted.h"

static struct actor_type other_type = ACTOR_TYPE("other");

/* Answers a word by its double. */
static int doubler_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	uint64_t value = 2 * value_of(m);

	return actor_reply(ctx, &word_type, &value, sizeof(value));
}

static struct actor_class doubler_class = {
	.size = sizeof(doubler_class), .name = "doubler", .on_message = doubler_message};

static void a_probe_tells_and_expects_the_answer(void **state)
{
	for (int loops = 1; loops <= 3; loops++) {
		struct actor_test *kit = kit_open(loops);
		struct actor_test_probe *probe = probe_open(kit, "probe", 0);
		actor_ref doubler = spawn(kit, &doubler_class, loops, NULL);
		uint64_t value = 21, wanted = 42;
		struct actor_message m;

		assert_int_equal(actor_test_tell(probe, doubler, &word_type, &value, 8), 0);
		assert_int_equal(
			actor_test_expect(probe, &word_type, is_value, &wanted, 0, &m), 0);
		assert_int_equal(value_of(&m), 42);
		assert_int_equal(m.sender, doubler);
		assert_int_equal(actor_test_sender(probe), doubler);
		assert_int_equal(actor_test_expect_none(probe, 0), 0);
		assert_int_equal(failures, 0);
		assert_int_equal(actor_test_now(kit), 1 + ACTOR_TEST_QUIET_MS);
		assert_int_equal(actor_test_close(kit), 0);
	}
}

static void what_does_not_come_is_a_sentence(void **state)
{
	struct actor_test *kit = kit_open(1);
	struct actor_test_probe *probe = probe_open(kit, "ear", 0);
	uint64_t wanted = 5;
	struct actor_message m;

	assert_int_equal(actor_test_expect(probe, &word_type, NULL, NULL, 40, NULL), -ETIMEDOUT);
	assert_string_equal(failure, "/user/ear: expected a message of type word, but 0 came within "
				     "40 ms (at 41 ms, step 2, seed 7)");
	tell(kit, actor_test_ref(probe), 4);
	assert_int_equal(
		actor_test_expect(probe, &word_type, is_value, &wanted, 0, &m), -EBADMSG);
	assert_int_equal(value_of(&m), 4);
	assert_non_null(strstr(failure, "the predicate is true, but word of 8 bytes came from nobody"));
	tell(kit, actor_test_ref(probe), 4);
	assert_int_equal(actor_test_expect(probe, &other_type, NULL, NULL, 0, NULL), -EBADMSG);
	assert_non_null(strstr(failure, "expected a message of type other, but word of 8 bytes"));
	tell(kit, actor_test_ref(probe), 4);
	assert_int_equal(actor_test_expect_none(probe, 10), -EBADMSG);
	assert_non_null(strstr(failure, "expected no message, but word of 8 bytes came"));
	assert_int_equal(actor_test_count(probe), 1);
	assert_int_equal(actor_test_receive(probe, 3, 10, NULL), -ETIMEDOUT);
	assert_non_null(strstr(failure, "expected 3 messages, but 1 came within 10 ms"));
	assert_int_equal(failures, 5);
	actor_test_clear(probe);
	assert_int_equal(actor_test_count(probe), 0);
	assert_int_equal(actor_test_expect_stopped(kit, actor_test_ref(probe), 10), -ETIMEDOUT);
	assert_non_null(strstr(failure, "expected /user/ear to stop, but it is there after 10 ms"));
	assert_int_equal(actor_system_stop(actor_test_system(kit), actor_test_ref(probe)), 0);
	assert_int_equal(actor_test_expect_stopped(kit, actor_test_ref(probe), 0), 0);
	assert_int_equal(actor_test_expect(probe, NULL, NULL, NULL, 10, NULL), -ESRCH);
	assert_int_equal(actor_test_within(probe, NULL, NULL), -EINVAL);
	assert_int_equal(actor_test_close(kit), 0);
}

static void messages_are_fished_and_received(void **state)
{
	struct actor_test *kit = kit_open(2);
	struct actor_test_probe *probe = probe_open(kit, NULL, 2);
	struct actor_system *system = actor_test_system(kit);
	struct actor_message m[3];
	uint64_t wanted = 3;

	for (uint64_t i = 1; i <= 6; i++) {
		uint64_t token = token_new(i);

		assert_int_equal(actor_system_tell(
			system, actor_test_ref(probe), &token_type, &token, 8), 0);
	}
	assert_int_equal(actor_test_fish(probe, &token_type, is_value, &wanted, 0, &m[0]), 0);
	assert_int_equal(value_of(&m[0]), 3);
	assert_int_equal(atomic_load(&tokens_alive), 4);
	assert_int_equal(actor_test_receive(probe, 2, 0, m), 0);
	assert_int_equal(value_of(&m[0]), 4);
	assert_int_equal(value_of(&m[1]), 5);
	assert_int_equal(atomic_load(&tokens_alive), 3);
	assert_int_equal(actor_system_tell(
		system, actor_test_ref(probe), &counted_type, counted_new(9), sizeof(struct counted)), 0);
	assert_int_equal(actor_test_fish(probe, &counted_type, NULL, NULL, 0, &m[0]), 0);
	assert_int_equal(((struct counted *)m[0].payload)->value, 9);
	assert_int_equal(actor_test_fish(probe, NULL, NULL, NULL, 10, NULL), -ETIMEDOUT);
	assert_int_equal(actor_test_close(kit), 0);
	assert_int_equal(atomic_load(&tokens_alive), 0);
	assert_int_equal(atomic_load(&counted_alive), 0);
}

/* ---- asks ---- */

static uint64_t answer;
static int answer_status;

static int on_answer(
	struct actor_ctx *ctx, int status, const struct actor_message *reply, void *data)
{
	answer_status = status;
	answer = reply ? value_of(reply) : 0;
	return 0;
}

static int ask(struct actor_ctx *ctx, void *data)
{
	uint64_t value = 1;

	return actor_ask(ctx, *(actor_ref *)data, &word_type, &value, 8, 100, on_answer, NULL);
}

static void a_probe_asks_and_answers(void **state)
{
	struct actor_test *kit = kit_open(2);
	struct actor_test_probe *asker = probe_open(kit, "asker", 1);
	struct actor_test_probe *asked = probe_open(kit, "asked", 2);
	actor_ref to = actor_test_ref(asked);
	uint64_t value = 17;

	answer_status = 1;
	assert_int_equal(actor_test_within(asker, ask, &to), 0);
	assert_int_equal(actor_test_expect(asked, &word_type, NULL, NULL, 0, NULL), 0);
	assert_int_equal(actor_test_sender(asked), actor_test_ref(asker));
	assert_int_equal(actor_test_reply(asked, &word_type, &value, 8), 0);
	assert_int_equal(actor_test_reply(asked, &word_type, &value, 8), -EINVAL);
	actor_test_run(kit);
	assert_int_equal(answer_status, 0);
	assert_int_equal(answer, 17);
	/* It was an answer, no message. */
	assert_int_equal(actor_test_expect_none(asker, 0), 0);
	/* A second one is not answered: its time passes at once. */
	assert_int_equal(actor_test_within(asker, ask, &to), 0);
	assert_true(actor_test_advance(kit, 99) > 0);
	assert_int_equal(answer_status, 0);
	assert_int_equal(actor_test_advance(kit, 1), 1);
	assert_int_equal(answer_status, -ETIMEDOUT);
	/* A plain tell is answered by a tell. */
	assert_int_equal(actor_test_tell(asker, to, &word_type, &value, 8), 0);
	assert_int_equal(actor_test_receive(asked, 2, 0, NULL), 0);
	assert_int_equal(actor_test_reply(asked, &other_type, NULL, 0), 0);
	assert_int_equal(actor_test_expect(asker, &other_type, NULL, NULL, 0, NULL), 0);
	assert_int_equal(actor_test_sender(asker), to);
	assert_int_equal(actor_test_close(kit), 0);
}

static void on_query_answered(void *data, int status, const struct actor_message *reply)
{
	answer_status = status;
	answer = reply ? value_of(reply) : 0;
}

static void the_test_asks_without_waiting(void **state)
{
	struct actor_test *kit = kit_open(2);
	struct actor_test_probe *asked = probe_open(kit, "asked", 2);
	uint64_t value = 23;

	for (int i = 0; i < 2; i++) {
		answer_status = 1;
		assert_int_equal(actor_system_ask_async(actor_test_system(kit), actor_test_ref(asked),
			&word_type, &value, 8, 100, on_query_answered, NULL), 0);
		assert_int_equal(actor_test_expect(asked, &word_type, NULL, NULL, 0, NULL), 0);
		if (!i)
			assert_int_equal(actor_test_reply(asked, &word_type, &value, 8), 0);
		else
			assert_int_equal(actor_test_advance(kit, 100), 0);
		assert_int_equal(answer_status, i ? -ETIMEDOUT : 0);
	}
	assert_int_equal(actor_test_close(kit), 0);
}

struct foreign {
	struct actor_test *kit;
	actor_ref to;
	int rc;
	uint64_t answer;
};

static void *foreign_main(void *argument)
{
	struct foreign *f = argument;
	size_t bytes = sizeof(f->answer);
	uint64_t value = 3;

	f->rc = actor_system_ask(actor_test_system(f->kit), f->to, &word_type, &value, 8, -1,
		&f->answer, &bytes);
	return NULL;
}

static void another_thread_asks_in_real_time(void **state)
{
	struct actor_test_options options = {
		.size = sizeof(options), .real_time = 1, .on_failure = on_failure};
	struct actor_test_probe *probe;
	struct foreign f = {0};
	uint64_t value = 8;
	pthread_t thread;

	failures = 0;
	assert_int_equal(actor_test_open(&f.kit, &options), 0);
	probe = probe_open(f.kit, "asked", 0);
	f.to = actor_test_ref(probe);
	assert_int_equal(actor_system_ask(actor_test_system(f.kit), f.to, &word_type, &value, 8, -1,
				 NULL, NULL), -EDEADLK);
	pthread_create(&thread, NULL, foreign_main, &f);
	assert_int_equal(actor_test_expect(probe, &word_type, NULL, NULL, 60000, NULL), 0);
	assert_int_equal(actor_test_reply(probe, &word_type, &value, 8), 0);
	pthread_join(thread, NULL);
	assert_int_equal(f.rc, 0);
	assert_int_equal(f.answer, 8);
	assert_int_equal(actor_test_expect(probe, NULL, NULL, NULL, 20, NULL), -ETIMEDOUT);
	assert_int_equal(actor_test_close(f.kit), 0);
}

/* ---- watches ---- */

static int fail_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	return actor_fail(ctx, -EIO, "as told");
}

static struct actor_class failing_class = {
	.size = sizeof(failing_class), .name = "failing", .on_message = fail_message};

static void the_end_of_a_watched_actor_is_expected(void **state)
{
	struct actor_test *kit = kit_open(2);
	struct actor_test_probe *probe = probe_open(kit, "watcher", 1);
	struct actor_spawn_options options = {
		.size = sizeof(options), .loop = 2, .strategy = &lab_stops};
	struct actor_termination end;
	actor_ref ref;

	assert_int_equal(actor_system_spawn(
		actor_test_system(kit), &failing_class, &options, &ref), 0);
	assert_int_equal(actor_test_watch(probe, ref), 0);
	assert_int_equal(actor_test_expect_none(probe, 0), 0);
	tell(kit, ref, 1);
	assert_int_equal(actor_test_expect_terminated(probe, ref, 0, &end), 0);
	assert_int_equal(end.actor, ref);
	assert_int_equal(end.code, -EIO);
	assert_int_equal(actor_test_sender(probe), ref);
	assert_int_equal(actor_test_watch(probe, ref), 0);
	assert_int_equal(actor_test_expect_terminated(probe, ref + 1, 0, NULL), -EBADMSG);
	assert_int_equal(actor_test_expect_terminated(probe, ref, 10, NULL), -ETIMEDOUT);
	assert_int_equal(actor_test_watch(probe, ACTOR_NONE), -EINVAL);
	assert_int_equal(actor_test_watch(NULL, ref), -EINVAL);
	assert_int_equal(actor_test_close(kit), 0);
}

/* ---- wrong calls ---- */

static struct actor_test *wronged;

static int wrong_inside(struct actor_ctx *ctx, void *data)
{
	struct actor_test_probe *probe = data;

	assert_int_equal(actor_test_expect(probe, NULL, NULL, NULL, 0, NULL), -EBUSY);
	assert_int_equal(actor_test_run(wronged), -EBUSY);
	assert_int_equal(actor_test_close(wronged), -EBUSY);
	return -77;
}

static void *wrong_thread(void *data)
{
	assert_int_equal(actor_test_step(data), ACTOR_ETHREAD);
	return NULL;
}

static void wrong_calls_are_errors(void **state)
{
	struct actor_system_options system = {.size = sizeof(system), .shutdown_signals = 1};
	struct actor_test_options options = {.size = 8};
	struct actor_test *kit;
	struct actor_test_probe *probe;
	pthread_t thread;

	assert_int_equal(actor_test_open(&kit, &options), ACTOR_EOPTIONS);
	assert_int_equal(actor_test_open(NULL, NULL), -EINVAL);
	options = (struct actor_test_options){.size = sizeof(options), .system = &system};
	assert_int_equal(actor_test_open(&kit, &options), ACTOR_EOPTIONS);
	options = (struct actor_test_options){.size = sizeof(options), .units = -1};
	assert_int_equal(actor_test_open(&kit, &options), ACTOR_EOPTIONS);
	assert_int_equal(actor_test_run(NULL), -EINVAL);
	assert_int_equal(actor_test_step(NULL), -EINVAL);
	assert_int_equal(actor_test_close(NULL), -EINVAL);
	assert_int_equal(actor_test_advance(NULL, 1), -EINVAL);
	assert_int_equal(actor_test_expect(NULL, NULL, NULL, NULL, 0, NULL), -EINVAL);
	assert_int_equal(actor_test_fish(NULL, NULL, NULL, NULL, 0, NULL), -EINVAL);
	assert_int_equal(actor_test_receive(NULL, 1, 0, NULL), -EINVAL);
	assert_int_equal(actor_test_expect_none(NULL, 0), -EINVAL);
	assert_int_equal(actor_test_expect_stopped(NULL, 1, 0), -EINVAL);
	assert_int_equal(actor_test_tell(NULL, 1, &word_type, NULL, 0), -EINVAL);
	assert_int_equal(actor_test_reply(NULL, &word_type, NULL, 0), -EINVAL);
	assert_int_equal(actor_test_within(NULL, wrong_inside, NULL), -EINVAL);
	assert_int_equal(actor_test_probe_open(NULL, NULL, 0, &probe), -EINVAL);
	assert_int_equal(actor_test_synchronous(NULL, NULL), -EINVAL);
	assert_int_equal(actor_test_seeds(0, 1, NULL, NULL, NULL), -EINVAL);
	actor_test_clear(NULL);
	kit = kit_open(1);
	wronged = kit;
	assert_int_equal(actor_test_probe_open(kit, NULL, 2, &probe), ACTOR_EOPTIONS);
	assert_int_equal(actor_test_probe_open(kit, NULL, 0, NULL), -EINVAL);
	probe = probe_open(kit, NULL, 0);
	assert_int_equal(actor_test_tell(probe, ACTOR_NONE, &word_type, NULL, 0), -EINVAL);
	assert_int_equal(actor_test_reply(probe, &word_type, NULL, 0), -EINVAL);
	assert_int_equal(actor_test_within(probe, wrong_inside, probe), -77);
	assert_int_equal(actor_test_within(probe, wrong_inside, probe), -77);
	pthread_create(&thread, NULL, wrong_thread, kit);
	pthread_join(thread, NULL);
	assert_null(actor_test_loop(kit, 0));
	assert_null(actor_test_loop(kit, 2));
	assert_non_null(actor_test_loop(kit, 1));
	assert_int_equal(actor_test_close(kit), 0);
}

static void no_allocation_that_fails_is_a_leak(void **state)
{
	for (int64_t n = 1; n < 200; n++) {
		struct actor_test_probe *probe = NULL;
		struct actor_test *kit = NULL;
		int rc;

		lab_heap_begin();
		lab_heap_fail(n, LAB_FAIL_ONCE, 0);
		rc = actor_test_open(&kit, NULL);
		if (!rc) {
			rc = actor_test_probe_open(kit, NULL, 0, &probe);
			lab_heap_fail(0, LAB_FAIL_ONCE, 0);
			assert_int_equal(actor_test_close(kit), 0);
		}
		assert_int_equal(atomic_load(&lab_heap_blocks), 0);
		lab_heap_end();
		if (!rc)
			return;
		assert_int_equal(rc, -ENOMEM);
	}
	fail();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_probe_tells_and_expects_the_answer),
		cmocka_unit_test(what_does_not_come_is_a_sentence),
		cmocka_unit_test(messages_are_fished_and_received),
		cmocka_unit_test(a_probe_asks_and_answers),
		cmocka_unit_test(the_test_asks_without_waiting),
		cmocka_unit_test(another_thread_asks_in_real_time),
		cmocka_unit_test(the_end_of_a_watched_actor_is_expected),
		cmocka_unit_test(wrong_calls_are_errors),
		cmocka_unit_test(no_allocation_that_fails_is_a_leak),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
