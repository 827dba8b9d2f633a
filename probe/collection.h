/* SPDX-License-Identifier: MIT */
/* From the maps of the BPF programs, and the stream if there is one, to plain series and counters
 * with names. */
#ifndef PROBE_COLLECTION_H
#define PROBE_COLLECTION_H

#include "probe/aggregate.h"
#include "probe/directory.h"
#include "probe/pathbook.h"
#include "probe/programs.h"
#include "probe/stream.h"

/* What ids become names with. */
struct collection_names {
	const struct directory *directory;
	const struct pathbook *paths;
};

/* Where the numbers are. The stream must hold still meanwhile. */
struct collection_source {
	const struct programs *programs; /* NULL: only the stream, out of a recording */
	uint32_t target;	     /* its process id where the programs have many, else 0 */
	const struct stream *stream; /* NULL in trace mode */
	bool final;		     /* nothing is added any more */
};

/* Every actor that has a series of its own, as a heap array; 0 or -ENOMEM. */
int collection_actors(const struct collection_source *source, uint64_t **actors, size_t *count);

/* Adds series, counters and the account of all loops to `a`. Ids with equal names are added up, and
 * the series come sorted. 0 or -ENOMEM. */
int collection_fill(const struct collection_source *source, const struct collection_names *names,
	struct aggregate *a);

#endif
