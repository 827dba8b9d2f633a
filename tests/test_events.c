/* SPDX-License-Identifier: MIT */
/* The event stream: who is told of what, and that nothing which goes wrong with one subscriber
 * keeps the others, or whoever publishes, from going on. */
#include "tests/hearer.h"
#include "tests/lab.h"

/* ---- an actor that something happens to ---- */

static int (*in_subject)(struct actor_ctx *ctx);
static int start_result;

static int subject_start(struct actor_ctx *ctx)
{
	return start_result;
}

static int subject_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	return in_subject && m->type == &plain_type ? in_subject(ctx) : 0;
}

static struct actor_class subject_class = {.size = sizeof(subject_class),
	.name = "subject",
	.on_start = subject_start,
	.on_message = subject_message};

static actor_ref subject(struct lab *lab)
{
	actor_ref ref;

	assert_int_equal(actor_system_spawn(lab->system, &subject_class, NULL, &ref), 0);
	return ref;
}

/* Runs something inside a handler. */
static void inside(struct lab *lab, actor_ref ref, int (*run)(struct actor_ctx *ctx))
{
	in_subject = run;
	assert_int_equal(actor_system_tell(lab->system, ref, &plain_type, NULL, 0), 0);
	lab_run(lab);
	in_subject = NULL;
}

static int setup(void **state)
{
	watched = 0;
	start_result = 0;
	in_subject = NULL;
	return 0;
}

/* ---- life ---- */

static int fail_handler(struct actor_ctx *ctx)
{
	return actor_fail(ctx, -EIO, "broken");
}

static void life_events_name_the_actor_its_parent_and_class_and_the_cause(void **state)
{
	struct heard heard;
	actor_ref ref;
	struct lab lab;

	lab_open(&lab, NULL);
	ref = hearer(&lab, &heard, "hearer");
	subscribe(&lab, ref, &actor_event_started);
	subscribe(&lab, ref, &actor_event_stopped);
	subscribe(&lab, ref, &actor_event_failed);
	subscribe(&lab, ref, &actor_event_restarted);
	lab_run(&lab);
	assert_string_equal(heard.trail, "started "); /* its own */
	assert_int_equal(heard.life.actor, ref);
	watched = subject(&lab);
	lab_run(&lab);
	assert_string_equal(heard.trail, "started started ");
	assert_int_equal(heard.life.actor, watched);
	assert_int_equal(heard.life.parent, 0);
	assert_int_equal(heard.life.code, 0);
	assert_int_equal(heard.sender, 0);
	assert_string_equal(heard.life.class_name, "subject");
	inside(&lab, watched, fail_handler);
	lab_run(&lab);
	assert_string_equal(heard.trail, "started started failed restarted ");
	assert_int_equal(heard.life.actor, watched);
	assert_int_equal(heard.life.code, -EIO);
	actor_system_stop(lab.system, watched);
	lab_run(&lab);
	assert_non_null(strstr(heard.trail, "stopped "));
	lab_close(&lab);
}

static void a_failing_start_is_no_started_event(void **state)
{
	struct heard heard;
	actor_ref ref;
	struct lab lab;

	lab_open(&lab, NULL);
	ref = hearer(&lab, &heard, NULL);
	lab_run(&lab);
	subscribe(&lab, ref, &actor_event_started);
	subscribe(&lab, ref, &actor_event_stopped);
	subscribe(&lab, ref, &actor_event_failed);
	start_result = -EPROTO;
	watched = subject(&lab);
	for (int i = 0; i < 20 && !strstr(heard.trail, "stopped"); i++) {
		lab_run(&lab);
		actor_system_stop(lab.system, watched);
	}
	assert_null(strstr(heard.trail, "started "));
	assert_int_equal(strncmp(heard.trail, "failed ", 7), 0);
	assert_non_null(strstr(heard.trail, "stopped "));
	assert_int_equal(heard.life.code, -EPROTO);
	lab_close(&lab);
}

