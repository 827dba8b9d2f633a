/* SPDX-License-Identifier: MIT */
/* What tests/load.c tells of itself in memory that it shares with the test.
 *
 * It is the program's own account: counted and measured by its handlers, with the public header of
 * libactor alone, whether anybody observes the program or not.
 */
#ifndef TESTS_LOAD_H
#define TESTS_LOAD_H

#include <stdatomic.h>
#include <stdint.h>

#define LOAD_COUNTS_FD 3 /* the shared memory, if it is there */
#define LOAD_LOOPS     8
#define LOAD_ACTORS    12
#define LOAD_OPEN      7 /* messages of load_open.c that are on their way at a time */
#define LOAD_SAMPLES   65536

/* load_boxes.c: what stays in each mailbox, and the drops by reason; all different primes. */
#define LOAD_CAPACITY	 7
#define LOAD_DROP_HEAD	 101
#define LOAD_DROP_NEW	 103
#define LOAD_DROP_LOWEST 107
#define LOAD_DROP_REJECT 109
#define LOAD_DROP_CUSTOM 113
#define LOAD_DROP_LOST	 127
#define LOAD_DEEP	 20011

/* load_lives.c: how many actors do what; all different primes. */
#define LOAD_CREATED	       41
#define LOAD_TERMINATED	       17
#define LOAD_DEAD_LETTERS      23
#define LOAD_LEFT	       7 /* in mailboxes of those that end */
#define LOAD_RESTARTED	       13
#define LOAD_DISPATCHER_ERRORS 5

struct load_samples {
	uint32_t count; /* those beyond LOAD_SAMPLES are not kept */
	uint64_t sum_ns;
	uint64_t ns[LOAD_SAMPLES];
};

struct load_counts {
	_Atomic uint64_t
		handled[LOAD_LOOPS]; /* handlers that began, by loop; each one its own writer */
	_Atomic uint64_t told;
	_Atomic uint64_t turns; /* the runtime's own count of turns, once all is handled */
	/* One loop only. Handler: first to last instruction of it. Wait: before the tell, to the
	 * first instruction of the handler. Delay: execute to run, by a dispatcher that wraps. */
	struct load_samples handler, wait, delay;
	/* A backlog only: from the last instruction of the handler before to the first of this. */
	struct load_samples between;
};

#endif
