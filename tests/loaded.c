/* SPDX-License-Identifier: MIT */
/* Starts tests/load.c with pipes and shared memory, reads its memory from outside. */
#define _GNU_SOURCE
#include "tests/loaded.h"

#include "tests/sanitized.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARGUMENTS_MAX 16

static void die(const char *what)
{
	perror(what);
	abort();
}

const char *loaded_program(void)
{
	static char path[512];
	const char *build = getenv("B");

	snprintf(path, sizeof(path), "%s/tests/load", build ? build : "build");
	return path;
}

/* In the child. */
static void become(const char *program, const char *arguments, int in, int out, int counts)
{
	char *list[ARGUMENTS_MAX] = {"load"};
	char *copy = strdup(arguments);
	int n = 1;

	for (char *word = strtok(copy, " "); word && n < ARGUMENTS_MAX - 1;
		word = strtok(NULL, " "))
		list[n++] = word;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	if (counts != LOAD_COUNTS_FD)
		dup2(counts, LOAD_COUNTS_FD);
	else
		fcntl(counts, F_SETFD, 0);
	execv(program, list);
	_exit(127);
}

void loaded_start_file(struct loaded *l, const char *program, const char *arguments)
{
	int to[2], from[2];
	int counts = memfd_create("counts", MFD_CLOEXEC);

	memset(l, 0, sizeof(*l));
	l->memory = -1;
	if (counts < 0 || ftruncate(counts, sizeof(*l->counts)) < 0 || pipe2(to, O_CLOEXEC) < 0 ||
		pipe2(from, O_CLOEXEC) < 0)
		die("loaded_start");
	l->counts = mmap(NULL, sizeof(*l->counts), PROT_READ | PROT_WRITE, MAP_SHARED, counts, 0);
	if (l->counts == MAP_FAILED)
		die("mmap");
	fflush(NULL);
	l->pid = fork();
	if (l->pid == 0)
		become(program, arguments, to[0], from[1], counts);
	close(counts);
	close(to[0]);
	close(from[1]);
	l->in = fdopen(to[1], "w");
	l->out = fdopen(from[0], "r");
	loaded_expect(l, "ready");
}

void loaded_start(struct loaded *l, const char *format, ...)
{
	char arguments[256];
	va_list list;

	va_start(list, format);
	vsnprintf(arguments, sizeof(arguments), format, list);
	va_end(list);
	loaded_start_file(l, loaded_program(), arguments);
}

void loaded_say(struct loaded *l, const char *line)
{
	fprintf(l->in, "%s\n", line);
	fflush(l->in);
}

const char *loaded_expect(struct loaded *l, const char *what)
{
	do {
		if (!fgets(l->line, sizeof(l->line), l->out)) {
			fprintf(stderr, "the load ended before it said '%s'\n", what);
			abort();
		}
	} while (strncmp(l->line, what, strlen(what)) != 0);
	return l->line + strlen(what);
}

uint64_t loaded_handled(const struct loaded *l)
{
	uint64_t handled = 0;

	for (int i = 0; i < LOAD_LOOPS; i++)
		handled += atomic_load(&l->counts->handled[i]);
	return handled;
}

/* It is done, and ends since its input has ended: what a sanitizer has to say comes now. */
static void end_by_itself(struct loaded *l)
{
	int status = 0;

	waitpid(l->pid, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		fprintf(stderr, "the load ended with status %x\n", (unsigned int)status);
		abort();
	}
}

void loaded_stop(struct loaded *l)
{
	if (!l->pid)
		return;
	fclose(l->in);
	fclose(l->out);
	if (SANITIZED && strncmp(l->line, "done", 4) == 0) {
		end_by_itself(l);
	} else {
		kill(l->pid, SIGKILL);
		waitpid(l->pid, NULL, 0);
	}
	munmap(l->counts, sizeof(*l->counts));
	if (l->memory >= 0)
		close(l->memory);
	l->pid = 0;
}

/* ---- its probe sites ---- */

/* Where the file's first byte would lie in memory: where the first mapping of it begins. There may
 * be others below, as those of a sanitizer. */
static uint64_t base_of(pid_t pid)
{
	unsigned long base = 0;
	char exe[512], path[64];
	char *line = NULL;
	size_t room = 0;
	ssize_t bytes;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	bytes = readlink(path, exe, sizeof(exe) - 1);
	exe[bytes > 0 ? bytes : 0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "re");
	if (!maps || bytes <= 0)
		die(path);
	while (!base && getline(&line, &room, maps) > 0)
		if (strstr(line, exe))
			base = strtoul(line, NULL, 16);
	free(line);
	fclose(maps);
	return base;
}

static uint64_t address_of(const struct notes *notes, uint64_t base, uint64_t offset)
{
	uint64_t linked = notes->segments[0].address & ~4095ull;

	for (uint32_t i = 0; i < notes->segment_count; i++) {
		const struct notes_segment *s = &notes->segments[i];

		if (offset >= s->offset && offset - s->offset < s->file_bytes)
			return base - linked + s->address + (offset - s->offset);
	}
	return 0;
}

static void sites_find(struct loaded *l)
{
	static struct notes notes;
	uint64_t base = base_of(l->pid);
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", l->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || notes_read(&notes, fd) != NOTES_OK || !notes.site_count)
		die(path);
	close(fd);
	for (uint32_t i = 0; i < notes.site_count; i++) {
		l->semaphores[i] = address_of(&notes, base, notes.sites[i].semaphore_offset);
		l->nops[i] = address_of(&notes, base, notes.sites[i].offset);
	}
	l->sites = notes.site_count;
	snprintf(path, sizeof(path), "/proc/%d/mem", l->pid);
	l->memory = open(path, O_RDONLY | O_CLOEXEC);
	if (l->memory < 0)
		die(path);
}

static uint64_t peek(struct loaded *l, uint64_t address, size_t bytes)
{
	uint64_t value = 0;

	if (pread(l->memory, &value, bytes, (off_t)address) != (ssize_t)bytes)
		die("/proc/PID/mem");
	return value;
}

uint32_t loaded_semaphores(struct loaded *l)
{
	uint32_t raised = 0;

	if (l->memory < 0)
		sites_find(l);
	for (uint32_t i = 0; i < l->sites; i++)
		raised += peek(l, l->semaphores[i], 2) != 0;
	return raised;
}

uint32_t loaded_traps(struct loaded *l)
{
	uint32_t traps = 0;

	if (l->memory < 0)
		sites_find(l);
	for (uint32_t i = 0; i < l->sites; i++)
		traps += peek(l, l->nops[i], 1) != 0x90;
	return traps;
}

bool loaded_clean_within(struct loaded *l, unsigned int ms)
{
	if (SANITIZED)
		ms *= 10;
	for (unsigned int waited = 0; loaded_semaphores(l) || loaded_traps(l); waited += 5) {
		if (waited >= ms)
			return false;
		usleep(5000);
	}
	return true;
}
