/* SPDX-License-Identifier: MIT */
/* Health checks: who is up, what the answer says, and how it changes at the end. */
#include "tests/lab.h"

#include <jansson.h>
#include <stdio.h>

static struct lab lab;

static int up(void *data, char *detail, size_t bytes)
{
	assert_int_equal(bytes, ACTOR_HEALTH_DETAIL_BYTES);
	assert_string_equal(detail, "");
	return 1;
}

static int down(void *data, char *detail, size_t bytes)
{
	snprintf(detail, bytes, "%s", (const char *)data);
	return 0;
}

static int fails(void *data, char *detail, size_t bytes)
{
	return -ECONNREFUSED;
}

static int fills(void *data, char *detail, size_t bytes)
{
	memset(detail, 'x', bytes);
	return 1;
}

static void assert_answer(enum actor_health_kind kind, int rc, const char *json)
{
	char text[2048];
	size_t bytes = sizeof(text);

	assert_int_equal(actor_health(lab.system, kind, text, &bytes), rc);
	assert_string_equal(text, json);
	assert_int_equal(bytes, strlen(text));
	assert_int_equal(actor_health(lab.system, kind, NULL, NULL), rc);
}

#define SYSTEM_UP "{\"name\":\"actor-system\",\"status\":\"UP\"}"

static void an_empty_set_is_healthy(void **state)
{
	lab_open(&lab, NULL);
	assert_answer(ACTOR_LIVENESS, 1, "{\"status\":\"UP\",\"checks\":[" SYSTEM_UP "]}");
	assert_answer(ACTOR_READINESS, 1, "{\"status\":\"UP\",\"checks\":[" SYSTEM_UP "]}");
	lab_close(&lab);
}

static void one_check_that_is_down_is_enough(void **state)
{
	lab_open(&lab, NULL);
	assert_int_equal(actor_health_add(lab.system, ACTOR_READINESS, "good", up, NULL), 0);
	assert_int_equal(
		actor_health_add(lab.system, ACTOR_READINESS, "database", down, "no connection"),
		0);
	assert_answer(ACTOR_READINESS, 0,
		"{\"status\":\"DOWN\",\"checks\":[" SYSTEM_UP ",{\"name\":\"good\",\"status\":"
		"\"UP\"},{\"name\":\"database\",\"status\":\"DOWN\",\"detail\":\"no "
		"connection\"}]}");
	/* The other kind has nothing to do with it, also under the same name. */
	assert_int_equal(actor_health_add(lab.system, ACTOR_LIVENESS, "database", up, NULL), 0);
	assert_answer(ACTOR_LIVENESS, 1,
		"{\"status\":\"UP\",\"checks\":[" SYSTEM_UP
		",{\"name\":\"database\",\"status\":\"UP\"}]}");
	assert_int_equal(actor_health_remove(lab.system, ACTOR_READINESS, "database"), 0);
	assert_int_equal(actor_health(lab.system, ACTOR_READINESS, NULL, NULL), 1);
	lab_close(&lab);
}

static void a_failing_check_counts_as_down_and_is_counted(void **state)
{
	char text[512];

	lab_open(&lab, NULL);
	assert_int_equal(actor_health_add(lab.system, ACTOR_LIVENESS, "remote", fails, NULL), 0);
	for (int i = 1; i < 4; i++) {
		size_t bytes = sizeof(text);
		char expected[512];

		assert_int_equal(actor_health(lab.system, ACTOR_LIVENESS, text, &bytes), 0);
		snprintf(expected, sizeof(expected),
			"{\"status\":\"DOWN\",\"checks\":[" SYSTEM_UP
			",{\"name\":\"remote\",\"status\":\"DOWN\",\"detail\":\"connection "
			"refused\",\"failed\":%d}]}",
			i);
		assert_string_equal(text, expected);
	}
	lab_close(&lab);
}

