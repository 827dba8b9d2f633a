/* SPDX-License-Identifier: MIT */
/* The example shop from outside: its answers, its patience with bad clients, its end. */
#define _GNU_SOURCE

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define OPTIONS_MOST 12
#define ANSWER_BYTES 8192

struct shop {
	pid_t pid;
	int out; /* what it prints, errors too */
	int port;
};

/* ---- the process ---- */

static const char *shop_path(void)
{
	static char path[512];
	const char *build = getenv("B");

	snprintf(path, sizeof(path), "%s/examples/shop", build ? build : "build");
	return path;
}

static void spawn(struct shop *shop, const char *const *options)
{
	char *words[OPTIONS_MOST + 2] = {(char *)shop_path()};
	int ends[2];

	for (size_t i = 0; options[i]; i++)
		words[i + 1] = (char *)options[i];
	assert_int_equal(pipe(ends), 0);
	shop->pid = fork();
	assert_true(shop->pid >= 0);
	if (shop->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failed test leaves nothing behind */
		dup2(ends[1], STDOUT_FILENO);
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		close(ends[1]);
		execv(words[0], words);
		_exit(127);
	}
	close(ends[1]);
	shop->out = ends[0];
}

/* Reads until `end` appears (NULL: until the last byte), at most 10 s. */
static size_t gather(int fd, char *text, size_t room, const char *end)
{
	size_t bytes = 0;
	struct pollfd wait = {.fd = fd, .events = POLLIN};

	text[0] = '\0';
	while (bytes + 1 < room && poll(&wait, 1, 10000) == 1) {
		ssize_t more = read(fd, text + bytes, room - 1 - bytes);

		if (more <= 0)
			break;
		bytes += (size_t)more;
		text[bytes] = '\0';
		if (end && memmem(text, bytes, end, strlen(end)))
			break;
	}
	return bytes;
}

static void start(struct shop *shop, const char *const *options)
{
	char text[512];
	const char *address;

	spawn(shop, options);
	gather(shop->out, text, sizeof(text), "process");
	address = strstr(text, "http://127.0.0.1:");
	if (!address)
		fail_msg("the shop says: %s", text);
	shop->port = atoi(address + strlen("http://127.0.0.1:"));
}

