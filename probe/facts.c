/* SPDX-License-Identifier: MIT */
/* Reads a process's facts from /proc. */
#include "probe/facts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/escape.h"
#include "probe/target.h"

#define PATH_BYTES	 4096
#define CONTAINER_DIGITS 64

static char *exe_path(pid_t pid, pid_t task)
{
	char path[64], target[PATH_BYTES];
	ssize_t bytes;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/exe", pid, task);
	bytes = readlink(path, target, sizeof(target));
	return bytes > 0 ? escape_copy(target, (size_t)bytes) : NULL;
}

/* The line "0::/path" of the unified hierarchy, else the first line there is. */
static char *cgroup_path(pid_t pid)
{
	char path[64], line[PATH_BYTES], first[PATH_BYTES] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		const char *at = strchr(line, ':');

		at = at ? strchr(at + 1, ':') : NULL;
		if (!at || (*first && strncmp(line, "0::", 3)))
			continue;
		snprintf(first, sizeof(first), "%.*s", (int)strcspn(at + 1, "\n"), at + 1);
	}
	if (file)
		fclose(file);
	return *first ? escape_copy(first, strlen(first)) : NULL;
}

char *facts_container(const char *cgroup)
{
	const char *found = NULL;
	size_t digits = 0;

	for (const char *at = cgroup;; at++) {
		if (isxdigit((unsigned char)*at)) {
			digits++;
			continue;
		}
		if (digits == CONTAINER_DIGITS)
			found = at - digits;
		digits = 0;
		if (!*at)
			break;
	}
	return found ? strndup(found, CONTAINER_DIGITS) : NULL;
}

void facts_read(struct facts *f, pid_t pid, pid_t task)
{
	*f = (struct facts){
		.pid = pid,
		.command = target_command(pid),
		.exe = exe_path(pid, task),
		.cgroup = cgroup_path(pid),
	};
	if (f->cgroup)
		f->container = facts_container(f->cgroup);
}

void facts_fini(struct facts *f)
{
	free(f->command);
	free(f->exe);
	free(f->cgroup);
	free(f->container);
	*f = (struct facts){0};
}
