/* SPDX-License-Identifier: MIT */
/* What operators type: whole numbers, seconds, listen addresses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "probe/number.h"

static void whole_numbers(void **state)
{
	static const struct {
		const char *text;
		int code;
		uint64_t value;
	} rows[] = {
		{"1", 0, 1},
		{"100", 0, 100},
		{"007", 0, 7},
		{"0", -ERANGE, 0},
		{"101", -ERANGE, 0},
		{"18446744073709551616", -ERANGE, 0},
		{"99999999999999999999999999999999", -ERANGE, 0},
		{"", -EINVAL, 0},
		{"-1", -EINVAL, 0},
		{"+1", -EINVAL, 0},
		{" 1", -EINVAL, 0},
		{"1 ", -EINVAL, 0},
		{"0x10", -EINVAL, 0},
		{"1.0", -EINVAL, 0},
		{"ten", -EINVAL, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t value = 0;

		assert_int_equal(number_parse_whole(rows[i].text, 1, 100, &value), rows[i].code);
		assert_int_equal(value, rows[i].value);
	}
}

static void seconds(void **state)
{
	static const struct {
		const char *text;
		int code;
		uint64_t ns;
	} rows[] = {
		{"1", 0, 1000000000},
		{"0.25", 0, 250000000},
		{"0.01", 0, 10000000},
		{"10.123456789", 0, 10123456789ull},
		{"31622400", 0, 31622400000000000ull},
		{"0", -ERANGE, 0},
		{"0.009999999", -ERANGE, 0},
		{"31622400.1", -ERANGE, 0},
		{"99999999999999999999999", -ERANGE, 0},
		{"1.1234567891", -EINVAL, 0},
		{"", -EINVAL, 0},
		{".5", -EINVAL, 0},
		{"1.", -EINVAL, 0},
		{"1s", -EINVAL, 0},
		{"1e3", -EINVAL, 0},
		{"-1", -EINVAL, 0},
		{"nan", -EINVAL, 0},
		{"inf", -EINVAL, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t ns = 0;

		assert_int_equal(number_parse_seconds(rows[i].text, &ns), rows[i].code);
		assert_int_equal(ns, rows[i].ns);
	}
}

static void spell(const struct number_address *address, char *text, size_t size)
{
	char host[INET6_ADDRSTRLEN];
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)&address->socket;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&address->socket;

	if (address->socket.ss_family == AF_INET)
		snprintf(text, size, "%s %u", inet_ntop(AF_INET, &v4->sin_addr, host, sizeof(host)),
			ntohs(v4->sin_port));
	else
		snprintf(text, size, "%s %u",
			inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof(host)),
			ntohs(v6->sin6_port));
}

static void addresses(void **state)
{
	static const struct {
		const char *text;
		const char *parsed; /* NULL = refused */
	} rows[] = {
		{"127.0.0.1", "127.0.0.1 9464"},
		{"127.0.0.1:0", "127.0.0.1 0"},
		{"0.0.0.0:65535", "0.0.0.0 65535"},
		{":9000", "127.0.0.1 9000"},
		{"localhost", "127.0.0.1 9464"},
		{"localhost:80", "127.0.0.1 80"},
		{"[::1]:9464", "::1 9464"},
		{"[::]", ":: 9464"},
		{"::1", "::1 9464"},
		{"fe80::1:2", "fe80::1:2 9464"},
		{"", NULL},
		{":", NULL},
		{"127.0.0.1:", NULL},
		{"127.0.0.1:65536", NULL},
		{"127.0.0.1:-1", NULL},
		{"127.0.0.1:http", NULL},
		{"127.0.0.256", NULL},
		{"127.1", NULL},
		{"[127.0.0.1]:80", NULL},
		{"[::1", NULL},
		{"unix:", NULL},
		{"[::1]x", NULL},
		{"[::1]:", NULL},
		{"[]", NULL},
		{"]", NULL},
		{"[", NULL},
		{"host.example:80", NULL},
		{"9464", NULL},
		{"0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000", NULL},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct number_address address;
		char text[64] = "";
		int code = number_parse_address(rows[i].text, &address);

		assert_int_equal(code, rows[i].parsed ? 0 : -EINVAL);
		if (!rows[i].parsed)
			continue;
		spell(&address, text, sizeof(text));
		assert_string_equal(text, rows[i].parsed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_numbers),
		cmocka_unit_test(seconds),
		cmocka_unit_test(addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
