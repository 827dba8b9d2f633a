/* SPDX-License-Identifier: MIT */
/* Keeps a table of the processes that were seen, and one of the files that have links. */
#define _GNU_SOURCE
#include "probe/host.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "probe/carrier.h"
#include "probe/objects.h"
#include "probe/target.h"

#define OTHERS_MAX 4096
#define LOOKS_MAX  5 /* at scans 1, 2, 4, 8 and 16 after a process was seen first */

struct seen {
	pid_t pid;
	uint64_t device, inode; /* of its program */
	uint64_t file;		/* number of the link whose file it runs, once accepted */
	uint32_t scans, looks;
	bool accepted;
	bool alive; /* in this scan */
};

struct link_file {
	uint64_t device, inode, number;
	int fd;
	uint64_t used_ns;
};

struct host {
	struct exchange *exchange;
	char *exe;
	uint64_t linger_ns;
	struct seen *seen;
	size_t seen_count, seen_room;
	struct link_file *links;
	size_t link_count;
	uint64_t numbers;
	struct carrier_others others;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- links ---- */

static void *close_fd(void *argument)
{
	close((int)(intptr_t)argument);
	return NULL;
}

static void close_apart(int fd)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, close_fd, (void *)(intptr_t)fd) == 0)
		pthread_detach(thread);
	else
		close(fd);
}

static struct link_file *link_find(struct host *h, uint64_t device, uint64_t inode)
{
	for (size_t i = 0; i < h->link_count; i++)
		if (h->links[i].inode == inode && h->links[i].device == device)
			return &h->links[i];
	return NULL;
}

/* The link of a file, made if there is none; NULL if that is not possible. */
static struct link_file *link_get(struct host *h, const struct notes *notes, int file_fd)
{
	struct link_file *link, *more;
	struct stat st;

	if (fstat(file_fd, &st) < 0)
		return NULL;
	link = link_find(h, st.st_dev, st.st_ino);
	if (link)
		return link;
	more = realloc(h->links, (h->link_count + 1) * sizeof(*more));
	if (!more)
		return NULL;
	h->links = more;
	link = &more[h->link_count];
	*link = (struct link_file){.device = st.st_dev,
		.inode = st.st_ino,
		.number = ++h->numbers,
		.fd = exchange_link(h->exchange, notes, file_fd),
		.used_ns = now_ns()};
	if (link->fd < 0)
		return NULL;
	h->link_count++;
	return link;
}

static void links_expire(struct host *h)
{
	uint64_t now = now_ns();

	for (size_t i = 0; i < h->seen_count; i++)
		for (size_t k = 0; k < h->link_count; k++)
			if (h->seen[i].accepted && h->seen[i].file == h->links[k].number)
				h->links[k].used_ns = now;
	for (size_t k = 0; k < h->link_count; k++) {
		if (now - h->links[k].used_ns <= h->linger_ns)
			continue;
		close_apart(h->links[k].fd);
		h->links[k--] = h->links[--h->link_count];
	}
}

/* ---- processes ---- */

static int pid_compare(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static struct seen *seen_find(const struct host *h, size_t sorted, pid_t pid)
{
	const struct seen key = {.pid = pid};

	return sorted ? bsearch(&key, h->seen, sorted, sizeof(key), pid_compare) : NULL;
}

static struct seen *seen_add(struct host *h, pid_t pid)
{
	size_t room = h->seen_room ? 2 * h->seen_room : 256;
	struct seen *more;

	if (h->seen_count == h->seen_room) {
		more = realloc(h->seen, room * sizeof(*more));
		if (!more)
			return NULL;
		h->seen = more;
		h->seen_room = room;
	}
	more = &h->seen[h->seen_count++];
	*more = (struct seen){.pid = pid};
	return more;
}

static bool exe_stat(pid_t pid, struct stat *st)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return stat(path, st) == 0;
}

enum host_want host_wants(const struct host *h, pid_t pid)
{
	struct stat wanted, st;

