/* SPDX-License-Identifier: MIT */
/* Uprobes on sites of a file, limited to one process: by uprobe_multi links or by perf events.
 *
 * uprobe_multi is preferred: one descriptor per program, sleepable programs, no cost at the context
 * switches of the target, and CAP_BPF with CAP_PERFMON suffice. libbpf 1.1 cannot make such a link,
 * so the system call is made here.
 */
#ifndef PROBE_ATTACH_H
#define PROBE_ATTACH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define ATTACH_SITES_MAX 16 /* of one probe */
#define ATTACH_FDS_MAX	 128

enum attach_how {
	ATTACH_MULTI,
	ATTACH_PERF,
};

/* Value of BPF_TRACE_UPROBE_MULTI, which the kernel's headers of Debian 12 do not name yet. */
#define ATTACH_TYPE_MULTI 48

struct attach_sites {
	uint64_t offsets[ATTACH_SITES_MAX];
	uint64_t semaphores[ATTACH_SITES_MAX]; /* offsets in the file, 0 = none */
	uint32_t count;
};

struct attachment {
	int fds[ATTACH_FDS_MAX];
	uint32_t count;
};

/* Attaches a loaded program to sites of the file behind `file_fd`, in process `pid` only; with
 * ATTACH_PERF any live thread of it will do. Returns 0 or -errno, then nothing is added. */
int attach_add(struct attachment *a, enum attach_how how, int program_fd, int file_fd, pid_t pid,
	const struct attach_sites *sites);

/* Can this kernel limit a uprobe_multi link to a whole process? Loads nothing, needs a program
 * that was loaded with ATTACH_TYPE_MULTI. Returns 1, 0 or -errno. */
int attach_multi_works(int program_fd);

/* Takes all of them away; tens of milliseconds. NULL is fine. */
void attach_close(struct attachment *a);

#endif
