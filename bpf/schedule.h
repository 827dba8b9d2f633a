/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What the scheduler's programs keep: who was blocked or runnable in which turn, for how long. */
#ifndef BPF_SCHEDULE_H
#define BPF_SCHEDULE_H

#include <stdint.h>

#define SCHEDULE_THREADS  256u
#define SCHEDULE_ROWS	  8192u
#define SCHEDULE_RUNNABLE INT64_MIN /* as a call: not blocked, waiting for a CPU */

enum schedule_state {
	SCHEDULE_UNKNOWN = 0, /* not seen to switch yet */
	SCHEDULE_RUNNING = 1,
	SCHEDULE_BLOCKED = 2,
	SCHEDULE_READY = 3,
};

/* A thread of a loop; written by the collector before the programs are attached, then by them. */
struct schedule_thread {
	uint64_t slot;	/* address of the running actor's id in the target */
	uint64_t actor; /* when it was switched out; 0: outside of any turn */
	uint64_t since_ns;
	int64_t call;	/* the system call it was switched out in, below 0 none */
	uint64_t state; /* enum schedule_state */
};

struct schedule_key {
	uint64_t actor;
	int64_t call;
};

struct schedule_time {
	uint64_t ns;
	uint64_t max_ns;
	uint64_t count;
};

#endif
