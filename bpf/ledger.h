/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Ledger mode: one trap per hand-over. The batch is copied into the ring, and folded into the maps
 * here when the ring is full, so that nothing is lost while its reader is slow or stopped.
 *
 * With sampling each N-th hand-over of a loop is taken, and its messages stand for those that were
 * passed over since the last one: weights are whole numbers whose sum is exact.
 */
#ifndef BPF_LEDGER_H
#define BPF_LEDGER_H

#include "bpf/ring.h"
#include "bpf/walk.h"

/* Whether the probe says how many messages a hand-over holds: from ABI 1.1 on. */
const volatile bool messages_given = true;

/* Each how manyeth hand-over of a loop is taken; the collector may change it. */
volatile uint64_t sample_every = 1;

/* The batch did not go to the ring. Its loop is the only writer. */
static __always_inline void account_elsewhere(
	struct loop_account *account, const struct handed *handed, const struct batch *batch)
{
	__sync_fetch_and_add(&batches_elsewhere, 1);
	account_change(account);
	account->elsewhere += handed->messages;
	account->elsewhere_batches++;
	account->batches++;
	batch_add(&account->total, batch);
	account_change(account);
}

static __always_inline void account_folded(
	struct loop_account *account, const struct handed *handed, const struct batch *batch)
{
	__sync_fetch_and_add(&batches_elsewhere, 1);
	account_change(account);
	if (!account->known) {
		account->known = 1;
		account->first = handed->head.delivered;
		account->first_elsewhere = account->elsewhere;
		account->first_sequence = handed->head.sequence;
	}
	account->elsewhere += handed->messages;
	account->elsewhere_batches++;
	account->batches++;
	account->folded += handed->records;
	account->end = handed->head.delivered + handed->messages;
	account->end_elsewhere = account->elsewhere;
	account->sequence = handed->head.sequence;
	batch_add(&account->total, batch);
	account_change(account);
}

static __always_inline void handed_lost(
	struct loop_account *account, const struct handed *handed, enum lost_reason reason)
{
	struct batch batch = {.messages = handed->messages + handed->skipped};

	batch.lost[reason] = batch.messages;
	account_elsewhere(account, handed, &batch);
}

static __always_inline void handed_fold(
	struct loop_account *account, const struct handed *handed, bool sleepable)
{
	struct fold_walk walk = {
		.address = handed->address + sizeof(handed->head),
		.left = handed->records,
		.weight = 1,
		.batch = {.target = handed->target,
			.mult = handed->mult,
			.shift = handed->shift},
	};
	uint32_t chunks = (handed->records + LEDGER_CHUNK - 1) / LEDGER_CHUNK;

	if (handed->skipped && handed->messages) {
		walk.weight = (handed->messages + handed->skipped) / handed->messages;
		walk.heavier = (handed->messages + handed->skipped) % handed->messages;
	}
	if (sleepable)
		bpf_loop(chunks, walk_sleepable, &walk, 0);
	else
		bpf_loop(chunks, walk_perf, &walk, 0);
	if (walk.unread && handed->messages + handed->skipped > walk.batch.messages) {
		walk.batch.lost[LOST_COPY] +=
			handed->messages + handed->skipped - walk.batch.messages;
		walk.batch.messages = handed->messages + handed->skipped;
	}
	account_folded(account, handed, &walk.batch);
}

/* Reads the header; the batch behind it is as long as the probe said, or it is none of ours. */
static __always_inline int handed_read(struct handed *handed, uint64_t bytes, bool sleepable)
{
	const struct actor_abi_handover *head = &handed->head;

	if (copy(&handed->head, sizeof(handed->head), handed->address, sleepable))
		return LOST_COPY;
	if (bytes % sizeof(struct actor_abi_record) || head->count != handed->records ||
		head->major != ACTOR_ABI_MAJOR || head->loop != handed->loop)
		return LOST_FORMAT;
	return -1;
}

/* Passed over by sampling? */
static __always_inline bool handed_skip(struct loop_account *account, const struct handed *handed)
{
	uint64_t every = sample_every;

	if (every < 2 || account->hits % every == 0)
		return false;
	account->skipped += handed->messages;
	account->elsewhere += handed->messages;
	account->elsewhere_batches++;
	return true;
}

static __always_inline void handed_take(
	struct loop_account *account, struct handed *handed, bool sleepable)
{
	handed->skipped = handed->messages ? account->skipped : 0;
	account->skipped -= handed->skipped;
	switch (ring_put(handed, account, sleepable)) {
	case HANDED_TO_RING:
		break;
	case HANDED_TO_NOBODY:
		handed_fold(account, handed, sleepable);
		break;
	case HANDED_UNREADABLE:
		handed_lost(account, handed, LOST_COPY);
		break;
	}
}

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct target_entry);
} targets SEC(".maps");

/* Whose hand-over it is, where there are many. False: it is not to be observed. */
static __always_inline bool handed_by(struct handed *handed)
{
	const struct target_entry *entry;
	struct target_entry fresh = {0};
	uint32_t target = bpf_get_current_pid_tgid() >> 32;

	handed->target = target;
	entry = bpf_map_lookup_elem(&targets, &target);
	if (entry) {
		handed->mult = entry->mult;
		handed->shift = entry->shift;
		return !entry->ignored;
	}
	bpf_get_current_comm(fresh.command, sizeof(fresh.command));
	bpf_map_update_elem(&targets, &target, &fresh, BPF_NOEXIST);
	return true;
}

static __always_inline int ledger(struct pt_regs *ctx, bool sleepable)
{
	uint64_t began = bpf_ktime_get_ns(), bytes = ARGUMENT(ctx, 1), loop = ARGUMENT(ctx, 2);
	struct handed handed = {.address = ARGUMENT(ctx, 0), .loop = loop};
	struct loop_account *account = NULL;
	int lost;

	if (many && !handed_by(&handed))
		return 0;
	if (loop < ACTOR_ABI_LOOPS)
		account = account_of(handed.target, loop);
	if (!account) {
		__sync_fetch_and_add(&batches_refused, 1);
		return 0;
	}
	handed.records = (bytes - sizeof(handed.head)) / sizeof(struct actor_abi_record);
	handed.messages = messages_given ? ARGUMENT(ctx, 3) : handed.records;
	if (bytes < sizeof(handed.head) || handed.records > LEDGER_RECORDS_MAX ||
		handed.messages > handed.records) {
		handed.messages = 1; /* nobody can know how many */
		handed_lost(account, &handed, LOST_FORMAT);
	} else if (!handed_skip(account, &handed)) {
		lost = handed_read(&handed, bytes, sleepable);
		if (lost < 0)
			handed_take(account, &handed, sleepable);
		else
			handed_lost(account, &handed, lost);
	}
	account->hits++;
	account->spent_ns += bpf_ktime_get_ns() - began;
	return 0;
}

#endif
