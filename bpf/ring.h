/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Puts a hand-over into the ring. A reservation must have a constant size, so that there are
 * classes of sizes. The reader polls; it is woken only when much is waiting. */
#ifndef BPF_RING_H
#define BPF_RING_H

#include "bpf/account.h"
#include "bpf/copy.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_BYTES);
} ring SEC(".maps");

struct handed {
	uint64_t address;
	uint64_t records;
	uint64_t messages;
	uint64_t skipped;
	uint32_t loop;
	uint32_t target; /* 0 unless there are many */
	uint64_t mult;	 /* of its clock, see struct batch */
	uint64_t shift;
	struct actor_abi_handover head;
};

/* What became of a batch. */
enum handed_to { HANDED_TO_RING, HANDED_TO_NOBODY, HANDED_UNREADABLE };

static __always_inline uint64_t wake_flag(uint64_t bytes)
{
	uint64_t waiting = bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA);

	/* Only who crosses the line wakes: the reader may be stopped. */
	return waiting >= RING_WAKE && waiting < RING_WAKE + 2 * bytes ? BPF_RB_FORCE_WAKEUP
								       : BPF_RB_NO_WAKEUP;
}

#define RING_PUT(room)                                                                             \
	do {                                                                                       \
		const uint64_t size_ =                                                             \
			sizeof(struct ring_batch) + (room) * sizeof(struct actor_abi_record);      \
		struct ring_batch *to = bpf_ringbuf_reserve(&ring, size_, 0);                      \
		uint64_t bytes_ = handed->records * sizeof(struct actor_abi_record);               \
                                                                                                   \
		if (!to)                                                                           \
			return HANDED_TO_NOBODY;                                                   \
		to->records = handed->records;                                                     \
		to->loop = handed->loop;                                                           \
		to->messages = handed->messages;                                                   \
		to->skipped = handed->skipped;                                                     \
		to->elsewhere = account->elsewhere;                                                \
		to->elsewhere_batches = account->elsewhere_batches;                                \
		to->head = handed->head;                                                           \
		to->head.spare = handed->target;                                                   \
		if (bytes_ > (room) * sizeof(struct actor_abi_record))                             \
			bytes_ = (room) * sizeof(struct actor_abi_record);                         \
		if (bytes_ &&                                                                      \
			copy(to->record, bytes_, handed->address + sizeof(to->head), sleepable)) { \
			bpf_ringbuf_discard(to, BPF_RB_NO_WAKEUP);                                 \
			return HANDED_UNREADABLE;                                                  \
		}                                                                                  \
		bpf_ringbuf_submit(to, wake_flag(size_));                                          \
		return HANDED_TO_RING;                                                             \
	} while (0)

static __always_inline enum handed_to ring_put(
	const struct handed *handed, const struct loop_account *account, bool sleepable)
{
	if (handed->records <= 8)
		RING_PUT(8);
	if (handed->records <= 32)
		RING_PUT(32);
	if (handed->records <= 128)
		RING_PUT(128);
	if (handed->records <= 512)
		RING_PUT(512);
	RING_PUT(LEDGER_RECORDS_MAX);
}

#endif
