/* SPDX-License-Identifier: MIT */
/* The runtime's own structures: cell, dispatcher, loop, system; and how they hang together.
 *
 * A *system* has loops. A *loop* is one uv_loop_t with its thread, and owns everything below it:
 * the actor table, cells, dispatcher instances, pools. Nothing of a loop is touched by another
 * thread, except what says so: its inboxes, the rings, `sleeping`, counters, and the slots that
 * foreign threads reserve when they spawn.
 *
 * A *cell* is an actor: its unit (what a dispatcher queues), mailbox and family. `signals` are the
 * system lane: bits that are handled before the next message and need no memory.
 *
 * A pass of the loop. prepare: say that we may sleep, look again. poll. check: take mail from
 * rings and inboxes, then run units within the dispatchers' budgets. An idle handle, started when a
 * unit becomes ready, keeps poll from blocking.
 */
#ifndef ACTOR_CORE_H
#define ACTOR_CORE_H

#include "abi.h"
#include "actor.h"
#include "asks.h"
#include "checks.h"
#include "inbox.h"
#include "logger.h"
#include "mail.h"
#include "mailbox.h"
#include "memory.h"
#include "names.h"
#include "phases.h"
#include "ring.h"
#include "spin.h"
#include "subscriptions.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define ACTOR__LIKELY(x)   __builtin_expect(!!(x), 1)
#define ACTOR__UNLIKELY(x) __builtin_expect(!!(x), 0)

/* A full fence that ThreadSanitizer understands as well. */
#if defined(__SANITIZE_THREAD__)
#define ACTOR__TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ACTOR__TSAN 1
#endif
#endif
static inline void actor__fence(void)
{
#ifdef ACTOR__TSAN
	static _Atomic int anything;

	atomic_fetch_add(&anything, 1);
#else
	atomic_thread_fence(memory_order_seq_cst);
#endif
}

#define ACTOR__WARN_ABOVE     1000u /* budgets and throughputs that are worth a warning */
#define ACTOR__TABLE_SEGMENT  4096u /* actors per table segment */
#define ACTOR__TABLE_SEGMENTS 4096u
#define ACTOR__NO_SLOT        UINT32_MAX

/* ---- unit ---- */

enum actor__unit_state {
	ACTOR__UNIT_IDLE,
	ACTOR__UNIT_LISTED,   /* in the FIFO of one of the four */
	ACTOR__UNIT_QUEUED,   /* a custom dispatcher holds it */
	ACTOR__UNIT_RUNNING,  /* a cell's turn is open */
	ACTOR__UNIT_INSIDE,   /* a custom dispatcher's execute has not returned yet */
	ACTOR__UNIT_DEFERRED, /* it ran the unit there: queued elsewhere when it returns */
};

enum actor__unit_flag {
	ACTOR__UNIT_CELL = 1, /* it is a cell's */
};

/* ---- cell ---- */

/* A cell's state is where its life stands, and bits beside it. Exactly ACTOR__RUNNING, without any
 * bit, is the state of the fast way through a turn. */
enum actor__state {
	ACTOR__CREATING,
	ACTOR__RUNNING,
	ACTOR__TERMINATING,
	ACTOR__TERMINATED,
	ACTOR__LIFE = 0x0f,      /* mask of the above */
	ACTOR__SUSPENDED = 0x10, /* no messages: until it is resumed */
	ACTOR__PAUSED = 0x20,    /* no messages: until its throttle's timer fires */
	ACTOR__PENDING = 0x40,   /* nothing at all: until the handler is completed */
	ACTOR__CAREFUL = 0x80,   /* its messages take the slow way, see careful.h */
};

enum actor__signal {
	ACTOR__SIGNAL_CREATE = 1,
	ACTOR__SIGNAL_TERMINATE = 2,
	ACTOR__SIGNAL_FINISH = 4, /* terminating, and the last child has gone */
	ACTOR__SIGNAL_FAILURE = 8, /* the handler failed with `failure`; supervision decides */
	ACTOR__SIGNAL_LOOK = 16, /* the state's bits have changed inside a turn */
	ACTOR__SIGNAL_RESTART = 32, /* a new instance is to begin */
	ACTOR__SIGNAL_REBUILD = 64, /* parked, and the last child has gone */
	ACTOR__SIGNAL_COMPLETED = 128, /* the pending handler is to end; before all others */
};

