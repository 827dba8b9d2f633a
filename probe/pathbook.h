/* SPDX-License-Identifier: MIT */
/* Paths of actors by the short ids of the maps, kept once learned: an actor may be gone later. */
#ifndef PROBE_PATHBOOK_H
#define PROBE_PATHBOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/directory.h"

struct pathbook_row {
	uint64_t actor; /* slot 32 << 32 | low 16 bits of the generation */
	char *path;
	bool recorded; /* a recording has it */
};

struct pathbook {
	struct pathbook_row *rows; /* by actor, ascending */
	size_t count;
};

/* Looks up those of the actors that are not known yet. One that is already gone is known as
 * "#loop.index" from then on; if the target cannot be read, nothing is learned. */
int pathbook_learn(struct pathbook *book, const struct directory *d, struct remote *remote,
	const uint64_t *actors, size_t count);

/* Adds paths that are known otherwise, and takes them over, also on failure. Their order, and one row
 * for each, come with pathbook_sort(). `*room` is the caller's, 0 at first. 0, -ENOMEM or -E2BIG. */
int pathbook_append(struct pathbook *book, size_t *room, uint64_t actor, char *path);
void pathbook_sort(struct pathbook *book);

/* The path as a heap copy, or "#loop.index". */
char *pathbook_label(const struct pathbook *book, uint64_t actor);

void pathbook_fini(struct pathbook *book);

#endif
