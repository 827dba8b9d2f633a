/* SPDX-License-Identifier: MIT */
/* Parses the mappings of a process and opens its running files. */
#define _GNU_SOURCE
#include "probe/objects.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static int grow(void **array, size_t count, size_t bytes)
{
	void *bigger;

	if (count & (count - 1)) /* grows at each power of two */
		return 0;
	bigger = realloc(*array, (count ? 2 * count : 1) * bytes);
	if (!bigger)
		return -ENOMEM;
	*array = bigger;
	return 0;
}

static ssize_t object_find(struct objects *o, uint64_t device, uint64_t inode, const char *path)
{
	void *array = o->objects;

	for (size_t i = 0; i < o->count; i++)
		if (o->objects[i].inode == inode && o->objects[i].device == device)
			return (ssize_t)i;
	if (grow(&array, o->count, sizeof(*o->objects)) < 0)
		return -ENOMEM;
	o->objects = array;
	o->objects[o->count] = (struct object){device, inode, strdup(path)};
	if (!o->objects[o->count].path)
		return -ENOMEM;
	return (ssize_t)o->count++;
}

static int mapping_add(struct objects *o, char *line)
{
	struct objects_mapping m = {0};
	char perms[5] = "";
	unsigned int major_, minor_;
	uint64_t inode;
	void *array = o->mappings;
	int path_at = 0;
	ssize_t object;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &m.start,
		    &m.end, perms, &m.offset, &major_, &minor_, &inode, &path_at) < 7 ||
		inode == 0 || path_at == 0)
		return 0;
	line[strcspn(line, "\n")] = '\0';
	object = object_find(o, makedev(major_, minor_), inode, line + path_at);
	if (object < 0 || grow(&array, o->mapping_count, sizeof(m)) < 0)
		return -ENOMEM;
	o->mappings = array;
	m.object = (size_t)object;
	m.executable = perms[2] == 'x';
	o->mappings[o->mapping_count++] = m;
	return 0;
}

int objects_read(struct objects *o, pid_t pid, pid_t task)
{
	char path[64];
	char *line = NULL;
	size_t room = 0;
	FILE *file;
	int r = 0;

	*o = (struct objects){.pid = pid, .task = task};
	snprintf(path, sizeof(path), "/proc/%d/task/%d/maps", pid, task);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	errno = 0;
	while (r == 0 && getline(&line, &room, file) > 0)
		r = mapping_add(o, line);
	if (r == 0 && ferror(file))
		r = errno ? -errno : -EIO;
	free(line);
	fclose(file);
	if (r < 0)
		objects_fini(o);
	return r;
}

/* Overlay and btrfs show one device number in maps and another in stat, both without a major. */
static bool same_file(const struct stat *st, const struct object *object)
{
	if (st->st_ino != object->inode)
		return false;
	return st->st_dev == object->device ||
	       (major(st->st_dev) == 0 && major(object->device) == 0);
}

/* Looks before it opens: what lies at a foreign path may be a device or a pipe. */
static int open_checked(const char *path, const struct object *object)
{
	int fd = -ESTALE, look = open(path, O_PATH | O_CLOEXEC);
	struct stat st;
	char again[64];

	if (look < 0)
		return -errno;
	snprintf(again, sizeof(again), "/proc/self/fd/%d", look);
	if (fstat(look, &st) == 0 && S_ISREG(st.st_mode) && same_file(&st, object)) {
		fd = open(again, O_RDONLY | O_CLOEXEC);
		fd = fd < 0 ? -errno : fd;
	}
	close(look);
	return fd;
}

int objects_open(const struct objects *o, size_t i)
{
	const struct object *object = &o->objects[i];
	const struct objects_mapping *m = o->mappings;
	char path[64];
	char *below;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/exe", o->pid, o->task);
	fd = open_checked(path, object);
	if (fd >= 0)
		return fd;
	while (m->object != i)
		m++;
	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, o->pid, m->start,
		m->end);
	fd = open_checked(path, object);
	if (fd >= 0)
		return fd;
	if (asprintf(&below, "/proc/%d/task/%d/root%s", o->pid, o->task, object->path) < 0)
		return -ENOMEM;
	fd = open_checked(below, object);
	free(below);
	return fd == -ENOENT ? -ESTALE : fd;
}

uint64_t objects_address(
	const struct objects *o, size_t i, const struct notes *notes, uint64_t address)
{
	for (uint32_t s = 0; s < notes->segment_count; s++) {
		const struct notes_segment *segment = &notes->segments[s];

		for (size_t k = 0; k < o->mapping_count; k++) {
			const struct objects_mapping *m = &o->mappings[k];

			if (m->object == i && segment->offset >= m->offset &&
				segment->offset - m->offset < m->end - m->start)
				return m->start + (segment->offset - m->offset) +
				       (address - segment->address);
		}
	}
	return 0;
}

void objects_fini(struct objects *o)
{
	for (size_t i = 0; i < o->count; i++)
		free(o->objects[i].path);
	free(o->objects);
	free(o->mappings);
	*o = (struct objects){0};
}
