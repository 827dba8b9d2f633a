/* SPDX-License-Identifier: MIT */
/* Reads the header Accept of a request: which media types are wanted, and how much. */
#ifndef PROBE_ACCEPT_H
#define PROBE_ACCEPT_H

#include <stdbool.h>
#include <stddef.h>

#define ACCEPT_PARAMETERS_MAX 8
#define ACCEPT_QUALITY_MAX    1000

/* A piece of the header; without a NUL, never NULL. */
struct accept_piece {
	const char *bytes;
	size_t count;
};

/* One range, like "text/plain;version=0.0.4;q=0.5". */
struct accept_range {
	struct accept_piece type;    /* "text", "*" */
	struct accept_piece subtype; /* "plain", "*" */
	struct {
		struct accept_piece name;
		struct accept_piece value;   /* without its quotes */
	} parameters[ACCEPT_PARAMETERS_MAX]; /* all but q */
	size_t parameter_count;
	unsigned int quality; /* thousandths; 0 = not wanted */
};

/* Reads the next range at `*at` and goes on behind it. Ranges that are malformed, or have more
 * parameters than there is room for, are passed over. False at the end. */
bool accept_next(const char **at, struct accept_range *range);

/* Equal without regard to case. */
bool accept_is(struct accept_piece piece, const char *text);

#endif
