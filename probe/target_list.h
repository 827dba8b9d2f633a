/* SPDX-License-Identifier: MIT */
/* Every process of this host that carries libactor, for the command `list`.
 *
 * Reading is all that happens: nothing is attached and nobody is disturbed. A process that may not
 * be read (another user's, without the right to trace it) is left out and counted.
 */
#ifndef PROBE_TARGET_LIST_H
#define PROBE_TARGET_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "probe/error.h"

struct target_entry {
	pid_t pid;
	char *command; /* short name of the process, escaped UTF-8 */
	char *exe;     /* path of its program as the kernel names it, escaped UTF-8 */
	char *object;  /* path of the mapped object that carries libactor */
	char *systems; /* names of its actor systems, comma-separated; "" = none yet */
	uint32_t abi_major, abi_minor;
	uint32_t loops;	 /* open loops */
	uint64_t actors; /* live actors over all open loops */
	uint32_t probes; /* probe sites found */
	bool attachable; /* `actorprobe -p PID` is expected to work */
	char *reason;	 /* why it is not attachable, one sentence; "" where it is */
};

struct target_list {
	struct target_entry *entries; /* by pid, ascending */
	size_t count;
	size_t unreadable; /* processes that could not be looked into for lack of rights */
};

/* Fills `list` (which must be zeroed or finished). Returns 0, or an error of probe/error.h. An
 * empty list is fine. */
int target_list_read(struct target_list *list, struct error *error);

/* Frees what the list owns and zeroes it. NULL is fine. */
void target_list_fini(struct target_list *list);

#endif
