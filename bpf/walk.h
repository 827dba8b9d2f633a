/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Folds the records of a hand-over, some at a time, by bpf_loop: a plain loop exhausts the
 * verifier. */
#ifndef BPF_WALK_H
#define BPF_WALK_H

#include "bpf/copy.h"
#include "bpf/fold.h"

#define LEDGER_CHUNK 8u /* records that are copied to the stack at once */

struct fold_walk {
	uint64_t address;
	uint64_t left;
	uint64_t weight; /* of each record, and of so many messages one more */
	uint64_t heavier;
	uint64_t unread; /* records, if the copy failed */
	struct batch batch;
};

static __always_inline void walk_record(struct fold_walk *walk, const struct actor_abi_record *r)
{
	uint32_t kind = actor_abi_meta_kind(r->meta);

	if (kind == ACTOR_ABI_MARK)
		return; /* trace mode's */
	walk->batch.weight = walk->weight;
	if (kind == ACTOR_ABI_MESSAGE && walk->heavier) {
		walk->heavier--;
		walk->batch.weight++;
	}
	fold(r->meta, r->who, r->first, r->second, &walk->batch);
}

static __always_inline long walk_chunk(struct fold_walk *walk, bool sleepable)
{
	struct actor_abi_record records[LEDGER_CHUNK] = {0};
	uint32_t n = walk->left < LEDGER_CHUNK ? walk->left : LEDGER_CHUNK;

	if (copy(records, (n & 15) * sizeof(records[0]), walk->address, sleepable)) {
		walk->unread = walk->left;
		return 1;
	}
	for (uint32_t i = 0; i < LEDGER_CHUNK; i++)
		if (i < n)
			walk_record(walk, &records[i]);
	walk->address += n * sizeof(records[0]);
	walk->left -= n;
	return 0;
}

static long walk_sleepable(uint32_t index, struct fold_walk *walk)
{
	(void)index;
	return walk_chunk(walk, true);
}

static long walk_perf(uint32_t index, struct fold_walk *walk)
{
	(void)index;
	return walk_chunk(walk, false);
}

#endif
