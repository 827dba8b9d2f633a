/* SPDX-License-Identifier: MIT */
/* A FIFO of envelopes in chunks. No storage until the first message, none when it is empty again;
 * an envelope never moves while it is queued or being handled. Cost: about ten instructions per
 * push and pop. Used by one thread at a time. */
#ifndef ACTOR_MAILBOX_H
#define ACTOR_MAILBOX_H

#include "actor.h"
#include "memory.h"

enum actor__envelope_flag {
	ACTOR__HEAP = 1,     /* the payload is {pointer, bytes} */
	ACTOR__COPY = 2,     /* that block is the runtime's own copy */
	ACTOR__POISON = 4,   /* ends the actor: `bytes` is an enum actor__poison, `type` 0 */
	ACTOR__REPLY = 8,    /* answers the ask with this number */
	ACTOR__FOREIGN = 16, /* came from another loop or thread */
	ACTOR__WAITER = 32,  /* `ask` is the number of a thread that waits outside */
	ACTOR__ENDED = 64,   /* tells of its sender's end by the watch with the number `ask` */
	ACTOR__DESTROY = 128, /* its type has a destroy */
};

/* Both at once, which nothing else has: a timer's message, whose `ask` is the number of its start. */
#define ACTOR__TIMER (ACTOR__REPLY | ACTOR__WAITER)

enum actor__poison {
	ACTOR__POISON_STOP,      /* when its place in the queue comes */
	ACTOR__POISON_KILL,      /* fails it at its place in the queue */
	ACTOR__POISON_TERMINATE, /* at once */
	ACTOR__POISON_WORD, /* ends nothing: word for the watch `ask` that its sender has ended */
	ACTOR__POISON_SUSPEND,   /* ends nothing: its messages wait, from now on */
	ACTOR__POISON_RESUME,    /* and may be handled again */
};
struct actor__log_context;

struct actor__block_payload {
	void *block;
	size_t bytes;
	struct actor__log_context *context; /* with ACTOR__CONTEXT */
};

/* In `bytes` of an envelope with ACTOR__HEAP, which has no other use there. */
enum actor__block_mark {
	ACTOR__CONTEXT = 1, /* it carries a context for lines of log */
	ACTOR__LIFTED = 2,  /* the payload would have its place inside: the block is the runtime's */
};

/* What travels: half a line of header, half a line of payload. */
struct actor__envelope {
	actor_ref to;
	actor_ref sender;
	uint64_t stamp; /* ticks when it was told, 0 = nobody listened */
	union {
		struct {
			uint32_t ask; /* number of the ask it belongs to, 0 = none */
			uint16_t type;
			uint8_t bytes; /* of an inline payload */
			uint8_t flags; /* enum actor__envelope_flag */
		};
		uint64_t head; /* all four, for one store */
	};
	union {
		_Alignas(16) unsigned char inlined[ACTOR_INLINE_BYTES];
		struct actor__block_payload heap;
		int status;
	};
};

_Static_assert(sizeof(struct actor__envelope) == 64, "an envelope fills one cache line");

static inline int actor__envelope_with(
	const struct actor__envelope *envelope, enum actor__block_mark mark)
{
	return envelope->flags & ACTOR__HEAP && envelope->bytes & mark;
}

static inline int actor__envelope_timed(const struct actor__envelope *envelope)
{
	return (envelope->flags & ACTOR__TIMER) == ACTOR__TIMER;
}

/* Must no bound or throttle hold it? Whoever waits for such mail would wait for ever. */
static inline int actor__envelope_kept(const struct actor__envelope *envelope)
{
	return envelope->flags & (ACTOR__POISON | ACTOR__REPLY | ACTOR__ENDED) &&
	       !actor__envelope_timed(envelope);
}

/* A chunk's size is its alignment, so that a place behind its last one is a multiple of it. */
#define ACTOR__CHUNK_SLOTS (ACTOR__CHUNK_BYTES / 64 - 1)

