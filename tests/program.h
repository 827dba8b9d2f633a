/* SPDX-License-Identifier: MIT */
/* Runs actorprobe from a test, as a shell line in which $A is the program.
 *
 * $A is $ACTORPROBE of the test's own environment, else $B/actorprobe, else build/actorprobe.
 */
#ifndef TESTS_PROGRAM_H
#define TESTS_PROGRAM_H

#include <assert.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM_BYTES	    262144
#define PROGRAM_PATIENCE_MS 60000

struct program {
	pid_t pid;
	int fd[2]; /* of its stdout and stderr */
	size_t used[2];
	int exit;
	char out[PROGRAM_BYTES];
	char err[PROGRAM_BYTES];
};

__attribute__((format(printf, 2, 3))) static inline void program_start(
	struct program *p, const char *format, ...)
{
	const char *build = getenv("B");
	char program[512];
	char line[4096] = "exec ";
	int out[2], err[2];
	va_list arguments;

	memset(p, 0, sizeof(*p));
	snprintf(program, sizeof(program), "%s/actorprobe", build ? build : "build");
	setenv("A", getenv("ACTORPROBE") ? getenv("ACTORPROBE") : program, 1);
	va_start(arguments, format);
	vsnprintf(line + 5, sizeof(line) - 5, format, arguments);
	va_end(arguments);
	if (pipe(out) || pipe(err))
		abort();
	p->pid = fork();
	if (p->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(out[1], STDOUT_FILENO);
		dup2(err[1], STDERR_FILENO);
		for (int fd = 3; fd < 64; fd++)
			close(fd);
		execl("/bin/sh", "sh", "-c", line, (char *)NULL);
		_exit(127);
	}
	close(out[1]);
	close(err[1]);
	p->fd[0] = out[0];
	p->fd[1] = err[0];
}

/* Reads what comes next from either descriptor; false at the end of both. */
static inline int program_read(struct program *p)
{
	struct pollfd set[] = {{p->fd[0], POLLIN, 0}, {p->fd[1], POLLIN, 0}};
	char *const text[] = {p->out, p->err};

	if (p->fd[0] < 0 && p->fd[1] < 0)
		return 0;
	if (poll(set, 2, PROGRAM_PATIENCE_MS) <= 0) {
		fprintf(stderr, "actorprobe says nothing any more: %s%s\n", p->out, p->err);
		abort();
	}
	for (int i = 0; i < 2; i++) {
		size_t room = PROGRAM_BYTES - 1 - p->used[i];
		ssize_t count;

		if (!set[i].revents || p->fd[i] < 0)
			continue;
		assert(room > 0);
		count = read(p->fd[i], text[i] + p->used[i], room);
		if (count > 0) {
			p->used[i] += (size_t)count;
		} else {
			close(p->fd[i]);
			p->fd[i] = -1;
		}
	}
	return 1;
}

/* Waits until the text (p->out or p->err) contains `what`. */
static inline void program_expect(struct program *p, const char *text, const char *what)
{
	while (!strstr(text, what)) {
		if (!program_read(p)) {
			fprintf(stderr, "no '%s' in: %s%s\n", what, p->out, p->err);
			abort();
		}
	}
}

static inline void program_wait(struct program *p)
{
	int status;

	while (program_read(p))
		;
	waitpid(p->pid, &status, 0);
	p->exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#define program_run(p, ...) (program_start(p, __VA_ARGS__), program_wait(p))

#endif
