/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Plain counters by class or dispatcher, for events that carry no interval. */
#ifndef BPF_TALLY_H
#define BPF_TALLY_H

#include "bpf/maps.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, MAPS_TALLIES);
	__type(key, struct tally_key);
	__type(value, uint64_t);
} tallies SEC(".maps");

/* Events whose counter found no room. */
uint64_t tallies_lost;

/* Counts events. Ids that are not 16-bit numbers, and those beyond the cap, share one counter of
 * their family. Returns 0. */
static __always_inline int tally_add(
	uint64_t target, uint32_t family, uint64_t id, uint64_t reason, uint64_t count)
{
	const uint64_t zero = 0;
	struct tally_key key = {
		.family = family,
		.id = id > UINT16_MAX ? MAPS_OVERFLOW : id,
		.reason = reason > UINT16_MAX ? MAPS_OVERFLOW : reason,
		.target = target,
	};
	uint64_t *value = bpf_map_lookup_elem(&tallies, &key);

	if (!value) {
		bpf_map_update_elem(&tallies, &key, &zero, BPF_NOEXIST);
		value = bpf_map_lookup_elem(&tallies, &key);
	}
	if (!value) { /* the loader has put it in beforehand, if there is one target */
		key.id = MAPS_OVERFLOW;
		key.reason = 0;
		value = bpf_map_lookup_elem(&tallies, &key);
	}
	__sync_fetch_and_add(value ? value : &tallies_lost, count);
	return 0;
}

#endif