static void nobody_hears_of_his_own_end(void **state)
{
	struct heard first, second;
	actor_ref a, b;
	struct lab lab;

	lab_open(&lab, NULL);
	a = hearer(&lab, &first, NULL);
	b = hearer(&lab, &second, NULL);
	lab_run(&lab);
	subscribe(&lab, a, &actor_event_stopped);
	subscribe(&lab, b, &actor_event_stopped);
	actor_system_stop(lab.system, a);
	lab_run(&lab);
	assert_int_equal(first.count, 0);
	assert_int_equal(second.count, 1);
	assert_int_equal(second.life.actor, a);
	assert_int_equal(lab.dead_letters, 0);
	lab_close(&lab);
}

/* ---- predicates ---- */

static uint32_t asked;

static int predicate_of(void *data, const struct actor_message *event)
{
	asked++;
	return (int)(intptr_t)data;
}

static int is_even(void *data, const struct actor_message *event)
{
	uint64_t value;

	memcpy(&value, event->payload, sizeof(value));
	return value % 2 == 0;
}

static void case_22_one_bad_subscription_does_not_keep_the_others_from_their_events(void **state)
{
	struct actor_subscription bad = {.size = sizeof(bad), .predicate = predicate_of};
	struct heard heard[4];
	actor_ref ref[4];
	struct lab lab;

	lab_open(&lab, NULL);
	asked = 0;
	for (int i = 0; i < 4; i++)
		ref[i] = hearer(&lab, &heard[i], i == 1 ? "bad" : NULL);
	subscribe(&lab, ref[0], &news);
	bad.data = (void *)(intptr_t)-EDOM;
	assert_int_equal(actor_system_subscribe(lab.system, ref[1], &news, &bad), 0);
	bad.data = (void *)0;
	assert_int_equal(actor_system_subscribe(lab.system, ref[2], &news, &bad), 0);
	bad.data = (void *)1;
	assert_int_equal(actor_system_subscribe(lab.system, ref[3], &news, &bad), 0);
	lab_run(&lab);
	for (int i = 1; i <= 5; i++) {
		assert_int_equal(actor_system_publish(lab.system, &news, NULL, 0), 2);
		lab_run(&lab);
		assert_int_equal(heard[0].count, i);
		assert_int_equal(heard[1].count, 0);
		assert_int_equal(heard[2].count, 0);
		assert_int_equal(heard[3].count, i);
		assert_int_equal(lab.logged, 1);
	}
	assert_int_equal(asked, 15);
	assert_non_null(strstr(lab.last_log, "/user/bad"));
	assert_non_null(strstr(lab.last_log, "news"));
	assert_non_null(strstr(lab.last_log, actor_strerror(-EDOM)));
	lab_close(&lab);
}

static void with_predicates_an_actor_may_subscribe_more_than_once(void **state)
{
	struct actor_subscription even = {.size = sizeof(even), .predicate = is_even};
	struct heard heard;
	actor_ref ref;
	struct lab lab;

	lab_open(&lab, NULL);
	ref = hearer(&lab, &heard, NULL);
	subscribe(&lab, ref, &news);
	assert_int_equal(actor_system_subscribe(lab.system, ref, &news, NULL), -EALREADY);
	assert_int_equal(actor_system_subscribe(lab.system, ref, &news, &even), 0);
	assert_int_equal(actor_system_subscribe(lab.system, ref, &news, &even), 0);
	lab_run(&lab);
	for (uint64_t i = 0; i < 10; i++)
		assert_int_equal(
			actor_system_publish(lab.system, &news, &i, sizeof(i)), i % 2 ? 1 : 3);
	lab_run(&lab);
	assert_int_equal(heard.count, 20);
	assert_int_equal(actor_system_unsubscribe(lab.system, ref, &blob), 0);
	assert_int_equal(actor_system_unsubscribe(lab.system, ref, &news), 3);
	assert_int_equal(actor_system_publish(lab.system, &news, NULL, 0), 0);
	lab_close(&lab);
}

/* ---- events of the program ---- */

static int results[8];
static uint64_t sent_value;

static int publish_inside(struct actor_ctx *ctx)
{
	results[0] = actor_publish(ctx, &news, &sent_value, sizeof(sent_value));
	return 0;
}

