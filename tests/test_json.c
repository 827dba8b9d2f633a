/* SPDX-License-Identifier: MIT */
/* Small helpers around jansson: text that is not UTF-8, counts that do not fit, lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "probe/json.h"

static void any_text_becomes_a_valid_line(void **state)
{
	static const struct {
		const char *text;
		const char *line;
	} rows[] = {
		{"caf\xc3\xa9", "{\"k\":\"caf\xc3\xa9\"}\n"},
		{"a\"b\\c\n\x01", "{\"k\":\"a\\\"b\\\\c\\n\\u0001\"}\n"},
		{"\xff\xfe", "{\"k\":\"?\"}\n"},
		{"\xed\xa0\x80", "{\"k\":\"?\"}\n"}, /* a surrogate */
		{"", "{\"k\":\"\"}\n"},
		{NULL, "{\"k\":null}\n"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct text text = {0};
		json_t *object = json_object();

		json_put_text(object, "k", rows[i].text);
		json_add_line(&text, object);
		assert_string_equal(text.bytes, rows[i].line);
		text_fini(&text);
	}
}

static void counts_saturate(void **state)
{
	json_t *object = json_object();
	struct text text = {0};

	json_put_count(object, "k", INT64_MAX);
	assert_true(json_integer_value(json_object_get(object, "k")) == INT64_MAX);
	json_put_count(object, "k", UINT64_MAX);
	assert_true(json_integer_value(json_object_get(object, "k")) == INT64_MAX);
	json_decref(object);
	json_add_line(&text, NULL);
	assert_true(text.failed);
	text_fini(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_text_becomes_a_valid_line),
		cmocka_unit_test(counts_saturate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
