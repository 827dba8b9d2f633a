/* SPDX-License-Identifier: MIT */
/* What this host says of a process: its command, its program and the container it runs in. */
#ifndef PROBE_FACTS_H
#define PROBE_FACTS_H

#include <sys/types.h>

/* Escaped text on the heap; NULL = unknown. */
struct facts {
	pid_t pid;
	char *command;
	char *exe;	 /* path of its program, as the kernel names it */
	char *cgroup;	 /* path of its control group */
	char *container; /* id of its container, NULL also where there is none */
};

/* Reads what can be read; nothing of it fails. `task` is a live thread of the process. */
void facts_read(struct facts *f, pid_t pid, pid_t task);

/* The id in a control group's path: its last run of 64 hexadecimal digits, as a heap copy, or NULL.
 * Docker, containerd, CRI-O and Podman name their groups so. */
char *facts_container(const char *cgroup);

void facts_fini(struct facts *f);

#endif
