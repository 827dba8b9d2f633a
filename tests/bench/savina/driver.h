/* SPDX-License-Identifier: MIT */
/* The driver: has a play given again and again, checks each report, prints the times. */
#ifndef SAVINA_DRIVER_H
#define SAVINA_DRIVER_H

#include "savina.h"

#define REPETITIONS_MAX 64

struct wish {
	const struct play *play;
	uint64_t n;
	uint64_t loops;	      /* 1: the caller's loop; 2: two loops with threads */
	uint64_t repetitions; /* after one that is not counted */
	uint64_t amiss;	      /* 1: expects something wrong */
	struct report expected;
};

/* Starts it on the system's first loop. At the end it closes a system on the caller's loop. */
int driver_start(struct actor_system *system, const struct wish *wish);
/* Waits for the end of a driver whose loops have threads. */
void driver_wait(void);

#endif
