/* SPDX-License-Identifier: MIT */
/* The runtime's own sinks: what stands in a line, and that no text can break out of it. */
#include "tests/lab.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static char line[65536];

/* What a sink writes for a record. */
static const char *written(
	void (*make)(struct actor_log_sink *, int), const struct actor_log_record *record)
{
	struct actor_log_sink sink;
	FILE *file = tmpfile();
	ssize_t n;

	assert_non_null(file);
	make(&sink, fileno(file));
	assert_int_equal(sink.write(sink.data, record), 0);
	n = pread(fileno(file), line, sizeof(line) - 1, 0);
	assert_true(n > 0);
	line[n] = '\0';
	fclose(file);
	return line;
}

static struct actor_log_record record_of(const char *text)
{
	return (struct actor_log_record){.level = ACTOR_LOG_WARN,
		.time_ns = 1767323045678901234ull,
		.system = "shop",
		.path = "",
		.text = text};
}

static void a_line_has_time_level_system_path_text_and_context(void **state)
{
	static const struct actor_log_field fields[] = {{"request", "7f"}, {"user", "ada"}};
	struct actor_log_record record = record_of("out of stock");

	assert_string_equal(written(actor_log_to_text, &record),
		"2026-01-02T03:04:05.678901Z warning shop: out of stock\n");
	assert_string_equal(written(actor_log_to_json, &record),
		"{\"time\":\"2026-01-02T03:04:05.678901Z\",\"level\":\"warning\",\"system\":"
		"\"shop\","
		"\"text\":\"out of stock\"}\n");
	record.path = "/user/cart";
	record.fields = fields;
	record.field_count = 2;
	record.level = ACTOR_LOG_INFO;
	assert_string_equal(written(actor_log_to_text, &record),
		"2026-01-02T03:04:05.678901Z info    shop /user/cart: out of stock | request=7f "
		"user=ada\n");
	assert_string_equal(written(actor_log_to_json, &record),
		"{\"time\":\"2026-01-02T03:04:05.678901Z\",\"level\":\"info\",\"system\":\"shop\","
		"\"actor\":\"/user/cart\",\"text\":\"out of stock\","
		"\"context\":{\"request\":\"7f\",\"user\":\"ada\"}}\n");
}

static const struct {
	const char *raw, *text, *json;
} texts[] = {
	{"plain \\ \"quoted\"", "plain \\ \"quoted\"", "plain \\\\ \\\"quoted\\\""},
	{"two\nlines\ttab", "two\\nlines\\ttab", "two\\u000alines\\u0009tab"},
	{"\x1b[31mred\r\x07", "\\x1b[31mred\\x0d\\x07", "\\u001b[31mred\\u000d\\u0007"},
	{"\x7f", "\\x7f", "\\u007f"},
	{"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\x99",
		"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\x99",
		"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\x99"},
	{"\xc2\x9b"
	 "31m",
		"\\xc2\\x9b31m",
		"\xc2\x9b"
		"31m"}, /* C1: a terminal's CSI */
	{"a\xe2\x80\xae"
	 "b",
		"a\\xe2\\x80\\xaeb",
		"a\xe2\x80\xae"
		"b"}, /* right to left */
	{"\xff\xfe", "\\xff\\xfe", "\\ufffd\\ufffd"},
	{"\xc0\xaf", "\\xc0\\xaf", "\\ufffd\\ufffd"},		      /* overlong */
	{"\xed\xa0\x80", "\\xed\\xa0\\x80", "\\ufffd\\ufffd\\ufffd"}, /* surrogate */
	{"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80", "\\ufffd\\ufffd\\ufffd\\ufffd"},
	{"cut \xe2\x82", "cut \\xe2\\x82", "cut \\ufffd\\ufffd"},
};

static void no_text_breaks_out_of_its_line(void **state)
{
	char expected[256];

	for (size_t i = 0; i < COUNT(texts); i++) {
		struct actor_log_record record = record_of(texts[i].raw);

		snprintf(expected, sizeof(expected), "shop: %s\n", texts[i].text);
		if (!strstr(written(actor_log_to_text, &record), expected))
			fail_msg("row %zu: %s", i, line);
		snprintf(expected, sizeof(expected), "\"text\":\"%s\"}\n", texts[i].json);
		if (!strstr(written(actor_log_to_json, &record), expected))
			fail_msg("row %zu: %s", i, line);
	}
}

static void a_longest_line_is_complete(void **state)
{
	static char text[1024], path[512], value[513];
	struct actor_log_field fields[2] = {{"one", value}, {"two", value}};
	struct actor_log_record record = record_of(text);

	memset(text, 1, sizeof(text) - 1);
	memset(path, 2, sizeof(path) - 1);
	memset(value, 3, sizeof(value) - 1);
	record.path = path;
	record.fields = fields;
	record.field_count = 2;
	written(actor_log_to_json, &record);
	assert_true(strlen(line) > 6 * (sizeof(text) + sizeof(path) + 2 * sizeof(value) - 4));
	assert_string_equal(line + strlen(line) - 4, "\"}}\n");
}

static void a_descriptor_that_cannot_be_written_is_an_error(void **state)
{
	struct actor_log_record record = record_of("lost");
	int full = open("/dev/full", O_WRONLY);
	struct actor_log_sink sink;

	actor_log_to_text(&sink, -1);
	assert_int_equal(sink.write(sink.data, &record), -EBADF);
	assert_true(full >= 0);
	actor_log_to_json(&sink, full);
	assert_int_equal(sink.write(sink.data, &record), -ENOSPC);
	close(full);
}

static void a_system_writes_lines_of_json(void **state)
{
	FILE *file = tmpfile();
	struct actor_log_sink sink;
	struct lab lab;
	ssize_t n;

	assert_non_null(file);
	lab_open(&lab, NULL);
	actor_log_to_json(&sink, fileno(file));
	assert_true(actor_system_log_add(lab.system, &sink) > 0);
	actor_system_log(lab.system, ACTOR_LOG_ERROR, "a \"%s\"", "quote");
	lab_close(&lab);
	n = pread(fileno(file), line, sizeof(line) - 1, 0);
	assert_true(n > 0);
	line[n] = '\0';
	assert_int_equal(strncmp(line, "{\"time\":\"2", 10), 0);
	assert_non_null(strstr(line, "\"level\":\"error\",\"system\":\"actor\",\"text\":\"a "
				     "\\\"quote\\\"\"}\n"));
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_has_time_level_system_path_text_and_context),
		cmocka_unit_test(no_text_breaks_out_of_its_line),
		cmocka_unit_test(a_longest_line_is_complete),
		cmocka_unit_test(a_descriptor_that_cannot_be_written_is_an_error),
		cmocka_unit_test(a_system_writes_lines_of_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
