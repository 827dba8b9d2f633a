/* SPDX-License-Identifier: MIT */
/* The root structure that observers read, and the growing tables below it. */
#ifndef ACTOR_ROOT_H
#define ACTOR_ROOT_H

#include "abi.h"

extern struct actor_abi_root actor_root __attribute__((visibility("hidden")));

/* Makes the root ready once per process. Any thread. */
void actor__root_init(void);

/* The entry with this number, or NULL where its segment does not exist. */
static inline void *actor__table_at(const struct actor_abi_table *table, uint32_t index)
{
	const uint64_t *segments = (const uint64_t *)(uintptr_t)table->segments;
	uint64_t segment = segments[index / table->segment_entries];

	if (!segment)
		return 0;
	return (void *)(uintptr_t)(segment +
				   (uint64_t)(index % table->segment_entries) * table->entry_bytes);
}

#endif
