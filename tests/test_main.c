/* SPDX-License-Identifier: MIT */
/* The program itself: whatever an operator gets wrong is one line on stderr and an exit code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/program.h"

static struct program r;

static void check_one_line(const char *line, const char *says)
{
	size_t bytes = strlen(r.err);

	if (!bytes || strchr(r.err, '\n') != r.err + bytes - 1)
		fail_msg("'%s' writes '%s' to stderr", line, r.err);
	if (strncmp(r.err, "actorprobe: ", 12) != 0 || !strstr(r.err, says))
		fail_msg("'%s' says '%s' and not '%s'", line, r.err, says);
}

static void mistakes_are_one_line_and_an_exit_code(void **state)
{
	static const struct {
		const char *line;
		int exit;
		const char *says;
	} rows[] = {
		{"$A", 1, "give -p PID"},
		{"$A --nonsense", 1, "unknown or ambiguous option '--nonsense'"},
		{"$A nonsense", 1, "unknown command 'nonsense'"},
		{"$A hist -p 0", 1, "bad process id"},
		{"$A hist -p $$ 0", 1, "bad interval"},
		{"$A hist -p $$ 1 x", 1, "bad count"},
		{"$A hist -p $$ -d x", 1, "bad duration"},
		{"$A hist -p $$ --by x", 1, "cannot group by"},
		{"$A hist -p $$ --mode both", 1, "unknown mode"},
		{"$A export -p $$ --listen x", 1, "bad address"},
		{"$A export -p $$ --listen 192.0.2.1", 1, "no interface"},
		{"$A --help >/dev/full", 1, "cannot be written"},
		{"$A --version >&-", 1, "standard output is closed"},
		{"$A doctor -j >/dev/full", 1, "No space left"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		program_run(&r, "%s", rows[i].line);
		if (r.exit != rows[i].exit)
			fail_msg("'%s' exits with %d: %s", rows[i].line, r.exit, r.err);
		check_one_line(rows[i].line, rows[i].says);
		assert_string_equal(r.out, "");
	}
}

static void targets_that_cannot_be_are_named(void **state)
{

	/* Above the largest pid there can be. */
	program_run(&r, "%s", "$A hist -p 2147483647");
	assert_int_equal(r.exit, 2);
	check_one_line("no such process", "");
	/* actorprobe itself has no libactor; without privilege it is 3 instead. */
	program_run(&r, "%s", "$A hist -p $$ -d 1");
	assert_true(r.exit == 5 || r.exit == 3);
	check_one_line("process without libactor", "");
}

static void an_address_in_use_is_named(void **state)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t bytes = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char line[96];

	assert_int_equal(bind(fd, (struct sockaddr *)&address, bytes), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &bytes), 0);
	snprintf(line, sizeof(line), "$A export -p $$ --listen 127.0.0.1:%u",
		ntohs(address.sin_port));
	program_run(&r, "%s", line);
	assert_int_equal(r.exit, 1);
	check_one_line(line, "is in use; ");
	close(fd);
}

static void help_and_version_go_to_stdout(void **state)
{

	program_run(&r, "%s", "$A --version");
	assert_int_equal(r.exit, 0);
	assert_int_equal(strncmp(r.out, "actorprobe ", 11), 0);
	assert_string_equal(r.err, "");
	program_run(&r, "%s", "$A hist --help");
	assert_int_equal(r.exit, 0);
	assert_non_null(strstr(r.out, "Examples:"));
	assert_non_null(strstr(r.out, "--by="));
	assert_string_equal(r.err, "");
}

static void lists_are_lines_of_json(void **state)
{
	static const char *const lines[] = {"$A list -j", "$A doctor -j"};

	for (size_t i = 0; i < 2; i++) {
		char *rest;

		program_run(&r, "%s", lines[i]);
		for (char *line = strtok_r(r.out, "\n", &rest); line;
			line = strtok_r(NULL, "\n", &rest)) {
			assert_int_equal(line[0], '{');
			assert_int_equal(line[strlen(line) - 1], '}');
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mistakes_are_one_line_and_an_exit_code),
		cmocka_unit_test(targets_that_cannot_be_are_named),
		cmocka_unit_test(an_address_in_use_is_named),
		cmocka_unit_test(help_and_version_go_to_stdout),
		cmocka_unit_test(lists_are_lines_of_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