enum actor__cell_flag {
	ACTOR__FROM_HEAP = 1,  /* its memory, not from the loop's pool */
	ACTOR__KEEPS_INIT = 2, /* behind its state: the bytes that the state begins with */
	ACTOR__READY = 4,      /* this instance's start has succeeded */
	ACTOR__PARKED = 8,     /* its instance has ended; the next one waits for the children's end */
	ACTOR__DELAYED = 16,   /* to be restarted when its back-off is over */
	ACTOR__AWAITS = 32,    /* its failure is with its supervisor on another loop */
	ACTOR__WANTED = 64,    /* to be restarted even if its supervisor, or its parent, is resumed */
	ACTOR__KILLED = 128,   /* its failure is a kill that came while it was suspended */
};

/* Why it is suspended. */
enum actor__hold {
	ACTOR__HELD_SELF = 1,  /* its own failure, until it goes on */
	ACTOR__HELD_ABOVE = 2, /* the same of an ancestor */
	ACTOR__HELD_BY_HAND = 4, /* somebody has asked for it, and has not taken it back */
	ACTOR__HELD_SUBTREE = ACTOR__HELD_SELF | ACTOR__HELD_ABOVE, /* what is below it as well */
};

struct actor__cell {
	struct actor_unit unit; /* first: a unit that is a cell's is the cell */
	struct actor__loop *loop;
	/* Handles its messages: the class's on_message, or its present behaviour. */
	actor_receive_cb receive;
	struct actor__mailbox mailbox;
	actor_ref self;
	uint32_t throughput;
	uint8_t state;   /* enum actor__state, see actor__cell_life() */
	uint8_t signals; /* enum actor__signal */
	uint8_t flags;   /* enum actor__cell_flag */
	uint8_t holds;   /* enum actor__hold */
	/* family: children on the same loop by links, others by their bonds */
	struct actor__cell *first_child;
	struct actor__cell *next_sibling;
	struct actor__cell *previous_sibling;
	struct actor__tie *ties;    /* to relatives on other loops, see bond.h */
	const struct actor_class *cls;
	struct actor__extra *extra; /* what few actors need; NULL: nothing of it */
	struct actor__name *name;   /* NULL = anonymous */
	actor_ref parent;
	struct actor__ask *asks;  /* that wait for an answer */
	uint32_t children;        /* on all loops */
	int32_t failure;          /* code of the failure being decided */
};

static inline void *actor__cell_state(struct actor__cell *cell)
{
	return (char *)cell + ((sizeof(*cell) + 15) & ~(size_t)15);
}

static inline size_t actor__cell_state_bytes(const struct actor_class *cls)
{
	return (cls->state_bytes + 15) & ~(size_t)15;
}

/* The bytes the state begins with, if ACTOR__KEEPS_INIT is set. */
static inline void *actor__cell_init(struct actor__cell *cell)
{
	return (char *)actor__cell_state(cell) + actor__cell_state_bytes(cell->cls);
}

static inline size_t actor__cell_bytes(const struct actor_class *cls, bool keeps_init)
{
	return ((sizeof(struct actor__cell) + 15) & ~(size_t)15) +
	       actor__cell_state_bytes(cls) * (keeps_init ? 2 : 1);
}

static inline enum actor__state actor__cell_life(const struct actor__cell *cell)
{
	return (enum actor__state)(cell->state & ACTOR__LIFE);
}

static inline void actor__cell_live(struct actor__cell *cell, enum actor__state life)
{
	cell->state = (uint8_t)((cell->state & ~ACTOR__LIFE) | life);
}

/* May its next message be handled? */
static inline bool actor__cell_open(const struct actor__cell *cell)
{
	return (cell->state & ~ACTOR__CAREFUL) == ACTOR__RUNNING;
}

/* What keeps its messages from being handled; STOP: nothing. */
static inline enum actor_abi_outcome actor__cell_held(const struct actor__cell *cell)
{
	if (cell->state & ACTOR__PENDING)
		return ACTOR_ABI_PENDING;
	if (cell->state & ACTOR__SUSPENDED)
		return ACTOR_ABI_SUSPEND;
	return cell->state & ACTOR__PAUSED ? ACTOR_ABI_THROTTLE : ACTOR_ABI_STOP;
}

