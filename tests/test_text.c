/* SPDX-License-Identifier: MIT */
/* The spelling of numbers, columns of UTF-8, and failures to write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/error.h"
#include "probe/text.h"

static void times_have_three_digits_and_a_unit(void **state)
{
	static const struct {
		double ns;
		const char *spelled;
	} rows[] = {
		{0, "0 ns"},
		{7, "7 ns"},
		{999, "999 ns"},
		{999.6, "1 us"},
		{1000, "1 us"},
		{1234, "1.23 us"},
		{45678, "45.7 us"},
		{999499, "999 us"},
		{999501, "1 ms"},
		{20e6, "20 ms"},
		{1e9, "1 s"},
		{75.5e9, "75.5 s"},
		{123456e9, "123456 s"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct text t = {0};

		text_add_ns(&t, rows[i].ns);
		assert_string_equal(t.bytes, rows[i].spelled);
		text_fini(&t);
	}
}

static void numbers_are_exact_until_ten_thousand(void **state)
{
	static const struct {
		double value;
		const char *spelled;
	} rows[] = {{0, "0"}, {9999, "9999"}, {10000, "10 k"}, {999499, "999 k"}, {999600, "1 M"},
		{1234567, "1.23 M"}, {5e9, "5 G"}, {5e16, "5e+04 T"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct text t = {0};

		text_add_number(&t, rows[i].value);
		assert_string_equal(t.bytes, rows[i].spelled);
		text_fini(&t);
	}
}

static void seconds_are_the_shortest_decimal(void **state)
{
	static const struct {
		uint64_t ns;
		const char *spelled;
	} rows[] = {{0, "0"}, {1, "1e-09"}, {1000, "1e-06"}, {2000, "2e-06"}, {50000, "5e-05"},
		{100000, "0.0001"}, {200000000, "0.2"}, {1000000000, "1"}, {10000000000ull, "10"},
		{999999999999999ull, "999999.999999999"},
		{1000000000000001ull, "1000000.000000001"}, {UINT64_MAX, "18446744073.709551615"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct text t = {0};

		text_add_seconds(&t, rows[i].ns);
		assert_string_equal(t.bytes, rows[i].spelled);
		text_fini(&t);
	}
}

static void counts_are_whole_decimals(void **state)
{
	struct text t = {0};

	text_add_count(&t, 0);
	text_add_char(&t, ' ', 1);
	text_add_count(&t, UINT64_MAX);
	assert_string_equal(t.bytes, "0 18446744073709551615");
	text_fini(&t);
}

static void columns_count_characters_and_cut_between_them(void **state)
{
	struct text t = {0};

	text_add_left(&t, "caf\xc3\xa9", 6);
	text_add_char(&t, '|', 1);
	text_add_left(&t, "caf\xc3\xa9s", 4);
	text_add_char(&t, '|', 1);
	text_add_right(&t, "\xc3\xa9", 3);
	text_add_char(&t, '|', 1);
	text_add_left(&t, "abc", 0);
	assert_string_equal(t.bytes, "caf\xc3\xa9  |caf~|  \xc3\xa9|");
	text_fini(&t);
}

static void text_grows_beyond_any_single_addition(void **state)
{
	struct text t = {0};
	char *big = malloc(100001);

	memset(big, 'x', 100000);
	big[100000] = '\0';
	for (unsigned int i = 0; i < 5; i++)
		text_add(&t, "%s.", big);
	assert_int_equal(t.used, 5 * 100001);
	assert_int_equal(strlen(t.bytes), t.used);
	assert_false(t.failed);
	text_clear(&t);
	assert_string_equal(t.bytes, "");
	text_fini(&t);
	free(big);
}

static void writing_names_the_cause(void **state)
{
	struct text t = {0};
	struct error error = {0};
	int ends[2];
	int full = open("/dev/full", O_WRONLY);

	signal(SIGPIPE, SIG_IGN);
	text_add(&t, "hello\n");
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(text_write(&t, ends[1], &error), 0);
	close(ends[0]);
	assert_int_equal(text_write(&t, ends[1], &error), EXIT_USAGE);
	assert_non_null(strstr(error.text, "closed by its reader"));
	close(ends[1]);
	error = (struct error){0};
	assert_int_equal(text_write(&t, full, &error), EXIT_USAGE);
	assert_non_null(strstr(error.text, "No space left"));
	close(full);
	error = (struct error){0};
	t.failed = true;
	assert_int_equal(text_write(&t, STDERR_FILENO, &error), EXIT_USAGE);
	text_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_have_three_digits_and_a_unit),
		cmocka_unit_test(numbers_are_exact_until_ten_thousand),
		cmocka_unit_test(seconds_are_the_shortest_decimal),
		cmocka_unit_test(counts_are_whole_decimals),
		cmocka_unit_test(columns_count_characters_and_cut_between_them),
		cmocka_unit_test(text_grows_beyond_any_single_addition),
		cmocka_unit_test(writing_names_the_cause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
