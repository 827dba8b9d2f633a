/* SPDX-License-Identifier: MIT */
/* Drives tests/load.c from a test, and looks at its probe sites from outside. */
#ifndef TESTS_LOADED_H
#define TESTS_LOADED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "probe/notes.h"
#include "tests/load.h"

struct loaded {
	pid_t pid;
	FILE *in, *out;
	struct load_counts *counts;
	char line[128]; /* its last one */
	/* where its probes lie; looked up when they are first asked for */
	int memory;
	uint32_t sites;
	uint64_t semaphores[NOTES_SITES_MAX];
	uint64_t nops[NOTES_SITES_MAX];
};

/* Starts the program, with arguments separated by single blanks, and waits until it is ready. */
void loaded_start(struct loaded *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same with another file in place of the program. */
void loaded_start_file(struct loaded *l, const char *program, const char *arguments);

/* Where the program of this build lies. */
const char *loaded_program(void);

/* Sends it a line; reads lines until one begins with `what`, and gives what follows there. */
void loaded_say(struct loaded *l, const char *line);
const char *loaded_expect(struct loaded *l, const char *what);

/* Handlers that began so far, by its own count. */
uint64_t loaded_handled(const struct loaded *l);

/* Kills it. Fine also if it has ended. */
void loaded_stop(struct loaded *l);

/* How many of its semaphores are not 0, and how many of its sites hold another instruction than the
 * one-byte nop. */
uint32_t loaded_semaphores(struct loaded *l);
uint32_t loaded_traps(struct loaded *l);

/* Waits at most so long until all semaphores are 0 and all sites are as they were. */
bool loaded_clean_within(struct loaded *l, unsigned int ms);

#endif