static int subscribe_inside(struct actor_ctx *ctx)
{
	results[0] = actor_subscribe(ctx, &news, NULL);
	results[1] = actor_subscribe(ctx, &news, NULL);
	results[2] = actor_subscribe(ctx, &blob, NULL);
	results[3] = actor_publish(ctx, &news, NULL, 0);
	results[4] = actor_unsubscribe(ctx, &news);
	results[5] = actor_publish(ctx, &news, NULL, 0);
	results[6] = actor_unsubscribe(ctx, NULL);
	return 0;
}

static void an_actor_publishes_and_subscribes_itself(void **state)
{
	static const int expected[] = {0, -EALREADY, 0, 1, 1, 0, 1};
	struct heard heard;
	actor_ref ref, publisher;
	struct lab lab;

	lab_open(&lab, NULL);
	ref = hearer(&lab, &heard, NULL);
	publisher = subject(&lab);
	subscribe(&lab, ref, &news);
	sent_value = 4711;
	inside(&lab, publisher, publish_inside);
	assert_int_equal(results[0], 1);
	assert_int_equal(heard.count, 1);
	assert_int_equal(heard.last, 4711);
	assert_int_equal(heard.sender, publisher);
	actor_system_unsubscribe(lab.system, ref, NULL);
	inside(&lab, publisher, subscribe_inside);
	for (size_t i = 0; i < COUNT(expected); i++)
		assert_int_equal(results[i], expected[i]);
	lab_close(&lab);
}

static int refuse_copy(void *to, const void *payload, size_t bytes)
{
	return -EOVERFLOW;
}

static struct actor_type refused = {
	sizeof(struct actor_type), "refused", counted_free, refuse_copy, 0};

static void the_payload_stays_the_publishers_and_each_gets_a_copy(void **state)
{
	struct counted *big = counted_new(5);
	uint64_t token = token_new(6);
	struct heard heard[3];
	char plain[200] = "plain and long";
	struct lab lab;

	lab_open(&lab, NULL);
	for (int i = 0; i < 3; i++) {
		actor_ref ref = hearer(&lab, &heard[i], NULL);

		subscribe(&lab, ref, &big_copied);
		subscribe(&lab, ref, &small_copied);
		subscribe(&lab, ref, &counted_type);
		subscribe(&lab, ref, &refused);
		subscribe(&lab, ref, &blob);
	}
	lab_run(&lab);
	assert_int_equal(actor_system_publish(lab.system, &big_copied, big, sizeof(*big)), 3);
	assert_int_equal(counted_alive, 4);
	assert_int_equal(actor_system_publish(lab.system, &small_copied, &token, sizeof(token)), 3);
	assert_int_equal(tokens_alive, 4);
	assert_int_equal(actor_system_publish(lab.system, &blob, plain, sizeof(plain)), 3);
	lab_run(&lab);
	assert_int_equal(counted_alive, 1);
	assert_int_equal(tokens_alive, 1);
	for (int i = 0; i < 3; i++)
		assert_int_equal(heard[i].count, 3);
	/* A destroy without a copy, and a copy that does not work. */
	assert_int_equal(
		actor_system_publish(lab.system, &counted_type, big, sizeof(*big)), ACTOR_ETYPE);
	assert_int_equal(actor_system_publish(lab.system, &refused, big, sizeof(*big)), -EOVERFLOW);
	assert_int_equal(lab.logged, 3); /* once per subscription */
	assert_int_equal(actor_system_publish(lab.system, &refused, big, sizeof(*big)), -EOVERFLOW);
	assert_int_equal(lab.logged, 3);
	assert_int_equal(counted_alive, 1);
	counted_free(big, sizeof(*big));
	token_free(&token, sizeof(token));
	lab_close(&lab);
}

