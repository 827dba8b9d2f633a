/* SPDX-License-Identifier: MIT */
/* Reads schedstat, stat, status and syscall of threads, and the host's own /proc/stat. */
#define _GNU_SOURCE
#include "probe/threads.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_BYTES 4096

/* Reads the beginning of a small file as a string. 0 or -errno. */
static int file_read(char *to, const char *path)
{
	FILE *f = fopen(path, "re");
	size_t bytes;
	int r = 0;

	if (!f)
		return -errno;
	bytes = fread(to, 1, FILE_BYTES - 1, f);
	if (ferror(f))
		r = errno ? -errno : -EIO;
	to[bytes] = '\0';
	fclose(f);
	return r < 0 ? r : bytes ? 0 : -ENODATA;
}

static int task_read(char *to, pid_t pid, pid_t task, const char *file)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", pid, task, file);
	return file_read(to, path);
}

/* The last id of NSpid is the one in the innermost namespace. */
static uint32_t inner_id(pid_t pid, pid_t task)
{
	char text[FILE_BYTES], *at, *end, *last;

	if (task_read(text, pid, task, "status") < 0)
		return 0;
	at = strstr(text, "\nNSpid:");
	if (!at)
		return (uint32_t)task;
	end = strchr(at + 1, '\n');
	if (end)
		*end = '\0';
	last = strrchr(at, '\t');
	return last ? (uint32_t)strtoul(last, NULL, 10) : 0;
}

pid_t threads_find(pid_t pid, uint32_t thread)
{
	char path[64];
	struct dirent *entry;
	pid_t found = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	while (d && !found && (entry = readdir(d))) {
		pid_t task = (pid_t)strtol(entry->d_name, NULL, 10);

		if (task > 0 && inner_id(pid, task) == thread)
			found = task;
	}
	if (d)
		closedir(d);
	return found;
}

int threads_time(pid_t pid, pid_t task, uint64_t *cpu_ns, uint64_t *starved_ns)
{
	char text[FILE_BYTES];
	int r = task_read(text, pid, task, "schedstat");

	if (r < 0)
		return r;
	return sscanf(text, "%" SCNu64 " %" SCNu64, cpu_ns, starved_ns) == 2 ? 0 : -EPROTO;
}

char threads_state(pid_t pid, pid_t task)
{
	char text[FILE_BYTES], *at;

	if (task_read(text, pid, task, "stat") < 0)
		return 0;
	at = strrchr(text, ')'); /* a name may hold anything */
	return at && at[1] == ' ' ? at[2] : 0;
}

bool threads_call(pid_t pid, pid_t task, int64_t *call)
{
	char text[FILE_BYTES];

	*call = -1;
	if (task_read(text, pid, task, "syscall") < 0)
		return false;
	if (strncmp(text, "running", 7) == 0)
		return true;
	return sscanf(text, "%" SCNd64, call) == 1;
}

int threads_steal(uint64_t *all, uint64_t *steal)
{
	char text[FILE_BYTES], *at = text + 4;
	int r = file_read(text, "/proc/stat");

	*all = *steal = 0;
	if (r < 0)
		return r;
	for (int i = 0; i < 8; i++) {
		uint64_t value = strtoull(at, &at, 10);

		*all += value;
		if (i == 7)
			*steal = value;
	}
	return 0;
}