static void any_text_makes_valid_json(void **state)
{
	static const char *const texts[] = {"\"quoted\" \\ back", "line\nfeed\ttab\x01\x7f",
		"gr\xc3\xbc\xc3\x9f", "\xff\xfe broken \xc3", "\xed\xa0\x80 surrogate",
		"</script>"};
	char text[4096];

	for (size_t i = 0; i < COUNT(texts); i++) {
		size_t bytes = sizeof(text);
		json_error_t error;
		json_t *json, *last;

		lab_open(&lab, NULL);
		assert_int_equal(
			actor_health_add(lab.system, ACTOR_LIVENESS, "long", fills, NULL), 0);
		assert_int_equal(actor_health_add(lab.system, ACTOR_LIVENESS, "a \"name\"", down,
					 (void *)(uintptr_t)texts[i]),
			0);
		assert_int_equal(actor_health(lab.system, ACTOR_LIVENESS, text, &bytes), 0);
		json = json_loads(text, 0, &error);
		if (!json)
			fail_msg("%s: %s", error.text, text);
		last = json_array_get(json_object_get(json, "checks"), 2);
		assert_string_equal(json_string_value(json_object_get(last, "name")), "a \"name\"");
		if (i < 3)
			assert_string_equal(
				json_string_value(json_object_get(last, "detail")), texts[i]);
		json_decref(json);
		lab_close(&lab);
	}
}

static void an_answer_that_does_not_fit_says_how_long_it_is(void **state)
{
	size_t bytes, whole;
	char *text;

	lab_open(&lab, NULL);
	assert_int_equal(actor_health_add(lab.system, ACTOR_LIVENESS, "good", up, NULL), 0);
	assert_int_equal(actor_health_add(lab.system, ACTOR_LIVENESS, "bad", down, "\x01\"\""), 0);
	whole = 0;
	assert_int_equal(actor_health(lab.system, ACTOR_LIVENESS, NULL, &whole), 0);
	for (size_t room = 0; room < whole; room++) {
		text = malloc(room ? room : 1); /* of exactly this size, for the sanitizer */
		bytes = room;
		assert_int_equal(actor_health(lab.system, ACTOR_LIVENESS, text, &bytes), -ENOBUFS);
		assert_int_equal(bytes, whole);
		free(text);
	}
	text = malloc(whole);
	bytes = whole;
	assert_int_equal(actor_health(lab.system, ACTOR_LIVENESS, text, &bytes), 0);
	assert_int_equal(bytes, whole - 1);
	assert_int_equal(strlen(text), bytes);
	free(text);
	lab_close(&lab);
}

/* ---- the end ---- */

static int in_shutdown(struct actor_system *system, int task, void *data)
{
	assert_answer(ACTOR_LIVENESS, 1, "{\"status\":\"UP\",\"checks\":[" SYSTEM_UP "]}");
	assert_answer(ACTOR_READINESS, 0,
		"{\"status\":\"DOWN\",\"checks\":[{\"name\":\"actor-system\",\"status\":\"DOWN\","
		"\"detail\":\"the actor system is shutting down\"}]}");
	++*(int *)data;
	return 0;
}

static void in_close(struct actor_system *system, void *data)
{
	static const char closing[] =
		"{\"status\":\"DOWN\",\"checks\":[{\"name\":\"actor-system\",\"status\":\"DOWN\","
		"\"detail\":\"the actor system is closing\"}]}";

	assert_answer(ACTOR_LIVENESS, 0, closing);
	assert_answer(ACTOR_READINESS, 0, closing);
	++*(int *)data;
}

static void a_system_is_not_ready_in_its_shutdown_and_not_alive_when_it_closes(void **state)
{
	int seen = 0;

	lab_open(&lab, NULL);
	assert_true(actor_shutdown_add(lab.system, ACTOR_UNBIND, "look", in_shutdown, &seen) > 0);
	assert_int_equal(actor_system_shutdown(lab.system, in_close, &seen), 0);
	uv_run(&lab.loop, UV_RUN_DEFAULT);
	assert_int_equal(seen, 2);
	lab.closed = true;
	lab_close(&lab);
}

/* ---- misuse ---- */

