/* SPDX-License-Identifier: MIT */
/* A table of things by number: open addressing, at most half full, 16 bytes per place.
 *
 * Numbers are scattered by the golden ratio: in a row they would be one long probe sequence, which
 * each look-up of a missing one and each removal walks to its end (Knuth, TAOCP vol. 3, 6.4). The
 * table grows by doubling and is given up when it is empty. Used by one thread. */
#ifndef ACTOR_INDEX_H
#define ACTOR_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct actor__index_place {
	uint64_t key;
	void *value; /* NULL: free */
};

/* All zero: empty. */
struct actor__index {
	struct actor__index_place *places;
	uint32_t room; /* power of two */
	uint32_t count;
};

void actor__index_fini(struct actor__index *index);

/* Adds a key that is not there. False: no memory. After a removal there is always room for one. */
bool actor__index_add(struct actor__index *index, uint64_t key, void *value);

/* What was added by this key, or NULL. */
void *actor__index_find(const struct actor__index *index, uint64_t key);

/* Removes a key that is there. */
void actor__index_remove(struct actor__index *index, uint64_t key);

/* Gives the memory back if nothing is left and it was much. */
void actor__index_rest(struct actor__index *index);

#endif
