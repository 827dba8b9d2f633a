/* SPDX-License-Identifier: MIT */
/* What /proc says of the threads of a target's loops, and of the host's time. */
#ifndef PROBE_THREADS_H
#define PROBE_THREADS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The host's id of the thread that calls itself `thread` inside the target; 0: there is none. */
pid_t threads_find(pid_t pid, uint32_t thread);

/* Time on a CPU and time in which it could have run. 0 or -errno. */
int threads_time(pid_t pid, pid_t task, uint64_t *cpu_ns, uint64_t *starved_ns);

/* Its state as ps has it, 0 if unreadable, and the system call it is in: true if that is known, then
 * `*call` is negative outside of any. */
char threads_state(pid_t pid, pid_t task);
bool threads_call(pid_t pid, pid_t task, int64_t *call);

/* All of the host's time so far, and what its own host took of it, in the same unit. */
int threads_steal(uint64_t *all, uint64_t *steal);

#endif