static int asks_inside(void *data, char *detail, size_t bytes)
{
	size_t room = 0;

	assert_int_equal(actor_health(lab.system, ACTOR_READINESS, NULL, &room), -EDEADLK);
	assert_int_equal(
		actor_health_add(lab.system, ACTOR_READINESS, "inside", up, NULL), -EDEADLK);
	assert_int_equal(actor_health_remove(lab.system, ACTOR_LIVENESS, "asks"), -EDEADLK);
	return 1;
}

static void wrong_checks_are_refused(void **state)
{
	static const struct {
		int kind;
		const char *name;
		actor_health_cb cb;
		int rc;
	} rows[] = {
		{0, "a", up, -EINVAL},
		{3, "a", up, -EINVAL},
		{1, "a", NULL, -EINVAL},
		{1, NULL, up, ACTOR_ENAME},
		{1, "a/b", up, ACTOR_ENAME},
		{1, "actor-system", up, -EEXIST},
		{1, "asks", up, -EEXIST},
	};

	lab_open(&lab, NULL);
	assert_int_equal(
		actor_health_add(lab.system, ACTOR_LIVENESS, "asks", asks_inside, NULL), 0);
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(actor_health_add(lab.system, (enum actor_health_kind)rows[i].kind,
					 rows[i].name, rows[i].cb, NULL),
			rows[i].rc);
	assert_int_equal(actor_health(lab.system, (enum actor_health_kind)3, NULL, NULL), -EINVAL);
	assert_int_equal(actor_health_remove(lab.system, ACTOR_LIVENESS, NULL), -ENOENT);
	assert_int_equal(actor_health_remove(lab.system, ACTOR_LIVENESS, "none"), -ENOENT);
	assert_int_equal(actor_health_remove(lab.system, ACTOR_READINESS, "asks"), -ENOENT);
	assert_int_equal(actor_health(lab.system, ACTOR_LIVENESS, NULL, NULL), 1);
	lab_heap_begin();
	lab_heap_fail(1, LAB_FAIL_ONCE, 0);
	assert_int_equal(actor_health_add(lab.system, ACTOR_LIVENESS, "late", up, NULL), -ENOMEM);
	lab_heap_fail(0, LAB_FAIL_ONCE, 0);
	lab_heap_end();
	lab_close(&lab);
}

/* ---- threads ---- */

static _Atomic bool over;
static int64_t calls; /* checks run one at a time: no atomic needed */

static int counts(void *data, char *detail, size_t bytes)
{
	calls++;
	return 1;
}

static void *asks(void *data)
{
	int64_t own = 0;

	while (!atomic_load(&over)) {
		assert_int_equal(actor_health(lab.system, ACTOR_LIVENESS, NULL, NULL), 1);
		own++;
	}
	return (void *)(intptr_t)own;
}

static void threads_may_ask_while_others_add_and_remove(void **state)
{
	pthread_t threads[3];
	int64_t asked = 0;

	lab_open_owned(&lab, 1);
	atomic_store(&over, false);
	calls = 0;
	assert_int_equal(actor_health_add(lab.system, ACTOR_LIVENESS, "counts", counts, NULL), 0);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, asks, NULL);
	for (int i = 0; i < 2000; i++) {
		assert_int_equal(actor_health_add(lab.system, ACTOR_LIVENESS, "more", up, NULL), 0);
		assert_int_equal(actor_health_remove(lab.system, ACTOR_LIVENESS, "more"), 0);
	}
	atomic_store(&over, true);
	for (int i = 0; i < 3; i++) {
		void *own;

		pthread_join(threads[i], &own);
		asked += (int64_t)(intptr_t)own;
	}
	assert_int_equal(calls, asked);
	lab_close(&lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_set_is_healthy),
		cmocka_unit_test(one_check_that_is_down_is_enough),
		cmocka_unit_test(a_failing_check_counts_as_down_and_is_counted),
		cmocka_unit_test(any_text_makes_valid_json),
		cmocka_unit_test(an_answer_that_does_not_fit_says_how_long_it_is),
		cmocka_unit_test(
			a_system_is_not_ready_in_its_shutdown_and_not_alive_when_it_closes),
		cmocka_unit_test(wrong_checks_are_refused),
		cmocka_unit_test(threads_may_ask_while_others_add_and_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