struct actor__chunk {
	struct actor__chunk *next;
	_Alignas(64) struct actor__envelope at[ACTOR__CHUNK_SLOTS];
};

_Static_assert(sizeof(struct actor__chunk) == ACTOR__CHUNK_BYTES, "chunks fill their block");

struct actor__mailbox {
	struct actor__envelope *first; /* the oldest message; NULL: no storage */
	struct actor__envelope *end;   /* where the next one goes */
	uint32_t count;
	uint8_t deep;    /* 1 + its entry in the root's table, 0 = none */
	uint8_t warned;  /* how often it passed its high-water mark or a doubling of it */
	uint8_t watched; /* it has a mark of its own, in its cell's extra part */
};

/* The end of a mailbox that has its messages in a box: it is full, and cannot grow. */
#define ACTOR__BOXED ((struct actor__envelope *)(uintptr_t)ACTOR__CHUNK_BYTES)

static inline int actor__mailbox_boxed(const struct actor__mailbox *box)
{
	return box->end == ACTOR__BOXED;
}

/* Is there no place at `at`: no chunk, or just behind one? */
static inline int actor__chunk_ends(const struct actor__envelope *at)
{
	return ((uintptr_t)at & (ACTOR__CHUNK_BYTES - 1)) == 0;
}

/* Adds a chunk; false: no memory. */
int actor__mailbox_grow(struct actor__mailbox *box, struct actor__pool *pool);

/* Gives the oldest chunk back, whose last place was given up. */
void actor__mailbox_shrink(struct actor__mailbox *box, struct actor__pool *pool);

/* Gives an empty mailbox its first chunk, without a call, if the pool has one; false: it has not,
 * or the mailbox is not empty. */
static inline int actor__mailbox_begin(struct actor__mailbox *box, struct actor__pool *pool)
{
	struct actor__block **free = &pool->free[ACTOR__CHUNK_BYTES / 16];
	struct actor__chunk *chunk = (struct actor__chunk *)(void *)*free;

	if (__builtin_expect(box->end != NULL || !chunk, 0))
		return 0;
	*free = (*free)->next;
	actor__unpoison(chunk, ACTOR__CHUNK_BYTES);
	chunk->next = NULL;
	box->first = box->end = chunk->at;
	return 1;
}

/* The place for the next message, which counts at once; NULL: no memory. */
static inline struct actor__envelope *actor__mailbox_push(
	struct actor__mailbox *box, struct actor__pool *pool)
{
	if (__builtin_expect(actor__chunk_ends(box->end), 0) && !actor__mailbox_grow(box, pool))
		return NULL;
	box->count++;
	return box->end++;
}

/* The oldest message, which no longer counts but stays where it is until actor__mailbox_done(). */
static inline struct actor__envelope *actor__mailbox_pop(struct actor__mailbox *box)
{
	box->count--;
	return box->first;
}

/* Gives up the place of the message popped last, which is `popped`. */
static inline void actor__mailbox_done_with(
	struct actor__mailbox *box, struct actor__envelope *popped, struct actor__pool *pool)
{
	box->first = popped + 1;
	if (__builtin_expect(actor__chunk_ends(box->first), 0))
		actor__mailbox_shrink(box, pool);
}

static inline void actor__mailbox_done(struct actor__mailbox *box, struct actor__pool *pool)
{
	actor__mailbox_done_with(box, box->first, pool);
}

/* Gives the storage back if the mailbox is empty and no message of it is being handled. */
static inline void actor__mailbox_rest(struct actor__mailbox *box, struct actor__pool *pool)
{
	struct actor__chunk *chunk;

	if (box->count || !box->first)
		return;
	/* Empty and not at a chunk's end: first and end are in the same, last chunk. */
	chunk = (struct actor__chunk *)((uintptr_t)box->first &
					~(uintptr_t)(ACTOR__CHUNK_BYTES - 1));
	actor__pool_give(pool, chunk, sizeof(*chunk));
	box->first = NULL;
	box->end = NULL;
}

#endif
