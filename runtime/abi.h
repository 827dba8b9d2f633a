/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The contract between libactor and whoever observes it: probes, records, root.
 *
 * This header is the only thing the two halves share. The runtime writes what is described here,
 * the BPF programs and the collector read it. It is append-only: a new field goes behind the last
 * one and raises the minor version; a reader accepts every older minor version of its major
 * version, and reads tables by the entry size that the writer published.
 *
 * Model. A *message* record says how long one message waited and ran. A *turn* record says how
 * long one turn was asked for and how long it took. Records are four 64-bit words. They leave the
 * process in two ways: as the `records` argument of the probe `turn_end` (at most
 * ACTOR_ABI_TURN_RECORDS, the first one a *mark*), and as the batch behind a hand-over header of
 * the probe `ledger`. Durations are in ticks of the root's clock.
 *
 * Accounting. Per loop, `delivered` counts every message whose handler was started; one whose
 * handler was pending counts, and has its record, when that has ended, and one that was stashed
 * does not count. A mark (or a hand-over header) carries the value before its own batch, so that
 * for a collector
 *   last.delivered + size of last batch - first.delivered = recorded + unstamped + lost.
 */
#ifndef ACTOR_ABI_H
#define ACTOR_ABI_H

#include <stdint.h>

#define ACTOR_ABI_MAGIC 0x3149424152544341ull /* "ACTRABI1" */
#define ACTOR_ABI_MAJOR 1u
#define ACTOR_ABI_MINOR 1u

#define ACTOR_ABI_PROVIDER     "actor"
#define ACTOR_ABI_NOTE_NAME    "actor" /* owner of the ELF note that leads to the root */
#define ACTOR_ABI_NOTE_ROOT    1u      /* its type; descriptor: int64, root address - descriptor */
#define ACTOR_ABI_UNKNOWN      UINT64_MAX
#define ACTOR_ABI_TURN_RECORDS 64u /* most records of one turn_end, mark and turn included */
#define ACTOR_ABI_LOOPS        256u
#define ACTOR_ABI_DEEP         64u
#define ACTOR_ABI_NAME_BYTES   64u /* names are cut at 63 bytes and always end with a NUL */

/* ---- actor ids: 8 bits loop, 24 bits index, 32 bits generation; 0 is nobody ---- */

static inline uint32_t actor_abi_ref_loop(uint64_t ref)
{
	return (uint32_t)(ref >> 56);
}

static inline uint32_t actor_abi_ref_index(uint64_t ref)
{
	return (uint32_t)(ref >> 32) & 0xffffffu;
}

static inline uint32_t actor_abi_ref_generation(uint64_t ref)
{
	return (uint32_t)ref;
}

/* ---- enumerations: values are for ever, new ones are added at the end ---- */

enum actor_abi_kind {
	ACTOR_ABI_NOTHING = 0,
	ACTOR_ABI_MESSAGE = 1,
	ACTOR_ABI_TURN = 2,
	ACTOR_ABI_YIELD = 3,
	ACTOR_ABI_LOOP = 4,
	ACTOR_ABI_LIFE = 5,
	ACTOR_ABI_MARK = 6,
};

enum actor_abi_flag {
	ACTOR_ABI_UNSTAMPED = 1,  /* message: queued before the attach; only counted */
	ACTOR_ABI_NO_DELAY = 2,   /* turn: asked for before the attach, delay unknown */
	ACTOR_ABI_FAILED = 4,     /* message: its handler failed */
	ACTOR_ABI_FOREIGN = 8,    /* message: came from another loop or a foreign thread */
	ACTOR_ABI_FIRST_BACK = 16, /* `first` holds how far the clock stepped back */
	ACTOR_ABI_SECOND_BACK = 32, /* the same for `second` */
	ACTOR_ABI_PENDED = 64, /* message: its handler was pending, `run` is from its start to its end */
};