/* The exit code, or -1 after a signal; what it printed since is in `text`. */
static int end_of(struct shop *shop, char *text, size_t room)
{
	int status;

	gather(shop->out, text, room, NULL);
	close(shop->out);
	assert_int_equal(waitpid(shop->pid, &status, 0), shop->pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void stop(struct shop *shop)
{
	char text[4096];
	int code;

	kill(shop->pid, SIGTERM);
	code = end_of(shop, text, sizeof(text));
	if (code)
		fail_msg("the shop ended with %d: %s", code, text);
}

/* ---- a client ---- */

static int dial(const struct shop *shop)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)shop->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static void put(int fd, const void *bytes, size_t count)
{
	const char *at = bytes;

	while (count) {
		ssize_t done = send(fd, at, count, MSG_NOSIGNAL);

		if (done <= 0)
			return; /* it has had enough; its answer tells */
		at += done;
		count -= (size_t)done;
	}
}

/* Sends one request and reads until the shop closes; the status, 0 without an answer. */
static int request(const struct shop *shop, const char *bytes, size_t count, char *answer)
{
	int fd = dial(shop);
	int status = 0;

	put(fd, bytes, count);
	shutdown(fd, SHUT_WR);
	gather(fd, answer, ANSWER_BYTES, NULL);
	close(fd);
	sscanf(answer, "HTTP/1.1 %d ", &status);
	return status;
}

static void assert_serves(const struct shop *shop)
{
	static const char get[] = "GET /product/3 HTTP/1.1\r\nConnection: close\r\n\r\n";
	char answer[ANSWER_BYTES];

	assert_int_equal(request(shop, get, strlen(get), answer), 200);
	assert_non_null(strstr(answer, "{\"product\":3,\"cents\":"));
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void pause_ms(long ms)
{
	struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	nanosleep(&time, NULL);
}

/* ---- answers ---- */

#define LAST "Connection: close\r\n\r\n"

static const struct {
	const char *request;
	int status;
	const char *holds;
} rows[] = {
	{"GET /product/7 HTTP/1.1\r\n" LAST, 200, "{\"product\":7,\"cents\":6032,\"pieces\":7}"},
	{"GET /product/999 HTTP/1.0\r\n\r\n", 200, "\"product\":999"},
	{"HEAD /product/7 HTTP/1.1\r\n" LAST, 405, "Content-Length: "},
	{"GET /product/1000 HTTP/1.1\r\n" LAST, 404, "no such product"},
	{"GET /product/ HTTP/1.1\r\n" LAST, 404, "no such product"},
	{"GET /product/-1 HTTP/1.1\r\n" LAST, 404, "no such product"},
	{"GET /product/4294967299 HTTP/1.1\r\n" LAST, 404, "no such product"},
	{"GET /product/7?a=b HTTP/1.1\r\n" LAST, 404, "no such product"},
	{"GET / HTTP/1.1\r\n" LAST, 404, "there are"},
	{"GET /health HTTP/1.1\r\n" LAST, 200, "{\"status\":\"UP\",\"checks\":[{\"name\":\"actor-system\""},
	{"GET /ready HTTP/1.1\r\n" LAST, 200, "{\"status\":\"UP\",\"checks\":["},
	{"POST /ready HTTP/1.1\r\nContent-Length: 0\r\n" LAST, 404, "/health and /ready"},
	{"GET /import HTTP/1.1\r\n" LAST, 405, "Allow: GET, POST"},
	{"DELETE /product/1 HTTP/1.1\r\n" LAST, 405, "Allow: GET, POST"},
	{"POST /import HTTP/1.1\r\nContent-Length: 0\r\n" LAST, 202, "{\"rows\":11}"},
	{"POST /import HTTP/1.1\r\nContent-Length: 3\r\nConnection: close\r\n\r\n101", 202,
		"{\"rows\":101}"},
	{"POST /import HTTP/1.1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
	 "1\r\n1\r\n1\r\n3\r\n0\r\n\r\n",
		202, "{\"rows\":13}"},
	{"POST /import HTTP/1.1\r\nContent-Length: 1\r\n" LAST "0", 400, "number of rows"},
	{"POST /import HTTP/1.1\r\nContent-Length: 6\r\n" LAST "100001", 400, "number of rows"},
	{"POST /import HTTP/1.1\r\nContent-Length: 2\r\n" LAST "1x", 400, "number of rows"},
	/* An offer to speak something else is not taken. */
	{"GET /product/7 HTTP/1.1\r\nUpgrade: h2c\r\nConnection: upgrade, close\r\n\r\n", 200,
		"\"product\":7"},
	{"CONNECT 127.0.0.1:80 HTTP/1.1\r\n" LAST, 404, "there are"},
	/* What is no request. */
	{"\x16\x03\x01\x02\x01\x01\xfc\x03\x03", 400, "Bad Request"},
	{"GET /product/7 HTTP/9.9\r\n" LAST, 505, "HTTP Version Not Supported"},
	{"GET /product/7 HTTP/x\r\n" LAST, 400, "Bad Request"},
	{"GET /product/7\r\n\r\n", 505, "HTTP Version Not Supported"},
	{"GET /pro duct/7 HTTP/1.1\r\n" LAST, 400, "Bad Request"},
	{"GET /product/7 HTTP/1.1\r\nBad\001Header: 1\r\n" LAST, 400, "Bad Request"},
	{"POST /import HTTP/1.1\r\nContent-Length: -1\r\n" LAST, 400, "Bad Request"},
	{"POST /import HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n" LAST, 400,
		"Bad Request"},
	{"POST /import HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n" LAST, 400,
		"Bad Request"},
	{"POST /import HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400, "Bad Request"},
};

static const char *const usual[] = {"--idle-ms", "400", "--connections", "20", "--import-rows",
	"11", "--price-us", "10", "--import-us", "1", NULL};

static void each_request_gets_its_answer(void **state)
{
	struct shop shop;
	char answer[ANSWER_BYTES];

	start(&shop, usual);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int status = request(&shop, rows[i].request, strlen(rows[i].request), answer);

		if (status != rows[i].status || !strstr(answer, rows[i].holds))
			fail_msg("%s\nwants %d and %s, got:\n%s", rows[i].request, rows[i].status,
				rows[i].holds, answer);
	}
	assert_serves(&shop);
	stop(&shop);
}

/* A long header, path or body is refused before it is complete, and takes no memory. */
static void what_is_too_long_is_refused(void **state)
{
	static const struct {
		const char *head;
		char fill;
		size_t fill_bytes;
		int status;
	} longs[] = {
		{"GET /product/1 HTTP/1.1\r\nX: ", 'x', 100000, 431},
		{"GET /product/", '1', 300, 414},
		{"POST /import HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n", '1', 65, 413},
		{"POST /import HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfffff\r\n", '1', 3000,
			413},
		{"POST /import HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;", 'e', 100000, 431},
		{"", 'A', 100000, 400},
		{"GET http://", 'h', 4000, 414},
	};
	struct shop shop;
	char answer[ANSWER_BYTES];

	start(&shop, usual);
	for (size_t i = 0; i < sizeof(longs) / sizeof(longs[0]); i++) {
		size_t head = strlen(longs[i].head);
		char *bytes = malloc(head + longs[i].fill_bytes);
		int status;

		memcpy(bytes, longs[i].head, head);
		memset(bytes + head, longs[i].fill, longs[i].fill_bytes);
		status = request(&shop, bytes, head + longs[i].fill_bytes, answer);
		free(bytes);
		if (status != longs[i].status)
			fail_msg(
				"%s... wants %d, got:\n%s", longs[i].head, longs[i].status, answer);
	}
	assert_serves(&shop);
	stop(&shop);
}

static void a_connection_serves_many_requests(void **state)
{
	static const char two[] = "GET /product/1 HTTP/1.1\r\n\r\nGET /product/2 HTTP/1.1\r\n\r\n";
	struct shop shop;
	char answer[ANSWER_BYTES];
	int fd;

	start(&shop, usual);
	fd = dial(&shop);
	for (int i = 0; i < 5; i++) {
		char *second;

		/* Both at once: they are answered in order. */
		put(fd, two, strlen(two));
		gather(fd, answer, sizeof(answer), "{\"product\":2,");
		second = strstr(answer, "{\"product\":2,");
		assert_non_null(second);
		assert_non_null(strstr(answer, "{\"product\":1,"));
		assert_true(strstr(answer, "{\"product\":1,") < second);
		if (!strchr(second, '\n'))
			gather(fd, answer, sizeof(answer), "\n");
	}
	close(fd);
	stop(&shop);
}

/* ---- patience ---- */

static void half_a_request_times_out(void **state)
{
	static const char half[] = "GET /product/1 HTTP/1.1\r\nHost: x";
	struct shop shop;
	char answer[ANSWER_BYTES];
	int fd;

	start(&shop, usual);
	fd = dial(&shop);
	put(fd, half, strlen(half));
	gather(fd, answer, sizeof(answer), NULL);
	assert_non_null(strstr(answer, "HTTP/1.1 408 "));
	close(fd);
	fd = dial(&shop);
	assert_int_equal(gather(fd, answer, sizeof(answer), NULL), 0); /* silent: closed */
	close(fd);
	stop(&shop);
}

/* The deadline counts from the first byte, so that a byte now and then does not move it. */
static void a_slow_client_times_out(void **state)
{
	struct shop shop;
	char answer[ANSWER_BYTES];
	uint64_t begin_ms;
	int fd;

	start(&shop, usual);
	fd = dial(&shop);
	put(fd, "GET /", 5);
	begin_ms = now_ms();
	while (now_ms() < begin_ms + 30000) {
		struct pollfd wait = {.fd = fd, .events = POLLIN};

		if (poll(&wait, 1, 40) == 1)
			break;
		put(fd, "p", 1);
	}
	assert_true(now_ms() < begin_ms + 30000);
	gather(fd, answer, sizeof(answer), NULL);
	assert_non_null(strstr(answer, "HTTP/1.1 408 "));
	close(fd);
	assert_serves(&shop);
	stop(&shop);
}

static void one_connection_too_many_is_told_so(void **state)
{
	static const char *const few[] = {"--connections", "3", "--idle-ms", "60000", NULL};
	struct shop shop;
	char answer[ANSWER_BYTES];
	int fds[3];

	start(&shop, few);
	for (int i = 0; i < 3; i++) {
		fds[i] = dial(&shop);
		put(fds[i], "GET /product/5 HTTP/1.1\r\n\r\n", 27);
		gather(fds[i], answer, sizeof(answer), "}");
		assert_non_null(strstr(answer, "200 OK"));
	}
	for (int i = 0; i < 20; i++) {
		int fd = dial(&shop);

		gather(fd, answer, sizeof(answer), NULL);
		assert_non_null(strstr(answer, "HTTP/1.1 503 "));
		close(fd);
	}
	close(fds[0]);
	pause_ms(200);
	assert_serves(&shop);
	close(fds[1]);
	close(fds[2]);
	stop(&shop);
}

static void clients_that_leave_do_no_harm(void **state)
{
	static const char get[] = "GET /product/1 HTTP/1.1\r\n\r\n";
	struct linger reset = {.l_onoff = 1};
	struct shop shop;

	start(&shop, usual);
	for (size_t i = 0; i < 300; i++) {
		int fd = dial(&shop);

		put(fd, get, i % (sizeof(get) + 1) < sizeof(get) ? i % sizeof(get) : 0);
		if (i % 2)
			setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		close(fd);
	}
	pause_ms(600);
	assert_serves(&shop);
	stop(&shop);
}

/* Good requests with some bytes changed: any answer will do, and the shop lives on. */
static void damaged_requests_do_no_harm(void **state)
{
	struct shop shop;
	unsigned int seed = (unsigned int)getpid();
	char answer[ANSWER_BYTES];
	char bytes[512];

	print_message("# seed %u\n", seed);
	start(&shop, usual);
	for (int i = 0; i < 300; i++) {
		const char *good =
			rows[(size_t)rand_r(&seed) % (sizeof(rows) / sizeof(rows[0]))].request;
		size_t count = strlen(good);

		memcpy(bytes, good, count);
		for (int j = rand_r(&seed) % 4; j >= 0; j--)
			bytes[(size_t)rand_r(&seed) % count] = (char)rand_r(&seed);
		request(&shop, bytes, count, answer);
	}
	assert_serves(&shop);
	stop(&shop);
}

/* ---- the end ---- */

static void a_signal_ends_it_in_the_midst_of_work(void **state)
{
	static const char *const busy[] = {"--price-us", "20000", "--load", "300", "--loops", "2",
		"--pricing-loop", "--import-every", "50", "--import-us", "5", NULL};
	struct shop shop;

	for (int i = 0; i < 3; i++) {
		int fd;

		start(&shop, busy);
		fd = dial(&shop);
		put(fd, "GET /product/5 HTTP/1.1\r\n\r\n", 27);
		pause_ms(150 * i);
		stop(&shop);
		close(fd);
	}
}

static void its_own_load_is_answered(void **state)
{
	static const char *const loads[][OPTIONS_MOST] = {
		{"--load", "200", "--duration", "2", "--dispatcher", "microtask"},
		{"--load", "200", "--duration", "2", "--dispatcher", "immediate", "--throughput",
			"1"},
		{"--load", "200", "--duration", "2", "--dispatcher", "throughput", "--budget", "2"},
		{"--load", "200", "--duration", "2", "--pricing-dispatcher", "throughput",
			"--pricing-throughput", "1", "--pricing-loop"},
	};

	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		struct shop shop;
		char text[4096];
		const char *count;

		start(&shop, loads[i]);
		assert_int_equal(end_of(&shop, text, sizeof(text)), 0);
		count = strstr(text, "own requests ");
		assert_non_null(count);
		assert_true(atoi(count + strlen("own requests ")) > 0);
	}
}

static void bad_options_get_one_sentence(void **state)
{
	static const char *const bad[][3] = {
		{"--port", "65536"},
		{"--port", "-1"},
		{"--port", ""},
		{"--port"},
		{"--budget", "0"},
		{"--throughput", "1000001"},
		{"--load", "99999999999999999999"},
		{"--load", "1x"},
		{"--dispatcher", "fastest"},
		{"--pricing-dispatcher", ""},
		{"--dispatcher=immediate", "--budget=3"},
		{"--quiet=yes"},
		{"--unknown"},
		{"-x"},
		{"word"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct shop shop;
		char text[4096];

		spawn(&shop, bad[i]);
		assert_int_equal(end_of(&shop, text, sizeof(text)), 1);
		if (strncmp(text, "shop: ", 6) != 0 ||
			strchr(text, '\n') != text + strlen(text) - 1)
			fail_msg("%s: not one sentence: %s", bad[i][0], text);
	}
}

static void a_taken_port_gets_one_sentence(void **state)
{
	struct shop first;
	struct shop second;
	char port[16];
	const char *const options[] = {"--port", port, NULL};
	char text[4096];

	start(&first, usual);
	snprintf(port, sizeof(port), "%d", first.port);
	spawn(&second, options);
	assert_int_equal(end_of(&second, text, sizeof(text)), 1);
	assert_non_null(strstr(text, "address already in use"));
	stop(&first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_request_gets_its_answer),
		cmocka_unit_test(what_is_too_long_is_refused),
		cmocka_unit_test(a_connection_serves_many_requests),
		cmocka_unit_test(half_a_request_times_out),
		cmocka_unit_test(a_slow_client_times_out),
		cmocka_unit_test(one_connection_too_many_is_told_so),
		cmocka_unit_test(clients_that_leave_do_no_harm),
		cmocka_unit_test(damaged_requests_do_no_harm),
		cmocka_unit_test(a_signal_ends_it_in_the_midst_of_work),
		cmocka_unit_test(its_own_load_is_answered),
		cmocka_unit_test(bad_options_get_one_sentence),
		cmocka_unit_test(a_taken_port_gets_one_sentence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
