/* SPDX-License-Identifier: MIT */
/* The HTTP answers, read from a plain socket. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "probe/server.h"

static bool page_fails;

static int page(void *context, const struct server_request *request, struct server_answer *answer,
	struct error *error)
{
	if (page_fails)
		return error_set(error, EXIT_TARGET, "the target is gone");
	answer->content_type = "text/special";
	if (request->accept)
		text_add(&answer->body, "for %s\n", request->accept);
	else
		text_add(&answer->body, "page %d\n", *(int *)context);
	return 0;
}

static int healthy(void *context, const struct server_request *request,
	struct server_answer *answer, struct error *error)
{
	text_add(&answer->body, "healthy\n");
	return 0;
}

static const struct server_route routes[] = {{"/metrics", page}, {"/-/healthy", healthy}};

static void open_on(struct server **s, struct number_address *address, const char *where)
{
	static int context = 42;
	struct error error = {0};

	assert_int_equal(number_parse_address(where, address), 0);
	assert_int_equal(server_open(s, address, &error), 0);
	assert_int_equal(number_parse_address(server_address(*s), address), 0);
	assert_int_equal(server_start(*s, routes, 2, &context, &error), 0);
}

static const char *ask(const struct number_address *address, const char *request)
{
	static char answer[8192];
	int fd = socket(address->socket.ss_family, SOCK_STREAM, 0);
	size_t used = 0;
	ssize_t count;

	assert_int_equal(connect(fd, (const struct sockaddr *)&address->socket, address->bytes), 0);
	assert_int_equal(send(fd, request, strlen(request), 0), (ssize_t)strlen(request));
	while ((count = recv(fd, answer + used, sizeof(answer) - 1 - used, 0)) > 0)
		used += (size_t)count;
	answer[used] = '\0';
	close(fd);
	return answer;
}

#define REST " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"

static void answers(void **state)
{
	static const struct {
		const char *request;
		const char *status;
		const char *says; /* NULL = no body at all */
	} rows[] = {
		{"GET /metrics" REST "\r\n", "HTTP/1.1 200 ", "\r\n\r\npage 42\n"},
		{"GET /metrics?x=1" REST "\r\n", "HTTP/1.1 200 ", "\r\n\r\npage 42\n"},
		{"HEAD /metrics" REST "\r\n", "HTTP/1.1 200 ", NULL},
		{"GET /" REST "\r\n", "HTTP/1.1 200 ", "/metrics"},
		{"GET /-/healthy" REST "\r\n", "HTTP/1.1 200 ", "healthy"},
		{"GET /other" REST "\r\n", "HTTP/1.1 404 ",
			"not found; there are /metrics, /-/healthy\n"},
		{"GET /metrics" REST "Accept: a/b;q=0.5, c/d\r\n\r\n", "HTTP/1.1 200 ",
			"\r\n\r\nfor a/b;q=0.5, c/d\n"},
		{"POST /metrics" REST "Content-Length: 3\r\n\r\nabc", "HTTP/1.1 405 ",
			"Allow: GET, HEAD"},
		{"DELETE /" REST "\r\n", "HTTP/1.1 405 ", "only GET"},
	};
	struct number_address address;
	struct server *s;

	open_on(&s, &address, "127.0.0.1:0");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *answer = ask(&address, rows[i].request);

		assert_int_equal(strncmp(answer, rows[i].status, strlen(rows[i].status)), 0);
		if (rows[i].says)
			assert_non_null(strstr(answer, rows[i].says));
		else
			assert_string_equal(strstr(answer, "\r\n\r\n"), "\r\n\r\n");
	}
	assert_non_null(strstr(ask(&address, rows[0].request), "Content-Type: text/special\r\n"));
	server_close(s);
}

static void a_failing_page_is_503_with_the_sentence(void **state)
{
	struct number_address address;
	struct server *s;
	const char *answer;

	open_on(&s, &address, "127.0.0.1:0");
	page_fails = true;
	answer = ask(&address, "GET /metrics" REST "\r\n");
	page_fails = false;
	assert_int_equal(strncmp(answer, "HTTP/1.1 503 ", 13), 0);
	assert_non_null(strstr(answer, "the target is gone"));
	server_close(s);
}

static void a_second_server_is_told_that_the_address_is_in_use(void **state)
{
	struct number_address address;
	struct error error = {0};
	struct server *s, *second;

	open_on(&s, &address, "127.0.0.1:0");
	assert_int_equal(server_open(&second, &address, &error), EXIT_USAGE);
	assert_null(second);
	assert_non_null(strstr(error.text, " is in use; "));
	server_close(s);
	assert_int_equal(server_open(&second, &address, &error), 0);
	server_close(second);
}

static void an_address_of_nobody_is_refused(void **state)
{
	struct number_address address;
	struct error error = {0};
	struct server *s;

	assert_int_equal(number_parse_address("192.0.2.1:0", &address), 0);
	assert_int_equal(server_open(&s, &address, &error), EXIT_USAGE);
	assert_non_null(strstr(error.text, "no interface"));
	server_close(NULL);
}

static void garbage_and_silence_do_no_harm(void **state)
{
	struct number_address address;
	struct server *s;
	int silent;

	open_on(&s, &address, "127.0.0.1:0");
	silent = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(
		connect(silent, (const struct sockaddr *)&address.socket, address.bytes), 0);
	ask(&address, "\x16\x03\x01 nonsense\r\n\r\n");
	assert_non_null(strstr(ask(&address, "GET /metrics" REST "\r\n"), "page 42"));
	server_close(s);
	close(silent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers),
		cmocka_unit_test(a_failing_page_is_503_with_the_sentence),
		cmocka_unit_test(a_second_server_is_told_that_the_address_is_in_use),
		cmocka_unit_test(an_address_of_nobody_is_refused),
		cmocka_unit_test(garbage_and_silence_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