/* Can a turn make progress? Nothing else may ask for one. */
static inline bool actor__cell_dispatchable(const struct actor__cell *cell)
{
	if (ACTOR__UNLIKELY(cell->signals)) /* perhaps of a cell that has not arrived on its loop */
		return cell->unit.dispatcher && !(cell->state & ACTOR__PENDING);
	return actor__cell_open(cell) && cell->mailbox.count;
}

/* ---- dispatcher instance ---- */

struct actor_dispatcher {
	struct actor__loop *loop;
	const struct actor_dispatcher_ops *ops; /* NULL: one of the four built in */
	void *self;                             /* custom */
	enum actor_dispatcher_kind kind;
	uint32_t budget; /* units per pass; UINT32_MAX = no bound */
	/* FIFO of ready units */
	struct actor_unit *first;
	struct actor_unit **last;
	uint32_t ready;
	/* this pass: since the end of the last drain in check */
	uint32_t ran;
	uint32_t quota; /* throughput: units of this pass that may run; valid if quota_set */
	bool quota_set;
	uint32_t number; /* in the root's table */
	struct actor_dispatcher *next; /* of the loop */
	struct actor_dispatcher_spec spec;
};

/* ---- what a handler sees ---- */

enum actor__aftermath {
	ACTOR__AFTERMATH = INT32_MIN, /* set with each of these: one test finds it or an error */
	ACTOR__TAKEN = 1,             /* the payload is the handler's */
	ACTOR__FAILED = 2,            /* `failure` is set */
	ACTOR__STASHED = 4,           /* the stash has the message */
	ACTOR__PENDED = 8,            /* it goes on after its return */
};

struct actor_ctx {
	struct actor__loop *loop;
	struct actor__cell *cell;
	struct actor__envelope *envelope; /* NULL in on_start and on_stop */
	struct actor_message message;
	int failure;        /* set by actor_fail() */
	int32_t aftermath; /* enum actor__aftermath: what the handler left behind */
	struct actor__log_context *log_context;    /* of the running handler; NULL: empty */
	struct actor__log_context *failed_context; /* of one that failed, until that is logged */
	uint64_t missed; /* by the timer whose message this is */
	char text[256]; /* of the failure */
};

/* ---- records on their way out ---- */

#define ACTOR__LEDGER_RECORDS 1022u /* with its header 32 KiB */

struct actor__ledger {
	struct actor_abi_handover head;
	struct actor_abi_record records[ACTOR__LEDGER_RECORDS];
};

struct actor__observer {
	struct actor__ledger *ledger; /* NULL until somebody listens */
	uint64_t now;                 /* ticks: end of the last handler */
	uint32_t used;                /* records in the ledger */
	uint32_t messages;            /* of them that are messages */
	uint64_t delivered;           /* by the loop before these */
	uint64_t unstamped;
	uint64_t first_at;  /* ticks: when the ledger got its first record */
	uint64_t age_ticks; /* 10 ms */
	uint64_t polled_at; /* ticks: when the loop came back from its last poll, 0 = unknown */
	uint64_t polls_at;  /* and when it had gone there, 0 = unknown */
	uint64_t handovers; /* so far */
	bool listening;
	bool stale;     /* since `now` was read, more has happened than the runtime's own steps */
	bool marked;    /* the open batch stands for turn_end, its first record is a mark */
	uint32_t batch; /* where it begins */
	uint64_t batch_delivered;
	uint64_t batch_unstamped;
	struct actor_abi_record *others; /* other records, while a marked batch is open */
	uint32_t others_count;
	uint32_t others_room;
};

/* ---- handlers that go on after their return, see pending.h ---- */

struct actor__pendings {
	_Atomic uint32_t count; /* until they have ended; any thread may read it */
	uint64_t last_number;   /* the loop's thread */
	pthread_mutex_t lock;   /* of what follows */
	struct actor__index by_number; /* those that nobody has completed */
};

/* ---- mail between loops ---- */

