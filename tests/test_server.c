/* SPDX-License-Identifier: MIT */
/* The HTTP answers, read from a plain socket. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <pthread.h>
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

#define BIG (16u << 20)

static int big(void *context, const struct server_request *request, struct server_answer *answer,
	struct error *error)
{
	static char page_of_x[65536];

	memset(page_of_x, 'x', sizeof(page_of_x));
	for (size_t i = 0; i < BIG / sizeof(page_of_x); i++)
		text_add_bytes(&answer->body, page_of_x, sizeof(page_of_x));
	return 0;
}

static const struct server_route routes[] = {
	{"/metrics", page}, {"/-/healthy", healthy}, {"/big", big}};

static void open_within(
	struct server **s, struct number_address *address, const char *where, unsigned int deadline_ms)
{
	static int context = 42;
	struct error error = {0};

	assert_int_equal(number_parse_address(where, address), 0);
	assert_int_equal(server_open(s, address, &error), 0);
	assert_int_equal(number_parse_address(server_address(*s), address), 0);
	server_set_deadline(*s, deadline_ms);
	assert_int_equal(server_start(*s, routes, 3, &context, &error), 0);
}

static void open_on(struct server **s, struct number_address *address, const char *where)
{
	open_within(s, address, where, SERVER_DEADLINE_MS);
}

static int call(const struct number_address *address)
{
	int fd = socket(address->socket.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int small = 4096;

	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	assert_int_equal(connect(fd, (const struct sockaddr *)&address->socket, address->bytes), 0);
	return fd;
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
			"not found; there are /metrics, /-/healthy, /big\n"},
		{"GET /metrics" REST "Accept: a/b;q=0.5, c/d\r\n\r\n", "HTTP/1.1 200 ",
			"\r\n\r\nfor a/b;q=0.5, c/d\n"},
		{"POST /metrics" REST "Content-Length: 3\r\n\r\nabc", "HTTP/1.1 405 ",
			"Allow: GET, HEAD"},
		{"GET /metrics" REST "Content-Length: 3\r\n\r\nabc", "HTTP/1.1 413 ", "send none"},
		{"GET /metrics" REST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
			"HTTP/1.1 413 ", "send none"},
		{"GET /metrics" REST "Content-Length: 0\r\n\r\n", "HTTP/1.1 200 ", "page 42"},
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

/* ---- those who would hold the server ---- */

/* Reads to the end, at most for a second longer than the deadline; returns the bytes. */
static size_t drain(int fd)
{
	static char room[65536];
	size_t used = 0;
	ssize_t count;

	while ((count = recv(fd, room, sizeof(room), 0)) > 0)
		used += (size_t)count;
	close(fd);
	return used;
}

static void assert_answers(const struct number_address *address)
{
	assert_non_null(strstr(ask(address, "GET /metrics" REST "\r\n"), "page 42"));
}

static void a_slow_reader_is_cut_and_others_are_served(void **state)
{
	const char *request = "GET /big" REST "\r\n";
	struct number_address address;
	struct server *s;
	int slow;

	open_within(&s, &address, "127.0.0.1:0", 1500);
	slow = call(&address);
	send(slow, request, strlen(request), 0);
	assert_answers(&address);
	usleep(4000000);
	assert_answers(&address);
	assert_true(drain(slow) < BIG);
	server_close(s);
}

static void pages_of_slow_readers_are_bounded(void **state)
{
	const char *request = "GET /big" REST "\r\n";
	struct number_address address;
	struct server *s;
	int slow[SERVER_PAGES_BYTES / BIG];

	open_on(&s, &address, "127.0.0.1:0");
	for (size_t i = 0; i < SERVER_PAGES_BYTES / BIG; i++) {
		char first;

		slow[i] = call(&address);
		send(slow[i], request, strlen(request), 0);
		assert_int_equal(recv(slow[i], &first, 1, 0), 1);
	}
	assert_non_null(strstr(ask(&address, request), "HTTP/1.1 503 "));
	assert_non_null(strstr(ask(&address, "GET /-/healthy" REST "\r\n"), "healthy\n"));
	for (size_t i = 0; i < SERVER_PAGES_BYTES / BIG; i++)
		assert_true(drain(slow[i]) > BIG);
	assert_answers(&address);
	server_close(s);
}

static void a_body_of_a_gigabyte_is_refused_unread(void **state)
{
	static const char *const heads[] = {
		"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 1073741824\r\n\r\n",
		"GET /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 1073741824\r\n\r\n",
		"PUT /metrics HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"};
	static char body[65536];
	struct number_address address;
	struct server *s;

	open_on(&s, &address, "127.0.0.1:0");
	memset(body, 'x', sizeof(body));
	for (size_t i = 0; i < 3; i++) {
		size_t sent = 0;
		ssize_t count;
		int fd = call(&address);

		send(fd, heads[i], strlen(heads[i]), MSG_NOSIGNAL);
		while (sent < 1u << 30 &&
			(count = send(fd, body, sizeof(body), MSG_NOSIGNAL)) > 0)
			sent += (size_t)count;
		assert_true(sent < 256u << 20);
		close(fd);
		assert_answers(&address);
	}
	server_close(s);
}

