/* SPDX-License-Identifier: MIT */
/* What is gathered so far: the tables between gather.c, which adds to them, and gather_fill.c. */
#ifndef PROBE_GATHERED_H
#define PROBE_GATHERED_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/maps.h"
#include "probe/calibration.h"

#define GATHERED_CLASSES     512u
#define GATHERED_DISPATCHERS 256u /* by id; a program has a handful */
#define GATHERED_ACTORS_BITS 15
#define GATHERED_ACTORS	     (1u << GATHERED_ACTORS_BITS) /* places */
#define GATHERED_ACTORS_MOST (GATHERED_ACTORS / 2)
#define GATHERED_SENDERS     6u

struct gathered_times {
	uint64_t sum, max, count;
	uint32_t buckets[BOUNDS_COUNT + 1];
};

struct gathered_class {
	uint32_t dispatcher, class_id; /* 0, 0 = free */
	uint64_t actors, messages, foreign, unsent;
	struct gathered_times wait, handler, turn, delay;
	uint64_t turns, budget_turns, failed_turns, restarts;
	uint32_t cap;
	uint64_t blocked_ns, blocked_max_ns, runnable_ns;
	struct {
		int64_t call;
		uint64_t ns;
	} calls[4];
};

/* Frequent senders, by Misra and Gries: one that sends more than a seventh is never missed. */
struct gathered_sender {
	uint32_t slot;
	uint64_t count;
};

struct gathered_actor {
	uint64_t key; /* slot 32 << 32 | low 16 bits of the generation; 0 = free */
	struct gathered_class *of;
	uint64_t messages, wait_ns, turns, turn_ns;
	uint64_t first_at_ns, first_wait_ns, last_at_ns, last_wait_ns;
	uint32_t depth;
	bool many_senders;
	struct gathered_sender senders[GATHERED_SENDERS];
};

struct gathered_dispatcher {
	struct gathered_times delay;
	uint64_t turns, turn_ns, yields[2], units, left;
};

struct gathered_loop {
	struct gathered_times gap;
	uint64_t first_ns, last_ns; /* of its batches */
	uint64_t polled_ns;	    /* last batch that had a poll in it */
	uint64_t unpolled_ns;	    /* longest time of batches without */
	uint64_t turn_ns;
};

struct gather {
	struct calibration calibration;
	struct gathered_class classes[GATHERED_CLASSES];
	struct gathered_actor actors[GATHERED_ACTORS];
	size_t actor_count;
	struct gathered_dispatcher *dispatchers[GATHERED_DISPATCHERS];
	struct gathered_loop *loops[ACTOR_ABI_LOOPS];
	uint64_t unplaced; /* records that found no room */
	uint64_t began_ns;
};

#endif
