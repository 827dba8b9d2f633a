/* SPDX-License-Identifier: MIT */
/* A running process that carries libactor: who it is, its running file, its probes and its root. */
#ifndef PROBE_TARGET_H
#define PROBE_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "probe/error.h"
#include "probe/notes.h"
#include "probe/objects.h"

struct target {
	pid_t pid;     /* of the process, also where a thread's id was given */
	pid_t task;    /* a live thread of it; another than pid where the main thread has ended */
	int pid_fd;    /* becomes readable when the process ends */
	int object_fd; /* the running file that carries libactor */
	uint64_t start_time; /* clock ticks since boot: tells a reused pid */
	char *command;	     /* escaped */
	char *object_path;   /* escaped */
	struct notes notes;
	uint64_t root_address; /* in the process */
};

/* Looks into the process with this id. Returns 0 or an error; nothing stays open then. */
int target_open(struct target *t, pid_t pid, struct error *error);

/* Looks for libactor again in a process that was opened, after it executed a program. On failure
 * the target stays as it was. */
int target_renew(struct target *t, struct error *error);

/* Is it still the process that was opened? */
bool target_alive(const struct target *t);

/* The sentence for a process whose memory may not be read. Returns the exit code. */
int target_permission_error(pid_t pid, struct error *error);

/* NULL or a zeroed one is fine. */
void target_close(struct target *t);

/* A live thread through which the files and the memory of `pid` can be reached; 0 = none. */
pid_t target_task(pid_t pid);

/* The short name of a process as a heap copy, escaped. */
char *target_command(pid_t pid);

#endif
