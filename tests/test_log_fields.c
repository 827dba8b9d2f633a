/* SPDX-License-Identifier: MIT */
/* Contexts of log lines by themselves: their keys, values and bounds. */
#include "tests/lab.h"
#include "runtime/log_context.h"

static void a_context_is_made_key_by_key(void **state)
{
	static const struct {
		const char *key, *value;
		int rc;
		uint32_t count;
		const char *a, *b;
	} rows[] = {
		{"a", NULL, 0, 0, NULL, NULL},
		{"a", "1", 0, 1, "1", NULL},
		{"b", "", 0, 2, "1", ""},
		{"a", "other", 0, 2, "other", ""},
		{"c", NULL, 0, 2, "other", ""},
		{"", "x", ACTOR_ENAME, 2, "other", ""},
		{NULL, "x", ACTOR_ENAME, 2, "other", ""},
		{"x\n", "x", ACTOR_ENAME, 2, "other", ""},
		{"a", NULL, 0, 1, NULL, ""},
		{"b", NULL, 0, 0, NULL, NULL},
	};
	struct actor__log_context *context = NULL;

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct actor__log_context *made;
		int rc = actor__log_context_with(context, rows[i].key, rows[i].value, &made);
		const char *a, *b;

		assert_int_equal(rc, rows[i].rc);
		if (!rc) {
			actor__log_context_unuse(context);
			context = made;
		}
		assert_int_equal(context ? context->count : 0, rows[i].count);
		a = actor__log_context_find(context, "a");
		b = actor__log_context_find(context, "b");
		assert_true(a ? rows[i].a && !strcmp(a, rows[i].a) : !rows[i].a);
		assert_true(b ? rows[i].b && !strcmp(b, rows[i].b) : !rows[i].b);
	}
}

static void a_context_has_bounds(void **state)
{
	static char value[ACTOR_LOG_CONTEXT_BYTES];
	struct actor__log_context *context = NULL, *made;
	char key[8];

	for (int i = 0; i <= ACTOR_LOG_CONTEXT_FIELDS; i++) {
		int rc;

		snprintf(key, sizeof(key), "%d", i);
		rc = actor__log_context_with(context, key, "v", &made);
		assert_int_equal(rc, i < ACTOR_LOG_CONTEXT_FIELDS ? 0 : -ENOBUFS);
		if (rc)
			continue;
		actor__log_context_unuse(context);
		context = made;
	}
	actor__log_context_unuse(context);
	memset(value, 'v', sizeof(value) - 3);
	assert_int_equal(actor__log_context_with(NULL, "k", value, &made), 0);
	actor__log_context_unuse(made);
	value[sizeof(value) - 3] = 'v';
	assert_int_equal(actor__log_context_with(NULL, "k", value, &made), -ENOBUFS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_context_is_made_key_by_key),
		cmocka_unit_test(a_context_has_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