enum actor_abi_outcome {
	ACTOR_ABI_EMPTY = 0,
	ACTOR_ABI_BUDGET = 1,
	ACTOR_ABI_STOP = 2,
	ACTOR_ABI_SUSPEND = 3,
	ACTOR_ABI_THROTTLE = 4,
	ACTOR_ABI_FAILURE = 5,
	ACTOR_ABI_PENDING = 6,
	ACTOR_ABI_MORE = 7, /* the turn goes on, another turn_end follows */
};

enum actor_abi_yield_reason {
	ACTOR_ABI_YIELD_IDLE = 0,   /* nothing was ready any more */
	ACTOR_ABI_YIELD_BUDGET = 1, /* the units of this pass were used up */
};

enum actor_abi_dispatcher_kind {
	ACTOR_ABI_HYBRID = 1,
	ACTOR_ABI_MICROTASK = 2,
	ACTOR_ABI_IMMEDIATE = 3,
	ACTOR_ABI_THROUGHPUT = 4,
	ACTOR_ABI_CUSTOM = 5,
};

enum actor_abi_life {
	ACTOR_ABI_LIFE_SPAWN = 1,
	ACTOR_ABI_LIFE_STOP = 2,
	ACTOR_ABI_LIFE_FAILURE = 3,
	ACTOR_ABI_LIFE_RESTART = 4,
	ACTOR_ABI_LIFE_DROP = 5,
	ACTOR_ABI_LIFE_DEAD_LETTER = 6,
	ACTOR_ABI_LIFE_DISPATCHER_ERROR = 7,
	ACTOR_ABI_LIFE_SUSPEND = 8, /* handles no messages until RESUME */
	ACTOR_ABI_LIFE_RESUME = 9,
};

enum actor_abi_directive {
	ACTOR_ABI_DIRECTIVE_STOP = 1,
	ACTOR_ABI_DIRECTIVE_RESTART = 2,
	ACTOR_ABI_DIRECTIVE_RESUME = 3,
	ACTOR_ABI_DIRECTIVE_ESCALATE = 4,
};

/* Why a message was dropped; the code of a life record DROP. */
enum actor_abi_drop {
	ACTOR_ABI_DROP_HEAD = 1,   /* a bounded mailbox was full: it made room for a newer one */
	ACTOR_ABI_DROP_NEW = 2,    /* a bounded mailbox was full: it was the newest */
	ACTOR_ABI_DROP_REJECT = 3, /* refused, and its sender could not be told */
	ACTOR_ABI_DROP_CUSTOM = 4, /* a custom mailbox gave it up */
	ACTOR_ABI_DROP_LOST = 5,   /* a custom mailbox lost it */
	ACTOR_ABI_DROP_THROTTLE = 6, /* there was no token for it */
};

enum actor_abi_clock {
	ACTOR_ABI_CLOCK_MONOTONIC = 0, /* ticks are nanoseconds of CLOCK_MONOTONIC */
	ACTOR_ABI_CLOCK_TSC = 1,       /* ticks are the invariant time stamp counter */
};

/* ---- records ----
 *
 * meta     kind 8 | flags 8 | type 16 | class 16 | dispatcher 16, kind in the lowest bits
 *
 *          who                          first              second
 * MESSAGE  actor slot 32 << 32 |        wait 48 |          run 48 |
 *          sender slot 32               depth 16 << 48     actor's generation, low 16 << 48
 * TURN     actor id                     delay 48 |         run 48 | outcome 16 << 48
 *                                       messages 16 << 48
 * MARK     delivered before             unstamped before   sequence 48 | loop 16 << 48
 * YIELD    units 32 << 32 | ready 32    reason             0
 * LOOP     loop                         busy 48            polled 48, before that; 0 unknown
 * LIFE     actor id                     other id           code; the event is in meta's type
 *                                       (failure: directive; restart: how many so far)
 *
 * A slot is the upper half of an id. Values that do not fit saturate.
 */
struct actor_abi_record {
	uint64_t meta;
	uint64_t who;
	uint64_t first;
	uint64_t second;
};

#define ACTOR_ABI_48 0xffffffffffffull

static inline uint64_t actor_abi_meta(uint64_t kind, uint64_t flags, uint64_t type, uint64_t class_,
	uint64_t dispatcher)
{
	return kind | flags << 8 | type << 16 | class_ << 32 | dispatcher << 48;
}

