/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The account of each loop: what was delivered, by its own counters, and what became of it. */
#ifndef BPF_ACCOUNT_H
#define BPF_ACCOUNT_H

#include "bpf/maps.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY); /* a hash where there are many targets */
	__uint(max_entries, ACTOR_ABI_LOOPS);
	__type(key, uint32_t);
	__type(value, struct loop_account);
} loops SEC(".maps");

/* Batches for which no loop can be named. */
uint64_t batches_refused;

/* Batches of ledger mode that did not go to the ring: while there are none, no map has anything. */
uint64_t batches_elsewhere;

/* One set of programs for all processes that run a file. */
const volatile bool many = false;

static const volatile struct loop_account loops_zero;

static __always_inline struct loop_account *account_of(uint32_t target, uint32_t loop)
{
	uint32_t key = maps_loop_key(target, loop);
	struct loop_account *account = bpf_map_lookup_elem(&loops, &key);

	if (account || !many)
		return account;
	bpf_map_update_elem(&loops, &key, (const void *)&loops_zero, BPF_NOEXIST);
	return bpf_map_lookup_elem(&loops, &key);
}

/* Relaxed stores suffice on x86; elsewhere the atomic addition of the version orders them. */
static __always_inline void account_change(struct loop_account *account)
{
	__sync_fetch_and_add(&account->version, 1);
}

static __always_inline void batch_add(struct batch *to, const struct batch *from)
{
	to->messages += from->messages;
	to->recorded += from->recorded;
	to->unstamped += from->unstamped;
#pragma unroll
	for (int i = 0; i < LOST_REASONS; i++)
		to->lost[i] += from->lost[i];
	to->clamped += from->clamped;
	to->turns_lost += from->turns_lost;
	to->overflow += from->overflow;
}

/* Adds a batch whose mark said `before`. The writer is the loop's own thread, alone. A counter that
 * went back belongs to a new program in the same process, or to a new loop with the old number. */
static __always_inline void account_batch(
	struct loop_account *account, uint64_t before, const struct batch *batch)
{
	account_change(account);
	if (account->known && before != account->end) {
		account->gaps++;
		if (before > account->end)
			account->delivered += before - account->end;
	}
	account->known = 1;
	account->end = before + batch->messages;
	account->delivered += batch->messages;
	account->batches++;
	batch_add(&account->total, batch);
	account_change(account);
}

/* Adds a batch whose mark could not be read: it goes on from the batch before it. */
static __always_inline void account_unreadable(
	struct loop_account *account, const struct batch *batch)
{
	account_change(account);
	account->end += batch->messages;
	account->delivered += batch->messages;
	account->batches++;
	batch_add(&account->total, batch);
	account_change(account);
}

#endif