/* From one loop to another; owned by the sending loop's thread. */
struct actor__channel {
	struct actor__loop *from;
	struct actor__loop *to;
	struct actor__ring *ring;  /* where the sender writes */
	struct actor__ring *first; /* the oldest, with the others behind it */
	_Atomic(struct actor__ring *) read; /* where the receiver reads; written by it */
	struct actor__mailbox overflow; /* this and all later mail, while the ring is full */
	bool dirty;                     /* in the loop's list of channels to flush */
	struct actor__channel *next_dirty;
	_Atomic uint32_t waiting; /* sender waits for room: the receiver wakes it */
	_Atomic uint64_t queued;  /* length of overflow, for whoever asks whether all is quiet */
};

/* ---- loop ---- */

struct actor__handles {
	uv_check_t check;
	uv_prepare_t prepare;
	uv_idle_t idle;
	uv_async_t async;
	uv_timer_t timer; /* the earliest deadline */
	uv_timer_t look;  /* closing; besides idle the only one that keeps the loop alive */
	uint64_t timer_at_ms; /* when timer is due, 0 = not armed */
	bool look_due;
	struct actor__handles *older; /* closed by somebody else's uv_walk; freed at the end */
};

struct actor__loop {
	struct actor_abi_loop *abi;
	struct actor_system *system;
	uv_loop_t *uv;
	uint32_t id; /* upper 8 bits of its actors' refs */
	uint32_t index; /* in the system */
	bool owned;  /* has a thread of ours */
	bool awake;  /* the idle handle runs */
	bool in_drain;
	bool in_dead_letter; /* somebody is being told of one */
	bool closed;   /* the inbox is closed, handles are closing */
	struct actor__spin spin;
	struct actor__pass *pass; /* shared on one uv_loop_t; NULL: no immediate dispatcher here */
	struct actor__loop *pass_next; /* next member */
	uint64_t pass_mark; /* see pass.h */
	struct actor_dispatcher *dispatchers;
	struct actor_dispatcher *standard; /* the system's default */
	struct actor__channel *dirty;
	struct actor__link *held; /* letters that stop an actor and wait for room in its mailbox */
	struct actor__cell *top; /* actors at top level */
	struct actor_ctx ctx;
	struct actor__pool pool;
	struct actor__mails mails;
	struct actor__slots *slots;
	const uint64_t *segments; /* of the actor table */
	struct actor__asks asks;
	struct actor__pendings pendings;
	_Atomic uint32_t jobs; /* on the thread pool or back from it; any thread may read it */
	struct actor__deadlines deadlines;
	struct actor__index timers; /* of actors, by number */
	uint32_t timer_number;      /* the last one */
	uint32_t watch_number;      /* the last one */
	struct actor__tie *untold;  /* ends of which somebody is to be told when there is memory */
	struct actor__deadline untold_due;
	uint64_t manual_ms; /* its time, if the program sets it by hand; else 0 */
	struct actor__observer observer;
	struct actor__channel *out[ACTOR_ABI_LOOPS]; /* by loop id, made on first use */
	struct actor__handles *handles;
	uint32_t handles_open;
	uint32_t aside; /* messages of this turn that are not handled yet, but used up its budget */
	struct actor__notice order; /* of whoever closes the system, one at a time */
	struct actor__notice halt;  /* stops all actors, see close.c */
	pthread_t owner; /* of an owned loop */
	uv_loop_t own_uv;
	uint64_t delivered_before; /* by earlier systems with this loop number */
	uint64_t turns_before;
	/* counters: written by the loop's thread, read by any */
	_Atomic uint64_t created;
	_Atomic uint64_t terminated;
	_Atomic uint64_t dead_letters;
	_Atomic uint64_t dropped;
	_Atomic uint64_t failed;
	_Atomic uint64_t restarted;
	_Atomic uint64_t dispatcher_errors;
	_Atomic uint64_t worked; /* passes in which there was something to do */
	/* shared with other threads */
	_Alignas(64) _Atomic uint32_t sleeping; /* seq_cst with inbox and ring tails, see loop.c */
	_Atomic uintptr_t thread;               /* pthread_self() of the thread it runs on */
	_Atomic uint32_t exited;
	_Atomic uint32_t stopping; /* enum actor__stopping: all its actors are to, later ones too */
	struct actor__inbox notices; /* of any loop and thread; never closed */
	struct actor__inbox inbox;   /* letters of foreign threads */
	_Atomic(struct actor__channel *) in[ACTOR_ABI_LOOPS]; /* by loop id; release by the sender */
	_Atomic uint64_t in_set[ACTOR_ABI_LOOPS / 64];        /* which of them are there */
};

