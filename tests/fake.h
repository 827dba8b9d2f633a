/* SPDX-License-Identifier: MIT */
/* Drives tests/fake_target.c from a test. */
#ifndef TESTS_FAKE_H
#define TESTS_FAKE_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct fake {
	pid_t pid;
	FILE *in, *out;
	uint64_t hole; /* an address that cannot be read */
};

/* Starts the program; its clock is "monotonic" or "tsc". */
void fake_start(struct fake *f, const char *clock);

/* The same with a copy of the program at another path. */
void fake_start_as(struct fake *f, const char *program, const char *clock);

/* Sends one line, as printf does, and returns the number in the answer, 0 for "ok". */
long fake_tell(struct fake *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

void fake_stop(struct fake *f);

#endif
