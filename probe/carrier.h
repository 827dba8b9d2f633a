/* SPDX-License-Identifier: MIT */
/* Finds which of the files that a process runs carries libactor. */
#ifndef PROBE_CARRIER_H
#define PROBE_CARRIER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "probe/notes.h"
#include "probe/objects.h"

/* Files that are known not to carry libactor, for who looks at many processes. */
struct carrier_others {
	struct {
		uint64_t device, inode;
	} * files;
	size_t count, room;
};

/* The first object that carries libactor's root and probes: its number with `fd` and `notes`
 * filled; -ENOENT if there is none, -ESTALE if a file that may carry it is no longer to be had, or
 * what kept the program itself from being parsed: -ENOEXEC for 32 bits, -EXDEV for another machine.
 * `others` may be NULL. */
ssize_t carrier_find(
	const struct objects *objects, struct notes *notes, int *fd, struct carrier_others *others);

#endif
