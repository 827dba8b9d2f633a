/* SPDX-License-Identifier: MIT */
/* The program itself: each thing an operator can get wrong is one line on stderr and an exit code.
 *
 * Runs $ACTORPROBE, or build/actorprobe.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct run {
	int exit;
	char out[16384];
	char err[4096];
};

static void slurp(int fd, char *text, size_t size)
{
	size_t used = 0;
	ssize_t count;

	while (used + 1 < size && (count = read(fd, text + used, size - 1 - used)) > 0)
		used += (size_t)count;
	text[used] = '\0';
	close(fd);
}

/* Runs a shell line in which $A is the program; stdout goes where the line sends it. */
static void run(struct run *r, const char *line)
{
	const char *program = getenv("ACTORPROBE");
	int out[2], err[2];
	int status;
	pid_t child;

	setenv("A", program ? program : "build/actorprobe", 1);
	assert_int_equal(pipe(out), 0);
	assert_int_equal(pipe(err), 0);
	child = fork();
	if (child == 0) {
		dup2(out[1], STDOUT_FILENO);
		dup2(err[1], STDERR_FILENO);
		close(out[0]);
		close(err[0]);
		close(out[1]);
		close(err[1]);
		execl("/bin/sh", "sh", "-c", line, (char *)NULL);
		_exit(127);
	}
	close(out[1]);
	close(err[1]);
	slurp(out[0], r->out, sizeof(r->out));
	slurp(err[0], r->err, sizeof(r->err));
	assert_int_equal(waitpid(child, &status, 0), child);
	r->exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void check_one_line(const char *line, const struct run *r, const char *says)
{
	size_t bytes = strlen(r->err);

	if (!bytes || strchr(r->err, '\n') != r->err + bytes - 1)
		fail_msg("'%s' writes '%s' to stderr", line, r->err);
	if (strncmp(r->err, "actorprobe: ", 12) != 0 || !strstr(r->err, says))
		fail_msg("'%s' says '%s' and not '%s'", line, r->err, says);
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
		{"$A hist -p $$ --mode ledger", 1, "not in this version"},
		{"$A export -p $$ --listen x", 1, "bad address"},
		{"$A export -p $$ --listen 192.0.2.1", 1, "no interface"},
		{"$A --help >/dev/full", 1, "cannot be written"},
		{"$A --version >&-", 1, "standard output is closed"},
		{"$A doctor -j >/dev/full", 1, "No space left"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct run r;

		run(&r, rows[i].line);
		if (r.exit != rows[i].exit)
			fail_msg("'%s' exits with %d: %s", rows[i].line, r.exit, r.err);
		check_one_line(rows[i].line, &r, rows[i].says);
		assert_string_equal(r.out, "");
	}
}

static void targets_that_cannot_be_are_named(void **state)
{
	struct run r;

	/* Above the largest pid there can be. */
	run(&r, "$A hist -p 2147483647");
	assert_int_equal(r.exit, 2);
	check_one_line("no such process", &r, "");
	/* The shell has no libactor; without privilege it is 3 instead. */
	run(&r, "$A hist -p $$ -d 1");
	assert_true(r.exit == 5 || r.exit == 3);
	check_one_line("process without libactor", &r, "");
}

static void an_address_in_use_is_named(void **state)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t bytes = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char line[96];
	struct run r;

	assert_int_equal(bind(fd, (struct sockaddr *)&address, bytes), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &bytes), 0);
	snprintf(line, sizeof(line), "$A export -p $$ --listen 127.0.0.1:%u",
		ntohs(address.sin_port));
	run(&r, line);
	assert_int_equal(r.exit, 1);
	check_one_line(line, &r, "is in use; ");
	close(fd);
}

static void help_and_version_go_to_stdout(void **state)
{
	struct run r;

	run(&r, "$A --version");
	assert_int_equal(r.exit, 0);
	assert_int_equal(strncmp(r.out, "actorprobe ", 11), 0);
	assert_string_equal(r.err, "");
	run(&r, "$A hist --help");
	assert_int_equal(r.exit, 0);
	assert_non_null(strstr(r.out, "Examples:"));
	assert_non_null(strstr(r.out, "--by="));
	assert_string_equal(r.err, "");
}

static void lists_are_lines_of_json(void **state)
{
	static const char *const lines[] = {"$A list -j", "$A doctor -j"};

	for (size_t i = 0; i < 2; i++) {
		struct run r;
		char *rest;

		run(&r, lines[i]);
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
