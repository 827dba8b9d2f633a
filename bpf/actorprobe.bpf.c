/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The programs: ledger mode's one, and those of trace mode, with one trap per event of enqueue,
 * turn_start, turn_end and dispatcher_yield.
 *
 * Each program exists twice. The first form is sleepable, for uprobe_multi links, and copies
 * records with bpf_copy_from_user, which waits for a page that is away. The form `_perf` is for
 * perf events, where sleeping is not possible and such a page costs the batch. Arguments are read
 * from the argument registers. Nothing is kept per CPU: a sleepable program may move.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>

#include "bpf/account.h"
#include "bpf/copy.h"
#include "bpf/fold.h"
#include "bpf/ledger.h"
#include "bpf/tally.h"

#define CHUNK  4u /* records that are copied to the stack at once */
#define CHUNKS (ACTOR_ABI_TURN_RECORDS / CHUNK)

/* What `turn_end` says, apart from the records themselves. */
struct hand {
	uint64_t actor;
	uint64_t address;
	uint64_t count;
	uint64_t meta; /* of a record that could not be read: class and dispatcher */
	bool whole;    /* ends with a turn record */
};

/* `left` records, mark or turn included, could not be had. */
static __always_inline void hand_lost(
	const struct hand *hand, uint64_t left, enum lost_reason reason, struct batch *batch)
{
	struct series_key key = key_of(hand->meta, hand->actor >> 32, hand->actor, batch);
	struct mail_series *series;

	if (hand->whole && left)
		left--;
	if (!left)
		return;
	series = SERIES_FIND(mails, &key, batch);
	if (series)
		__sync_fetch_and_add(&series->delivered, left);
	batch->messages += left;
	batch->lost[reason] += left;
}

/* Folds records 1 to count-1, after the mark. */
static __always_inline void hand_fold(const struct hand *hand, struct batch *batch, bool sleepable)
{
	struct actor_abi_record records[CHUNK] = {0};

	for (uint32_t at = 1; at < ACTOR_ABI_TURN_RECORDS; at += CHUNK) {
		uint64_t left = hand->count - at;
		uint64_t from = hand->address + at * sizeof(records[0]);
		uint32_t n = left < CHUNK ? left : CHUNK;

		if (at >= hand->count)
			return;
		if (copy(records, (n & 7) * sizeof(records[0]), from, sleepable)) {
			hand_lost(hand, left, LOST_COPY, batch);
			return;
		}
		for (uint32_t i = 0; i < CHUNK; i++)
			if (i < n)
				fold(records[i].meta, records[i].who, records[i].first,
					records[i].second, batch);
	}
}

static __always_inline int turn_end(struct pt_regs *ctx, bool sleepable)
{
	struct hand hand = {
		.actor = ARGUMENT(ctx, 0),
		.address = ARGUMENT(ctx, 2),
		.count = ARGUMENT(ctx, 3),
		.meta = actor_abi_meta(
			0, 0, 0, ARGUMENT(ctx, 5) & 0xffff, ARGUMENT(ctx, 1) & 0xffff),
		.whole = ARGUMENT(ctx, 4) != ACTOR_ABI_MORE,
	};
	struct loop_account *account = account_of(0, actor_abi_ref_loop(hand.actor));
	struct actor_abi_record mark = {0};
	struct batch batch = {.weight = 1};

	if (!account)
		return 0;
	if (hand.count == 0 || hand.count > ACTOR_ABI_TURN_RECORDS) {
		__sync_fetch_and_add(&batches_refused, 1);
		batch.lost[LOST_FORMAT] = batch.messages = 1;
		account_unreadable(account, &batch);
	} else if (copy(&mark, sizeof(mark), hand.address, sleepable)) {
		hand_lost(&hand, hand.count - 1, LOST_COPY, &batch);
		account_unreadable(account, &batch);
	} else if (actor_abi_meta_kind(mark.meta) != ACTOR_ABI_MARK ||
		   actor_abi_high16(mark.second) != actor_abi_ref_loop(hand.actor)) {
		hand_lost(&hand, hand.count - 1, LOST_FORMAT, &batch);
		account_unreadable(account, &batch);
	} else {
		hand_fold(&hand, &batch, sleepable);
		account_batch(account, mark.who, &batch);
	}
	return 0;
}

static __always_inline int enqueue(struct pt_regs *ctx)
{
	return tally_add(0, TALLY_ENQUEUED, ARGUMENT(ctx, 5), 0, 1);
}

static __always_inline int turn_start(struct pt_regs *ctx)
{
	return tally_add(0, TALLY_TURN_STARTS, ARGUMENT(ctx, 1), 0, 1);
}

static __always_inline int dispatcher_yield(struct pt_regs *ctx)
{
	return tally_add(0, TALLY_YIELDS, ARGUMENT(ctx, 0), ARGUMENT(ctx, 1), 1);
}

#define PROGRAM(section, name, call)                                                               \
	SEC(section)                                                                               \
	int name(struct pt_regs *ctx)                                                              \
	{                                                                                          \
		return call;                                                                       \
	}

PROGRAM("uprobe.s", on_ledger, ledger(ctx, true))
PROGRAM("uprobe.s", on_enqueue, enqueue(ctx))
PROGRAM("uprobe.s", on_turn_start, turn_start(ctx))
PROGRAM("uprobe.s", on_turn_end, turn_end(ctx, true))
PROGRAM("uprobe.s", on_dispatcher_yield, dispatcher_yield(ctx))
PROGRAM("uprobe", on_ledger_perf, ledger(ctx, false))
PROGRAM("uprobe", on_enqueue_perf, enqueue(ctx))
PROGRAM("uprobe", on_turn_start_perf, turn_start(ctx))
PROGRAM("uprobe", on_turn_end_perf, turn_end(ctx, false))
PROGRAM("uprobe", on_dispatcher_yield_perf, dispatcher_yield(ctx))

char LICENSE[] SEC("license") = "Dual MIT/GPL";
