/* SPDX-License-Identifier: MIT */
/* Taking, filling and giving up entries of the table of deep mailboxes. */
#include "deep.h"

#include "root.h"

uint8_t actor__deep_enter(uint64_t actor)
{
	for (uint32_t i = 0; i < ACTOR_ABI_DEEP; i++) {
		uint64_t none = 0;

		if (__atomic_compare_exchange_n(&actor_root.deep[i].actor, &none, actor, 0,
			    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return (uint8_t)(i + 1);
	}
	return 0;
}

uint8_t actor__deep_write(uint8_t number, uint64_t depth, uint64_t oldest)
{
	struct actor_abi_deep *entry = &actor_root.deep[number - 1];
	int stays = depth >= ACTOR__DEEP;

	/* Depth 0 is for readers no entry: neither before it was filled, nor while it is left. */
	__atomic_store_n(&entry->oldest_ticks, stays ? oldest : 0, __ATOMIC_RELAXED);
	__atomic_store_n(&entry->depth, stays ? depth : 0, __ATOMIC_RELEASE);
	if (stays)
		return number;
	__atomic_store_n(&entry->actor, 0, __ATOMIC_RELEASE);
	return 0;
}
