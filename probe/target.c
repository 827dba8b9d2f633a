/* SPDX-License-Identifier: MIT */
/* Finds a process and the file of it that carries libactor, and gives each failure its sentence. */
#define _GNU_SOURCE
#include "probe/target.h"

#include "probe/capability.h"
#include "probe/carrier.h"
#include "probe/escape.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* State and start time from /proc/PID/task/TASK/stat. The name in it may hold anything, so the
 * fields are counted from the last bracket. */
static int stat_read(pid_t pid, pid_t task, char *state, uint64_t *start_time)
{
	char path[64], line[1024];
	const char *at;
	FILE *file;
	size_t bytes;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, task);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	bytes = fread(line, 1, sizeof(line) - 1, file);
	fclose(file);
	line[bytes] = '\0';
	at = strrchr(line, ')');
	if (!at || sscanf(at + 1, " %c", state) != 1)
		return -ESRCH;
	for (int field = 2; field < 22; field++) {
		at = strchr(at + 1, ' ');
		if (!at)
			return -ESRCH;
	}
	*start_time = strtoull(at, NULL, 10);
	return 0;
}

pid_t target_task(pid_t pid)
{
	char path[64], state;
	struct dirent *entry;
	uint64_t start;
	pid_t task = 0;
	DIR *dir;

	if (stat_read(pid, pid, &state, &start) == 0 && state != 'Z' && state != 'X')
		return pid;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && !task && (entry = readdir(dir))) {
		pid_t other = (pid_t)atoi(entry->d_name);

		if (other > 0 && stat_read(pid, other, &state, &start) == 0 && state != 'Z' &&
			state != 'X')
			task = other;
	}
	if (dir)
		closedir(dir);
	return task;
}

char *target_command(pid_t pid)
{
	char path[64], name[64] = "";
	FILE *file;
	size_t bytes;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	file = fopen(path, "re");
	if (!file)
		return NULL;
	bytes = fread(name, 1, sizeof(name) - 1, file);
	fclose(file);
	while (bytes && name[bytes - 1] == '\n')
		bytes--;
	return escape_copy(name, bytes);
}

/* The process that a thread's id belongs to; the id itself for a process; 0 = nobody has it. */
static pid_t process_of(pid_t id)
{
	char path[64], line[256];
	int process = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", id);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Tgid: %d", &process) == 1)
			break;
	if (file)
		fclose(file);
	return process;
}

int target_permission_error(pid_t pid, struct error *error)
{
	static const int wanted[] = {CAPABILITY_SYS_PTRACE, -1};
	char missing[64];

	capability_missing(missing, sizeof(missing), wanted);
	if (!*missing)
		return error_set(error, EXIT_PERMISSION,
			"the kernel refuses to show the memory of process %d although nothing is "
			"missing here; a security module or a user namespace forbids it",
			pid);
	return error_set(error, EXIT_PERMISSION,
		"process %d may not be looked into; run as root or as its owner, or grant the "
		"missing "
		"%s",
		pid, missing);
}

static int gone_error(pid_t pid, struct error *error)
{
	return error_set(error, EXIT_TARGET,
		"there is no process %d; `actorprobe list` shows those that can be observed", pid);
}

static int refuse(pid_t pid, ssize_t why, struct error *error)
{
	switch (-why) {
	case ESRCH:
		return gone_error(pid, error);
	case EACCES:
	case EPERM:
		return target_permission_error(pid, error);
	case ENOEXEC:
		return error_set(error, EXIT_TARGET,
			"process %d is a 32-bit program; only 64-bit programs can be observed",
			pid);
	case EXDEV:
		return error_set(error, EXIT_TARGET,
			"process %d is a program for another machine than this one", pid);
	case ESTALE:
		return error_set(error, EXIT_TARGET,
			"a file that process %d runs was replaced on disk since it started; "
			"restart "
			"the process, or run actorprobe as root, which reaches the running file",
			pid);
	case ENOENT:
		return error_set(error, EXIT_PROBES,
			"process %d does not carry libactor; is it linked with it, and was it "
			"built "
			"with probes?",
			pid);
	default:
		return error_set(error, EXIT_TARGET, "process %d cannot be read: %s", pid,
			strerror((int)-why));
	}
}

/* Parses mappings and file; fills object_fd, notes, root_address, object_path. */
static int look_inside(struct target *t, struct error *error)
{
	struct objects objects;
	struct notes notes;
	int fd = -1;
	ssize_t carrier = objects_read(&objects, t->pid, t->task);

	if (carrier < 0)
		return refuse(t->pid, carrier, error);
	if (objects.mapping_count == 0) {
		objects_fini(&objects);
		return error_set(error, EXIT_PROBES,
			"process %d has no program of its own; it is a thread of the kernel",
			t->pid);
	}
	carrier = carrier_find(&objects, &notes, &fd, NULL);
	if (carrier >= 0) {
		const char *path = objects.objects[carrier].path;

		if (t->object_fd >= 0)
			close(t->object_fd);
		free(t->object_path);
		t->object_fd = fd;
		t->object_path = escape_copy(path, strlen(path));
		t->root_address =
			objects_address(&objects, (size_t)carrier, &notes, notes.root_address);
		t->notes = notes;
	}
	objects_fini(&objects);
	return carrier < 0 ? refuse(t->pid, carrier, error) : 0;
}

int target_renew(struct target *t, struct error *error)
{
	pid_t task = target_task(t->pid);

	if (!task || !target_alive(t))
		return gone_error(t->pid, error);
	t->task = task;
	return look_inside(t, error);
}

int target_open(struct target *t, pid_t pid, struct error *error)
{
	char state;
	int r;

	*t = (struct target){.pid = process_of(pid), .pid_fd = -1, .object_fd = -1};
	if (pid <= 0 || t->pid <= 0)
		return gone_error(pid, error);
	if (t->pid != pid)
		fprintf(stderr, "actorprobe: %d is a thread of process %d, which is observed\n",
			pid, t->pid);
	t->pid_fd = (int)syscall(SYS_pidfd_open, t->pid, 0);
	t->task = target_task(t->pid);
	if (t->pid_fd < 0 || !t->task || stat_read(t->pid, t->pid, &state, &t->start_time) < 0) {
		r = gone_error(t->pid, error);
	} else {
		t->command = target_command(t->pid);
		r = look_inside(t, error);
	}
	if (r != 0)
		target_close(t);
	return r;
}

bool target_alive(const struct target *t)
{
	struct pollfd p = {.fd = t->pid_fd, .events = POLLIN};

	return t->pid_fd >= 0 && poll(&p, 1, 0) == 0;
}

void target_close(struct target *t)
{
	if (!t)
		return;
	if (t->pid_fd > 0)
		close(t->pid_fd);
	if (t->object_fd > 0)
		close(t->object_fd);
	free(t->command);
	free(t->object_path);
	*t = (struct target){.pid_fd = -1, .object_fd = -1};
}
