/* SPDX-License-Identifier: MIT */
/* Series by their ids, as the maps of the BPF programs have them: bounded, with one series that
 * takes the rest. Values never move and are zero at first. One thread at a time. */
#ifndef PROBE_TABLE_H
#define PROBE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/maps.h"

struct table_slot {
	struct series_key key;
	void *value; /* NULL = free */
};

struct table {
	struct table_slot *slots;
	size_t size; /* a power of two, at least twice the count */
	size_t count;
	size_t most;
	size_t value_bytes;
	struct table_slot last; /* found last time */
	void *overflow;
};

void table_init(struct table *t, size_t most, size_t value_bytes);

void table_fini(struct table *t);

/* As table_find(), by searching. */
void *table_search(struct table *t, const struct series_key *key, bool *overflowed);

static inline bool table_same(const struct series_key *a, const struct series_key *b)
{
	return a->dispatcher == b->dispatcher && a->class_id == b->class_id && a->actor == b->actor;
}

/* The value of a key, else that of the overflow series with *overflowed set, else NULL when memory
 * is gone. */
static inline void *table_find(struct table *t, const struct series_key *key, bool *overflowed)
{
	*overflowed = false;
	if (t->last.value && table_same(&t->last.key, key))
		return t->last.value;
	return table_search(t, key, overflowed);
}

/* Calls `visit` for each series, the overflow series with the key that BPF gives it. */
void table_walk(const struct table *t,
	void (*visit)(void *context, const struct series_key *key, const void *value),
	void *context);

#endif