static inline uint64_t actor_abi_pack(uint64_t low48, uint64_t high16)
{
	return (low48 > ACTOR_ABI_48 ? ACTOR_ABI_48 : low48) |
	       (high16 > 0xffff ? 0xffffull : high16) << 48;
}

static inline uint32_t actor_abi_meta_kind(uint64_t meta)
{
	return (uint32_t)meta & 0xff;
}

static inline uint32_t actor_abi_meta_flags(uint64_t meta)
{
	return (uint32_t)(meta >> 8) & 0xff;
}

static inline uint32_t actor_abi_meta_type(uint64_t meta)
{
	return (uint32_t)(meta >> 16) & 0xffff;
}

static inline uint32_t actor_abi_meta_class(uint64_t meta)
{
	return (uint32_t)(meta >> 32) & 0xffff;
}

static inline uint32_t actor_abi_meta_dispatcher(uint64_t meta)
{
	return (uint32_t)(meta >> 48) & 0xffff;
}

static inline uint64_t actor_abi_low48(uint64_t word)
{
	return word & ACTOR_ABI_48;
}

static inline uint32_t actor_abi_high16(uint64_t word)
{
	return (uint32_t)(word >> 48);
}

/* Begins each batch of the probe `ledger`; `count` records follow it. */
struct actor_abi_handover {
	uint16_t major;
	uint16_t minor;
	uint16_t loop;
	uint16_t flags;
	uint64_t count;
	uint64_t sequence;     /* of this loop, from 0, one more per hand-over */
	uint64_t delivered;    /* of this loop, before this batch */
	uint64_t unstamped;    /* the same */
	uint64_t ticks;        /* the root's clock, read together with ... */
	uint64_t monotonic_ns; /* ... CLOCK_MONOTONIC */
	uint64_t spare;
};

/* ---- root: readable by address, every field written by the runtime only ---- */

/* A table grows by whole segments, which never move and are never freed. */
struct actor_abi_table {
	uint64_t segments;        /* address of segment_max addresses, 0 where none is yet */
	uint32_t segment_max;
	uint32_t segment_entries;
	uint32_t entry_bytes;     /* distance of two entries; may grow with the minor version */
	uint32_t count;           /* entries 0 ... count-1 are published (release store) */
};

/* A class, message type or dispatcher. Entry 0 of each table is unused. */
struct actor_abi_name {
	uint32_t bytes; /* of text, without the NUL */
	uint32_t kind;  /* dispatcher: enum actor_abi_dispatcher_kind; else 0 */
	uint32_t budget; /* dispatcher: units per pass, 0 = no bound; class: 0 */
	uint32_t spare;
	char text[ACTOR_ABI_NAME_BYTES];
};

/* One slot of a loop's actor table. Read the generation before and after the rest: 0 is free. */
struct actor_abi_actor {
	uint32_t generation;
	uint16_t class_id;
	uint16_t dispatcher;
	uint64_t parent; /* id, 0 = top level */
	uint64_t name;   /* address of its NUL-ended name, 0 = anonymous */
	uint64_t cell;   /* the runtime's own */
};

enum actor_abi_loop_state {
	ACTOR_ABI_LOOP_FREE = 0,
	ACTOR_ABI_LOOP_OPEN = 1,
	ACTOR_ABI_LOOP_CLOSED = 2,
};

/* Written by the loop's own thread with plain stores. */
struct actor_abi_loop {
	uint32_t state;  /* enum actor_abi_loop_state */
	uint32_t thread; /* kernel thread id, 0 = has not run yet */
	uint32_t loop;   /* its number, the upper 8 bits of its actors' ids */
	uint32_t message_type; /* of the message that is being handled, 0 = none */
	uint64_t actor;      /* whose turn is open, 0 = none */
	uint64_t turn;       /* turns begun; unchanged over time = one turn is still open */
	uint64_t turn_since; /* ticks; 0 unless records were listened to when the turn began */
	uint64_t delivered;
	uint64_t unstamped;
	uint64_t sequence;   /* of the next mark or hand-over */
	uint64_t ready;      /* units that wait for their turn, all dispatchers of the loop */
	uint64_t ledger;     /* address of its records, 0 = none */
	uint32_t ledger_used;
	uint32_t ledger_size;
	char system[ACTOR_ABI_NAME_BYTES];
	struct actor_abi_table actors; /* of struct actor_abi_actor */
};