static void wrong_calls_are_refused(void **state)
{
	struct actor_subscription old = {.size = 8};
	struct actor_type nameless = {.size = sizeof(nameless)};
	struct heard heard;
	struct lab lab, other;
	actor_ref ref;

	lab_open(&lab, NULL);
	lab_open(&other, NULL);
	ref = hearer(&lab, &heard, NULL);
	assert_int_equal(actor_system_subscribe(lab.system, ref, NULL, NULL), ACTOR_ETYPE);
	assert_int_equal(actor_system_subscribe(lab.system, ref, &nameless, NULL), ACTOR_ETYPE);
	assert_int_equal(actor_system_subscribe(lab.system, ref, &news, &old), ACTOR_EOPTIONS);
	assert_int_equal(actor_system_subscribe(lab.system, 0, &news, NULL), -ENOENT);
	assert_int_equal(actor_system_subscribe(other.system, ref, &news, NULL), -ENOENT);
	assert_int_equal(actor_system_publish(lab.system, NULL, NULL, 0), ACTOR_ETYPE);
	assert_int_equal(actor_system_publish(lab.system, &nameless, NULL, 0), ACTOR_ETYPE);
	assert_int_equal(actor_system_publish(lab.system, &news, NULL, 8), ACTOR_ETYPE);
	assert_int_equal(actor_subscribe(NULL, &news, NULL), -EINVAL);
	assert_int_equal(actor_unsubscribe(NULL, &news), -EINVAL);
	assert_int_equal(actor_publish(NULL, &news, NULL, 0), -EINVAL);
	lab_close(&other);
	lab_close(&lab);
}

/* ---- memory ---- */

static void without_subscribers_an_event_needs_no_memory(void **state)
{
	struct heard heard;
	actor_ref dead;
	struct lab lab;

	lab_heap_begin();
	lab_open(&lab, NULL);
	dead = hearer(&lab, &heard, NULL);
	lab_run(&lab);
	lab_heap_fail(0, LAB_FAIL_ONCE, 0);
	for (int i = 0; i < 100; i++)
		assert_int_equal(actor_system_publish(lab.system, &news, NULL, 0), 0);
	assert_int_equal(lab_heap_asked, 0);
	actor_system_stop(lab.system, dead);
	lab_close(&lab);
	lab_heap_end();
}

static void an_event_that_is_lost_for_want_of_memory_is_an_error_for_its_publisher_alone(
	void **state)
{
	uint32_t lost = 0;

	for (int64_t n = 1; n < 60; n++) {
		struct heard heard[3];
		struct lab lab;
		int64_t blocks;
		int rc;

		lab_heap_begin();
		blocks = lab_heap_blocks;
		lab_open(&lab, NULL);
		for (int i = 0; i < 3; i++) {
			actor_ref ref = hearer(&lab, &heard[i], NULL);

			lab_run(&lab);
			lab_heap_fail(n, LAB_FAIL_ONCE, 0);
			rc = actor_system_subscribe(lab.system, ref, &news, NULL);
			assert_true(rc == 0 || rc == -ENOMEM);
			if (rc)
				subscribe(&lab, ref, &news);
		}
		lab_heap_fail(n, LAB_FAIL_ONCE, 0);
		for (int i = 0; i < 40; i++) {
			rc = actor_system_publish(lab.system, &news, NULL, 0);
			assert_true(rc == 3 || rc == -ENOMEM);
			lost += rc == -ENOMEM;
		}
		lab_heap_fail(0, LAB_FAIL_ONCE, 0);
		lab_run(&lab);
		rc = (int)(heard[0].count + heard[1].count + heard[2].count);
		assert_true(rc == 120 || rc == 119);
		assert_true(rc == 120 || lab.logged == 1);
		lab_close(&lab);
		assert_int_equal(lab_heap_blocks, blocks);
		lab_heap_end();
	}
	assert_true(lost > 0);
}

#define TEST(f) cmocka_unit_test_setup(f, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(life_events_name_the_actor_its_parent_and_class_and_the_cause),
		TEST(a_failing_start_is_no_started_event),
		TEST(nobody_hears_of_his_own_end),
		TEST(case_22_one_bad_subscription_does_not_keep_the_others_from_their_events),
		TEST(with_predicates_an_actor_may_subscribe_more_than_once),
		TEST(an_actor_publishes_and_subscribes_itself),
		TEST(the_payload_stays_the_publishers_and_each_gets_a_copy),
		TEST(wrong_calls_are_refused),
		TEST(without_subscribers_an_event_needs_no_memory),
		TEST(an_event_that_is_lost_for_want_of_memory_is_an_error_for_its_publisher_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