static void a_header_without_end_is_refused(void **state)
{
	static char header[200000];
	struct number_address address;
	struct server *s;
	int fd;

	open_on(&s, &address, "127.0.0.1:0");
	memset(header, 'x', sizeof(header));
	memcpy(header, "GET /metrics HTTP/1.1\r\nX: ", 26);
	fd = call(&address);
	send(fd, header, sizeof(header), MSG_NOSIGNAL);
	drain(fd);
	assert_answers(&address);
	server_close(s);
}

static void half_open_connections_are_cut(void **state)
{
	struct number_address address;
	struct server *s;
	int silent[100], drip;

	open_within(&s, &address, "127.0.0.1:0", 400);
	for (int i = 0; i < 100; i++)
		silent[i] = call(&address);
	assert_answers(&address);
	/* A byte now and then does not help. */
	drip = call(&address);
	for (int i = 0; i < 100 && send(drip, "G", 1, MSG_NOSIGNAL) == 1; i++)
		usleep(50000);
	assert_int_not_equal(send(drip, "G", 1, MSG_NOSIGNAL), 1);
	close(drip);
	for (int i = 0; i < 100; i++)
		assert_int_equal(drain(silent[i]), 0);
	assert_answers(&address);
	server_close(s);
}

static void *ask_often(void *argument)
{
	static const char request[] = "GET /metrics" REST "\r\n";
	const struct number_address *address = argument;
	size_t good = 0;

	for (int i = 0; i < 20; i++) {
		char answer[1024] = "";
		size_t used = 0;
		ssize_t count;
		int fd = call(address);

		send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL);
		while ((count = recv(fd, answer + used, sizeof(answer) - 1 - used, 0)) > 0)
			used += (size_t)count;
		close(fd);
		good += strstr(answer, "page 42") != NULL;
	}
	return (void *)good;
}

static void fifty_at_once_are_all_answered(void **state)
{
	struct number_address address;
	pthread_t threads[50];
	struct server *s;
	size_t good = 0;

	open_on(&s, &address, "127.0.0.1:0");
	for (int i = 0; i < 50; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask_often, &address), 0);
	for (int i = 0; i < 50; i++) {
		void *one;

		pthread_join(threads[i], &one);
		good += (size_t)one;
	}
	assert_int_equal(good, 1000);
	server_close(s);
}

static int bind_only(const struct number_address *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	assert_int_equal(bind(fd, (const struct sockaddr *)&address->socket, address->bytes), 0);
	return fd;
}

static void a_socket_of_the_file_system_comes_and_goes(void **state)
{
	struct number_address address;
	struct server *s, *second;
	struct error error = {0};
	char where[64];
	FILE *file;

	snprintf(where, sizeof(where), "unix:/tmp/test_server.%d", getpid());
	open_on(&s, &address, where);
	assert_string_equal(server_address(s), where);
	assert_answers(&address);
	assert_int_equal(server_open(&second, &address, &error), EXIT_USAGE);
	assert_non_null(strstr(error.text, "is in use"));
	assert_answers(&address);
	server_close(s);
	assert_int_equal(access(where + 5, F_OK), -1);
	/* What a killed server left is replaced, what is no socket is not. */
	s = NULL;
	close(bind_only(&address));
	open_on(&s, &address, where);
	assert_answers(&address);
	server_close(s);
	file = fopen(where + 5, "w");
	fclose(file);
	error = (struct error){0};
	assert_int_equal(server_open(&second, &address, &error), EXIT_USAGE);
	assert_int_equal(access(where + 5, F_OK), 0);
	unlink(where + 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers),
		cmocka_unit_test(a_failing_page_is_503_with_the_sentence),
		cmocka_unit_test(a_second_server_is_told_that_the_address_is_in_use),
		cmocka_unit_test(an_address_of_nobody_is_refused),
		cmocka_unit_test(garbage_and_silence_do_no_harm),
		cmocka_unit_test(a_slow_reader_is_cut_and_others_are_served),
		cmocka_unit_test(pages_of_slow_readers_are_bounded),
		cmocka_unit_test(a_body_of_a_gigabyte_is_refused_unread),
		cmocka_unit_test(a_header_without_end_is_refused),
		cmocka_unit_test(half_open_connections_are_cut),
		cmocka_unit_test(fifty_at_once_are_all_answered),
		cmocka_unit_test(a_socket_of_the_file_system_comes_and_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