/* A mailbox with 10 000 messages or more. */
struct actor_abi_deep {
	uint64_t actor; /* 0 = free */
	uint64_t depth;
	uint64_t oldest_ticks; /* stamp of the oldest message, 0 = unknown */
};

struct actor_abi_root {
	uint64_t magic;
	uint16_t major;
	uint16_t minor;
	uint32_t bytes;  /* of this structure */
	uint32_t clock;  /* enum actor_abi_clock */
	uint32_t flags;  /* none yet */
	uint64_t first_ticks;        /* the clock, read once at start together with ... */
	uint64_t first_monotonic_ns; /* ... CLOCK_MONOTONIC; a second pair gives the rate */
	struct actor_abi_table classes;     /* of struct actor_abi_name */
	struct actor_abi_table types;       /* of struct actor_abi_name */
	struct actor_abi_table dispatchers; /* of struct actor_abi_name */
	uint64_t loops[ACTOR_ABI_LOOPS]; /* addresses of struct actor_abi_loop, 0 = never used */
	struct actor_abi_deep deep[ACTOR_ABI_DEEP];
};

_Static_assert(sizeof(struct actor_abi_record) == 32, "record size is part of the contract");
_Static_assert(sizeof(struct actor_abi_handover) == 64, "hand-over size is part of the contract");
_Static_assert(sizeof(struct actor_abi_table) == 24, "table size is part of the contract");
_Static_assert(sizeof(struct actor_abi_name) == 80, "name size is part of the contract");
_Static_assert(sizeof(struct actor_abi_actor) == 32, "actor size is part of the contract");
_Static_assert(sizeof(struct actor_abi_loop) == 176, "loop size is part of the contract");
_Static_assert(sizeof(struct actor_abi_deep) == 24, "deep size is part of the contract");
_Static_assert(sizeof(struct actor_abi_root) == 40 + 3 * 24 + 2048 + 64 * 24,
	"root size is part of the contract");

/* ---- probes ----
 *
 * name, then arguments in order; each argument is an unsigned 64-bit value in the C argument
 * register of its place (rdi, rsi, rdx, rcx, r8, r9), whatever the note of the site says beside it.
 *
 * enqueue            actor, sender (0 = none), type, depth after, flags (1 = asked for a turn), class
 * turn_start         actor, dispatcher, depth, delay in ns (ACTOR_ABI_UNKNOWN), class
 * turn_end           actor, dispatcher, address of records, count, outcome, class
 * dispatcher_yield   dispatcher, reason, units since the last yield, units left, loop
 * ledger             address of a hand-over, bytes of it and its records, loop,
 *                    messages among the records (since 1.1)
 * spawn              actor, parent, class, dispatcher
 * stop               actor, code (0 or the negative error it failed with), class
 * failure            actor, code, directive (enum actor_abi_directive), class
 * restart            actor, restarts so far, class
 * drop               actor, sender, type, reason (enum actor_abi_drop), class
 * dead_letter        recipient, sender, type, class of the recipient (0 = unknown)
 * dispatcher_error   actor (0 = none), dispatcher, code
 */
#define ACTOR_ABI_PROBES(X)                                                                        \
	X(turn_end, 6)                                                                             \
	X(ledger, 4)                                                                               \
	X(enqueue, 6)                                                                              \
	X(turn_start, 5)                                                                           \
	X(dispatcher_yield, 5)                                                                     \
	X(spawn, 4)                                                                                \
	X(stop, 3)                                                                                 \
	X(failure, 4)                                                                              \
	X(restart, 3)                                                                              \
	X(drop, 5)                                                                                 \
	X(dead_letter, 4)                                                                          \
	X(dispatcher_error, 3)

#endif
