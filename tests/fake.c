/* SPDX-License-Identifier: MIT */
/* Starts a fake target with pipes and speaks its line protocol. */
#define _GNU_SOURCE
#include "tests/fake.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void die(const char *what)
{
	perror(what);
	abort();
}

void fake_start(struct fake *f, const char *clock)
{
	const char *program = getenv("FAKE_TARGET");

	fake_start_as(f, program ? program : "build/tests/fake_target", clock);
}

void fake_start_as(struct fake *f, const char *program, const char *clock)
{
	int to[2], from[2];
	char line[64];

	if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0)
		die("pipe");
	f->pid = fork();
	if (f->pid < 0)
		die("fork");
	if (f->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(to[0], 0);
		dup2(from[1], 1);
		setenv("ACTOR_CLOCK", clock, 1);
		execl(program, "fake_target", (char *)NULL);
		_exit(127);
	}
	close(to[0]);
	close(from[1]);
	f->in = fdopen(to[1], "w");
	f->out = fdopen(from[0], "r");
	if (!fgets(line, sizeof(line), f->out) || sscanf(line, "ready %*d %" SCNu64, &f->hole) != 1)
		die(program);
}

long fake_tell(struct fake *f, const char *format, ...)
{
	char line[256] = "";
	va_list list;

	va_start(list, format);
	vfprintf(f->in, format, list);
	va_end(list);
	fputc('\n', f->in);
	fflush(f->in);
	if (!fgets(line, sizeof(line), f->out))
		die("answer");
	return strcmp(line, "ok\n") == 0 ? 0 : atol(line);
}

void fake_stop(struct fake *f)
{
	if (!f->pid)
		return;
	fclose(f->in);
	fclose(f->out);
	kill(f->pid, SIGKILL);
	waitpid(f->pid, NULL, 0);
	f->pid = 0;
}
