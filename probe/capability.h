/* SPDX-License-Identifier: MIT */
/* Which rights this process has, and how to name those that are missing. */
#ifndef PROBE_CAPABILITY_H
#define PROBE_CAPABILITY_H

#include <stdbool.h>
#include <stddef.h>

enum capability {
	CAPABILITY_SYS_PTRACE = 19,
	CAPABILITY_SYS_ADMIN = 21,
	CAPABILITY_PERFMON = 38,
	CAPABILITY_BPF = 39,
};

/* Is it effective now? */
bool capability_have(enum capability capability);

/* "CAP_BPF and CAP_PERFMON": those of the list that are missing; "" if none is. Ends at -1. */
const char *capability_missing(char *to, size_t bytes, const int *wanted);

/* Gives up every capability of this thread for good. Returns 0 or -errno. */
int capability_drop_all(void);

/* Gives up all but one, if it is there. Returns 0 or -errno. */
int capability_drop_others(enum capability kept);

/* Gives up all but those of the list that are there; it ends at -1. Returns 0 or -errno. */
int capability_keep(const int *kept);

/* Lays them aside, and takes up again those that are permitted. Return 0 or -errno. */
int capability_rest(void);
int capability_resume(void);

#endif