enum actor__stopping {
	ACTOR__STOPPING_HALTED = 1,
	ACTOR__STOPPING_CLOSED, /* the order of whoever closes has been obeyed */
};

/* ---- system ---- */

enum actor__phase {
	ACTOR__OPEN,
	ACTOR__HALTED, /* a failure that nobody decides about has stopped all actors */
	ACTOR__DRAINING,
	ACTOR__STOPPING,
	ACTOR__ENDING,
};

struct actor__config;
struct actor__signals;

/* Drives all loops of a system from one thread, by hand, see kit.h. A loop has this thread's mark in
 * `thread` only while it does something, and seems to sleep all the time. */
struct actor__driver {
	uintptr_t thread; /* pthread_self() */
	void (*told)(struct actor__driver *driver); /* an inbox has got mail; on any thread */
};

struct actor_system {
	char name[ACTOR_NAME_BYTES + 1];
	struct actor__config *config; /* NULL: no file */
	uint32_t throughput;
	uint32_t ring_slots;      /* of a channel's first ring */
	uint32_t ring_slots_most; /* of its last one */
	int64_t drain_ms;
	_Atomic uint64_t manual_ms; /* a clock by hand; 0: the loops' own */
	struct actor_dispatcher_spec standard;
	struct actor__logger logger;
	struct actor__subscriptions subscriptions;
	actor_dead_letter_cb on_dead_letter;
	void *on_dead_letter_data;
	uint32_t fork_count; /* of the process when it was made */
	uint32_t loop_count;
	struct actor__loop **loops; /* the caller's first */
	bool embedded;
	struct actor__driver *driver; /* NULL: the loops have threads */
	struct actor__names names;
	struct actor__waiters waiters;
	_Atomic uint32_t warned; /* of a high throughput of an actor */
	_Atomic uint32_t next_loop; /* for spawns from outside, by turns */
	_Atomic uint32_t phase;     /* enum actor__phase */
	_Atomic uint64_t outside_created; /* by threads that are no loop of ours */
	_Atomic uint32_t vigils; /* notices of them that are on their way, see farewell.h */
	pthread_mutex_t lock; /* specs; spawning from outside against closing */
	struct actor__spec_list *specs;
	_Atomic uint32_t walks; /* under way; begun with the lock */
	struct actor__shutdown shutdown;
	struct actor__health health;
	struct actor__signals *signals; /* NULL: it does not wait for any */
	/* closing; the first loop's thread */
	actor_close_cb close_cb;
	void *close_data;
	bool waited_for;   /* by actor_system_close_wait() */
	bool closing_here; /* the first loop knows of it */
	bool ended;        /* the first loop's handles are closing */
	bool failed;       /* never got to work: whoever opened it frees it */
	uint64_t drain_until_ns;
	uint32_t close_wait_ms; /* until the next look */
};

static inline uint32_t actor__ref_loop(actor_ref ref)
{
	return (uint32_t)(ref >> 56);
}

/* The loop that a ref of this system lives on, or NULL. Any thread. */
static inline struct actor__loop *actor__loop_of(const struct actor_system *system, actor_ref ref)
{
	for (uint32_t i = 0; i < system->loop_count; i++)
		if (system->loops[i]->id == actor__ref_loop(ref))
			return system->loops[i];
	return NULL;
}

/* Is a turn open? The loop's thread. */
static inline bool actor__in_turn(const struct actor__loop *loop)
{
	return loop->abi->actor != 0;
}

/* Does the calling thread run this loop? */
static inline bool actor__loop_here(struct actor__loop *loop)
{
	return atomic_load_explicit(&loop->thread, memory_order_relaxed) ==
	       (uintptr_t)pthread_self();
}

#endif
