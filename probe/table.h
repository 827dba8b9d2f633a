/* SPDX-License-Identifier: MIT */
/* Series by their ids, as the maps of the BPF programs have them: bounded, with one series that
 * takes the rest. Values never move and are zero at first. One thread at a time. */
#ifndef PROBE_TABLE_H
#define PROBE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/maps.h"

#define TABLE_RECENT 16 /* a power of two */

struct table_slot {
	uint64_t actor;
	uint64_t ids;
	void *value; /* NULL = free */
};

struct table {
	struct table_slot *slots;
	size_t size; /* a power of two, at least twice the count */
	size_t count;
	size_t most;
	size_t value_bytes;
	struct table_slot recent[TABLE_RECENT]; /* found lately, by a few bits of the ids */
	void *overflow;
};

void table_init(struct table *t, size_t most, size_t value_bytes);

void table_fini(struct table *t);

/* As table_find(), by searching. */
void *table_search(struct table *t, uint64_t actor, uint64_t ids, bool *overflowed);

/* Dispatcher and class of a series_key as one word. Keys stay in registers on the way here: one
 * that is put together in memory, and read as a whole, costs more than all the rest. */
static inline uint64_t table_ids(uint32_t dispatcher, uint32_t class_id)
{
	return (uint64_t)class_id << 32 | dispatcher;
}

static inline struct table_slot *table_recent(struct table *t, uint64_t actor, uint64_t ids)
{
	return &t->recent[(ids ^ ids >> 30 ^ actor >> 32) & (TABLE_RECENT - 1)];
}

/* The value of a key, else that of the overflow series with *overflowed set, else NULL when memory
 * is gone. */
static inline void *table_find(struct table *t, uint64_t actor, uint64_t ids, bool *overflowed)
{
	const struct table_slot *recent = table_recent(t, actor, ids);

	*overflowed = false;
	if (recent->value && recent->ids == ids && recent->actor == actor)
		return recent->value;
	return table_search(t, actor, ids, overflowed);
}

/* Calls `visit` for each series, the overflow series with the key that BPF gives it. */
void table_walk(const struct table *t,
	void (*visit)(void *context, const struct series_key *key, const void *value),
	void *context);

#endif
