/* SPDX-License-Identifier: MIT */
/* Asks the kernel when the threads of a target's loops ran, waited for a CPU, and blocked in what. */
#ifndef PROBE_SCHEDULE_H
#define PROBE_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/schedule.h"

struct schedule;

/* A loop's thread, by the host's id, and where in the target the id of its running actor stands. */
struct schedule_wish {
	pid_t task;
	uint64_t slot;
};

/* Loads and attaches. 0, or -errno: then `*why` is a sentence on the heap. */
int schedule_open(
	struct schedule **out, const struct schedule_wish *wishes, size_t count, char **why);

/* Calls `visit` for each actor and call. 0 or -errno. */
int schedule_visit(const struct schedule *s,
	void (*visit)(void *data, const struct schedule_key *key, const struct schedule_time *time),
	void *data);

/* Times that found no room. */
uint64_t schedule_lost(const struct schedule *s);

/* Takes the programs away; what they found stays. NULL is fine. */
void schedule_stop(struct schedule *s);

/* NULL is fine. */
void schedule_close(struct schedule *s);

#endif
