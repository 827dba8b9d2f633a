/* SPDX-License-Identifier: MIT */
/* Names and states as the target's root shows them now, copied and checked.
 *
 * Everything read is taken as hostile: sizes and counts are bounded, pointers are only handed to
 * remote_copy(), names are escaped, chains of parents are cut. Nothing here can fail harder than
 * with an error or a missing name.
 */
#ifndef PROBE_DIRECTORY_H
#define PROBE_DIRECTORY_H

#include <stddef.h>
#include <stdint.h>

#include "probe/remote.h"
#include "runtime/abi.h"

#define DIRECTORY_NAMES_MAX 65536u /* ids have 16 bits */

struct directory_name {
	char *text; /* escaped, NULL = not published */
	uint32_t kind;
	uint32_t budget; /* of a dispatcher, 0 = none */
};

struct directory_table {
	struct directory_name *names;
	size_t count;
};

#define DIRECTORY_PAIRS_MAX 4096u

/* Which dispatchers run actors of which classes: dispatcher << 16 | class, each pair once. */
struct directory_pairs {
	uint32_t *pairs;
	size_t count;
};

/* What directory_read() reads beside names and loops. */
enum directory_more {
	DIRECTORY_ACTORS = 1, /* counts live actors */
	DIRECTORY_PAIRS = 2,  /* looks at the first tens of thousands of actors */
};

struct directory {
	uint32_t major, minor;
	uint32_t clock; /* enum actor_abi_clock */
	uint64_t first_ticks, first_monotonic_ns;
	struct directory_table classes, types, dispatchers;
	struct actor_abi_loop *loops; /* those that were ever used; `system` is escaped */
	uint64_t *addresses;	      /* of these, in the target */
	size_t loop_count;
	struct actor_abi_deep deep[ACTOR_ABI_DEEP];
	uint64_t *actors; /* live actors of each loop; only with DIRECTORY_ACTORS */
	struct directory_pairs pairs; /* only with DIRECTORY_PAIRS */
};

/* An actor whose path is asked for. */
struct directory_wish {
	uint64_t actor;		       /* slot 32 << 32 | generation: 32 bits, or only the low 16 */
	uint64_t mask;		       /* the bits of the generation that count */
	uint64_t full;		       /* out: its whole id, 0 = gone */
	uint32_t class_id, dispatcher; /* out */
	char *path;		       /* out: escaped, on the heap, NULL = gone or unreadable */
};

/* Reads everything at `root_address` into a new directory, and `more` of enum directory_more. 0, -ETIMEDOUT (the target hung the
 * reader), -EFAULT (unreadable), -EPROTO (not a root of ours), -EBUSY, -ENOMEM. Of a root with
 * another major version only major, minor and nothing else is filled, and the result is 0. */
int directory_read(
	struct directory **out, struct remote *remote, uint64_t root_address, unsigned int more);

/* Fills paths. The wishes are changed only if the result is 0. */
int directory_resolve(const struct directory *d, struct remote *remote,
	struct directory_wish *wishes, size_t count);

/* The name with this id as a heap copy, or "#id". */
char *directory_label(const struct directory_table *table, uint32_t id);

/* NULL is fine. */
void directory_free(struct directory *d);

#endif
