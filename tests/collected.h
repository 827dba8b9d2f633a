/* SPDX-License-Identifier: MIT */
/* Reads what `actorprobe hist -j` printed. */
#ifndef TESTS_COLLECTED_H
#define TESTS_COLLECTED_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "bpf/bounds.h"

/* Sums an integer over all lines that hold the text `what`. */
json_int_t collected_sum(const char *out, const char *what, const char *key);

/* The last accounting object. */
struct collected {
	uint64_t before; /* messages of the loops before the first hand-over */
	uint64_t delivered, recorded, unstamped, lost;
	bool alive;
};

struct collected collected_account(const char *out);

/* One histogram: the line that holds both texts. `count` 0: there is none. */
struct collected_histogram {
	uint64_t count;
	double p50, p99, max, sum;	    /* seconds */
	uint64_t buckets[BOUNDS_COUNT + 1]; /* not cumulative, in the order of bounds_ns */
};

struct collected_histogram collected_times(const char *out, const char *metric, const char *label);

#endif
