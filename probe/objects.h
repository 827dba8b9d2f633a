/* SPDX-License-Identifier: MIT */
/* The files that a process has mapped as code, opened as the very inodes that run.
 *
 * A path names what lies on disk now, not what runs: it may have been replaced, or belong to
 * another mount namespace. So a file is opened through /proc/PID/exe, /proc/PID/map_files, or below
 * /proc/PID/root, and the last is believed only if its inode is the mapped one.
 */
#ifndef PROBE_OBJECTS_H
#define PROBE_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "probe/notes.h"

struct objects_mapping {
	uint64_t start, end, offset;
	size_t object;
	bool executable;
};

struct object {
	uint64_t device, inode; /* as /proc/PID/maps names them */
	char *path;		/* the kernel's text, " (deleted)" and all */
};

struct objects {
	pid_t pid, task; /* `task` is the thread through which the process is looked at */
	struct object *objects;
	size_t count;
	struct objects_mapping *mappings;
	size_t mapping_count;
};

/* Reads /proc/PID/task/TASK/maps, once. Returns 0 or -errno. */
int objects_read(struct objects *objects, pid_t pid, pid_t task);

/* Opens object `i` for reading. Returns a descriptor; -ESTALE if the path leads to another inode
 * now; else -errno. */
int objects_open(const struct objects *objects, size_t i);

/* Where `address`, as linked into object `i`, lies in the process. 0 = nowhere. */
uint64_t objects_address(
	const struct objects *objects, size_t i, const struct notes *notes, uint64_t address);

void objects_fini(struct objects *objects);

#endif
