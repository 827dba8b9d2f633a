/* SPDX-License-Identifier: MIT */
/* Makes uprobe links by the bpf system call, and perf-event uprobes where links do not work. */
#define _GNU_SOURCE
#include "probe/attach.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REFERENCE_SHIFT 32 /* of the semaphore's offset in perf_event_attr.config */

/* The part of union bpf_attr for a uprobe_multi link, as kernel 6.6 fixed it. */
struct multi_link {
	uint32_t program_fd;
	uint32_t target_fd;
	uint32_t attach_type;
	uint32_t flags;
	uint64_t path;
	uint64_t offsets;
	uint64_t reference_offsets;
	uint64_t cookies;
	uint32_t count;
	uint32_t multi_flags;
	uint32_t pid;
	uint32_t spare;
};

static uint64_t address(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

static int multi_create(
	int program_fd, const char *path, uint32_t pid, const struct attach_sites *sites)
{
	struct multi_link link = {
		.program_fd = (uint32_t)program_fd,
		.attach_type = ATTACH_TYPE_MULTI,
		.path = address(path),
		.offsets = address(sites->offsets),
		.reference_offsets = address(sites->semaphores),
		.count = sites->count,
		.pid = pid,
	};
	int fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &link, sizeof(link));

	return fd < 0 ? -errno : fd;
}

/* Kernels before 6.10 filter by thread; they look at the path before they look at the pid. */
int attach_multi_works(int program_fd)
{
	static const struct attach_sites one = {.count = 1};
	int known = multi_create(program_fd, "/", 0, &one);
	int filters = multi_create(program_fd, "/", UINT32_MAX, &one);

	if (known == -EPERM || known == -EACCES)
		return known;
	return known == -EBADF && filters == -EINVAL;
}

/* The dynamic event source "uprobe". */
static int uprobe_source(void)
{
	FILE *file = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
	int type = -1;

	if (file && fscanf(file, "%d", &type) != 1)
		type = -1;
	if (file)
		fclose(file);
	return type < 0 ? -ENOTSUP : type;
}

static int perf_create(
	int program_fd, const char *path, pid_t task, uint64_t offset, uint64_t semaphore)
{
	struct perf_event_attr attr = {.size = sizeof(attr)};
	int type = uprobe_source(), fd, error;

	if (type < 0)
		return type;
	attr.type = (uint32_t)type;
	attr.config = semaphore << REFERENCE_SHIFT;
	attr.config1 = address(path);
	attr.config2 = offset;
	fd = (int)syscall(SYS_perf_event_open, &attr, task, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, program_fd) == 0 &&
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) == 0)
		return fd;
	error = -errno;
	close(fd);
	return error;
}

static void shrink(struct attachment *a, uint32_t count)
{
	while (a->count > count)
		close(a->fds[--a->count]);
}

int attach_add(struct attachment *a, enum attach_how how, int program_fd, int file_fd, pid_t pid,
	const struct attach_sites *sites)
{
	uint32_t before = a->count;
	char path[64];

	/* The magic link leads to the very inode, whatever has become of its name. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file_fd);
	if (a->count + sites->count > ATTACH_FDS_MAX)
		return -E2BIG;
	for (uint32_t i = 0; i < sites->count; i++) {
		int fd = how == ATTACH_MULTI ? multi_create(program_fd, path, (uint32_t)pid, sites)
					     : perf_create(program_fd, path, pid, sites->offsets[i],
						       sites->semaphores[i]);

		if (fd < 0) {
			shrink(a, before);
			return fd;
		}
		a->fds[a->count++] = fd;
		if (how == ATTACH_MULTI)
			break; /* one link holds all sites */
	}
	return 0;
}

static void *close_one(void *argument)
{
	close(*(const int *)argument);
	return NULL;
}

/* Each close waits for grace periods of the kernel; together they wait for the same ones. */
void attach_close(struct attachment *a)
{
	pthread_t threads[ATTACH_FDS_MAX];
	bool started[ATTACH_FDS_MAX] = {false};

	if (!a)
		return;
	for (uint32_t i = 1; i < a->count; i++)
		started[i] = pthread_create(&threads[i], NULL, close_one, &a->fds[i]) == 0;
	for (uint32_t i = 0; i < a->count; i++)
		if (started[i])
			pthread_join(threads[i], NULL);
		else
			close(a->fds[i]);
	a->count = 0;
}