	if (!h->exe)
		return HOST_WANTS;
	if (!exe_stat(pid, &st))
		return HOST_CANNOT_TELL;
	return stat(h->exe, &wanted) == 0 && st.st_dev == wanted.st_dev &&
			       st.st_ino == wanted.st_ino
		       ? HOST_WANTS
		       : HOST_WANTS_NOT;
}

/* The link of the file by which the process carries libactor; NULL if it does not. */
static struct link_file *process_link(struct host *h, pid_t pid)
{
	pid_t task = target_task(pid);
	struct link_file *link = NULL;
	struct objects objects;
	struct notes notes;
	int fd;

	if (!task || objects_read(&objects, pid, task) < 0)
		return NULL;
	if (carrier_find(&objects, &notes, &fd, &h->others) >= 0) {
		link = link_get(h, &notes, fd);
		close(fd);
	}
	objects_fini(&objects);
	return link;
}

static bool look_due(struct seen *seen)
{
	bool due = seen->looks < LOOKS_MAX && seen->scans >= 1u << seen->looks;

	seen->scans++;
	if (seen->scans == 1)
		return true; /* at once */
	seen->looks += due;
	return due;
}

static void process_scan(struct host *h, struct seen *seen, const struct stat *st,
	bool (*found)(void *, pid_t), void *context)
{
	struct link_file *link;

	seen->alive = true;
	if (seen->device != st->st_dev || seen->inode != st->st_ino) {
		*seen = (struct seen){.pid = seen->pid,
			.device = st->st_dev,
			.inode = st->st_ino,
			.accepted = seen->accepted,
			.file = seen->file,
			.alive = true};
	}
	if (seen->accepted || !look_due(seen) || host_wants(h, seen->pid) != HOST_WANTS)
		return;
	link = process_link(h, seen->pid);
	if (!link)
		return;
	link->used_ns = now_ns();
	seen->file = link->number;
	seen->accepted = found(context, seen->pid);
}

static void sweep(struct host *h)
{
	size_t used = 0;

	for (size_t i = 0; i < h->seen_count; i++) {
		if (!h->seen[i].alive)
			continue;
		h->seen[used] = h->seen[i];
		h->seen[used++].alive = false;
	}
	h->seen_count = used;
	if (used)
		qsort(h->seen, used, sizeof(*h->seen), pid_compare);
}

void host_scan(struct host *h, bool (*found)(void *context, pid_t pid), void *context)
{
	size_t sorted = h->seen_count;
	struct dirent *entry;
	DIR *dir = opendir("/proc");

	while (dir && (entry = readdir(dir))) {
		pid_t pid = (pid_t)atoi(entry->d_name);
		struct seen *seen = pid > 0 ? seen_find(h, sorted, pid) : NULL;
		struct stat st;

		/* Neither a thread of the kernel nor actorprobe itself. */
		if (pid <= 0 || pid == getpid() || !exe_stat(pid, &st))
			continue;
		if (!seen)
			seen = seen_add(h, pid);
		if (seen)
			process_scan(h, seen, &st, found, context);
	}
	if (dir)
		closedir(dir);
	sweep(h);
	links_expire(h);
	if (h->others.count > OTHERS_MAX) /* numbers of files are used again */
		h->others.count = 0;
}

void host_accept(struct host *h, pid_t pid)
{
	struct seen *seen = seen_find(h, h->seen_count, pid);
	struct link_file *link;

	if (!seen)
		return; /* the next scan sees it, and offers it */
	link = process_link(h, pid);
	seen->accepted = true;
	seen->file = link ? link->number : 0;
}

void host_forget(struct host *h, pid_t pid)
{
	struct seen *seen = seen_find(h, h->seen_count, pid);

	if (seen)
		*seen = (struct seen){.pid = pid};
}

struct host *host_open(struct exchange *x, const char *exe, uint64_t linger_ns)
{
	struct host *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->exchange = x;
	h->linger_ns = linger_ns;
	h->exe = exe ? strdup(exe) : NULL;
	if (!exe || h->exe)
		return h;
	free(h);
	return NULL;
}

void host_close(struct host *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->link_count; i++)
		close(h->links[i].fd);
	free(h->links);
	free(h->seen);
	free(h->others.files);
	free(h->exe);
	free(h);
}
