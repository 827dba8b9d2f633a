/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What the BPF programs keep and the collector reads: keys and values of the maps.
 *
 * Writers add atomically and never reset, so that a reader sees each word grow. A histogram has no
 * count of its own: the count is the sum of its buckets. The account of a loop is published as a
 * whole under a version that is odd while it changes; its only writer is the loop's own thread.
 *
 * In ledger mode a hand-over goes to the ring as it is, and whoever reads the ring accounts for it.
 * Only what went elsewhere (folded into the maps here, lost, passed over by sampling) is in the
 * account of its loop; each batch in the ring says how much that was before it.
 *
 * Programs for one target leave `target` 0 in each key. With many, it is the process's id in the
 * host's namespace, also in the spare word of a batch's header in the ring.
 */
#ifndef BPF_MAPS_H
#define BPF_MAPS_H

#include <stdint.h>

#include "bpf/bounds.h"
#include "runtime/abi.h"

#define MAPS_OVERFLOW UINT32_MAX /* dispatcher and class of the series that takes the rest */
#define MAPS_TALLIES  4096u

#define LEDGER_RECORDS_MAX 1024u /* of one hand-over that is believed */
#define RING_BYTES	   (4u << 20)
#define RING_WAKE	   (RING_BYTES / 4) /* so much is waiting before the reader is woken */

struct series_key {
	uint64_t actor; /* slot 32 << 32 | low 16 bits of the generation; 0 = not grouped by actor;
			 * with many targets the target */
	uint32_t dispatcher;
	uint32_t class_id;
};

struct time_buckets {
	uint64_t sum; /* ns */
	uint64_t max; /* ns */
	uint64_t buckets[BOUNDS_COUNT + 1];
};

struct count_buckets {
	uint64_t sum;
	uint64_t max;
	uint64_t buckets[DEPTH_BOUNDS_COUNT + 1];
};

struct mail_series {
	uint64_t delivered; /* recorded, unstamped and lost together */
	struct time_buckets wait;
	struct time_buckets handler;
	struct count_buckets depth;
};

struct turn_series {
	struct time_buckets turn;
	struct count_buckets messages;
};

struct delay_series {
	struct time_buckets delay;
};

/* Busy times of a loop's passes; the key's `dispatcher` is the loop. */
struct gap_series {
	struct time_buckets gap;
};

enum tally_family {
	TALLY_ENQUEUED = 1,    /* id: class */
	TALLY_YIELDS = 2,      /* id: dispatcher, reason: enum actor_abi_yield_reason */
	TALLY_TURN_STARTS = 3, /* id: dispatcher */
	TALLY_LIFE = 16, /* + enum actor_abi_life; id: class or dispatcher, reason of a drop */
};

struct tally_key {
	uint32_t family;
	uint32_t id;
	uint32_t reason;
	uint32_t target; /* 0 unless there are many */
};

/* A process, by its id, where one set of programs observes many. BPF puts in those that it meets
 * first, so that they can be named even if they end at once. */
struct target_entry {
	uint64_t mult; /* rate of its clock; 0 = that of this host's */
	uint32_t shift;
	uint32_t ignored; /* 1: not to be observed */
	char command[16];
};

/* Key of a loop's account: its number, with many targets behind the target's. */
static inline uint32_t maps_loop_key(uint32_t target, uint32_t loop)
{
	return target << 8 | loop;
}

/* In the order of enum aggregate_lost. */
enum lost_reason { LOST_COPY, LOST_CLOCK, LOST_FORMAT, LOST_MAP, LOST_REASONS };

/* What one batch of records came to; all up to `lost` are messages. */
struct batch {
	uint64_t messages; /* = recorded + unstamped + all of lost */
	uint64_t recorded;
	uint64_t unstamped;
	uint64_t lost[LOST_REASONS];
	uint64_t clamped;    /* intervals */
	uint64_t turns_lost; /* turn records without a place or with a broken clock */
	uint64_t overflow;   /* records that went to the overflow series */
	/* No sums: */
	uint64_t weight; /* how many each record of it stands for */
	uint64_t target; /* 0 unless there are many */
	uint64_t mult;	 /* rate of its clock, 0 = the one of all */
	uint64_t shift;
};

struct loop_account {
	uint64_t version;   /* odd while the rest changes */
	uint64_t known;	    /* 1: a mark was seen, `end` holds */
	uint64_t end;	    /* the loop's own counter after its last batch */
	uint64_t delivered; /* by that counter, since the first batch */
	uint64_t gaps;	    /* times that a mark did not continue the batch before it */
	uint64_t batches;
	struct batch total;
	/* Ledger mode: */
	uint64_t hits;	    /* hand-overs seen */
	uint64_t spent_ns;  /* on them in BPF, traps not counted */
	uint64_t elsewhere; /* messages that did not go to the ring, by the probe's own argument */
	uint64_t elsewhere_batches;
	uint64_t skipped; /* of these, passed over since the last batch that was taken */
	uint64_t folded;  /* records folded here */
	uint64_t first;	  /* the loop's own counter before the first batch folded here ... */
	uint64_t first_elsewhere; /* ... and `elsewhere` then */
	uint64_t first_sequence;
	uint64_t sequence;	/* of the last batch folded here */
	uint64_t end_elsewhere; /* `elsewhere` after it; `end` is the loop's own counter */
};

/* A hand-over in the ring, as it was, behind what a reader needs to put it in its place. */
struct ring_batch {
	uint32_t records;
	uint32_t loop;
	uint64_t messages;  /* among the records, by the probe's own argument */
	uint64_t skipped;   /* messages that these stand for as well */
	uint64_t elsewhere; /* of this loop, before this batch */
	uint64_t elsewhere_batches;
	struct actor_abi_handover head;
	struct actor_abi_record record[];
};

#endif
