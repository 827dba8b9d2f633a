/* SPDX-License-Identifier: MIT */
/* Tell and reply: the way into a mailbox on the same loop, another loop, or from any thread. */
#include "tell.h"

#include "channel.h"
#include "deliver.h"
#include "fork.h"
#include "misuse.h"
#include "registry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Copies up to 32 bytes without a call. */
static inline void payload_copy(unsigned char *to, const void *from, size_t bytes)
{
	if (bytes == 8)
		memcpy(to, from, 8);
	else if (bytes == 16)
		memcpy(to, from, 16);
	else if (bytes)
		memcpy(to, from, bytes);
}

static inline void header_fill(struct actor__envelope *e, actor_ref to, actor_ref sender, int type)
{
	e->to = to;
	e->sender = sender;
	e->stamp = 0;
	e->head = 0;
	e->type = (uint16_t)type;
}

/* Fills the payload; above 32 bytes the block itself (a type with destroy) or a copy of it. */
static int payload_fill(
	struct actor__envelope *e, const struct actor_type *type, const void *payload, size_t bytes)
{
	if (ACTOR__UNLIKELY(bytes && !payload))
		return ACTOR_ETYPE;
	if (ACTOR__LIKELY(bytes <= ACTOR_INLINE_BYTES)) {
		e->bytes = (uint8_t)bytes;
		payload_copy(e->inlined, payload, bytes);
		return 0;
	}
	e->flags |= ACTOR__HEAP;
	e->heap.bytes = bytes;
	e->heap.block = (void *)(uintptr_t)payload;
	if (!type->destroy) {
		e->heap.block = malloc(bytes);
		if (!e->heap.block)
			return -ENOMEM;
		memcpy(e->heap.block, payload, bytes);
		e->flags |= ACTOR__COPY;
	}
	return 0;
}

void actor__envelope_unfill(struct actor__envelope *e)
{
	if (e->flags & ACTOR__COPY)
		free(e->heap.block);
}

/* After a failed send the block is the caller's again; a copy of ours is not. */
static int send_failed(struct actor__envelope *e, int rc)
{
	if (!rc)
		return 0;
	actor__envelope_unfill(e);
	actor__envelope_leave(e);
	return rc;
}

int actor__send_kept(struct actor__loop *loop, struct actor__envelope *e)
{
	struct actor__loop *to;

	if (actor__probes_records())
		e->stamp = actor__ticks();
	if (actor__ref_loop(e->to) == loop->id)
		return actor__deliver(loop, e);
	to = actor__loop_of(loop->system, e->to);
	if (!to) {
		actor__dead_letter(loop, e);
		return 0;
	}
	e->flags |= ACTOR__FOREIGN;
	return actor__channel_send(loop, to, e);
}

int actor__send_here(struct actor__loop *loop, struct actor__envelope *e)
{
	return send_failed(e, actor__send_kept(loop, e));
}

int actor__send_with(struct actor_ctx *ctx, struct actor__envelope *e)
{
	int rc = ctx->log_context ? actor__envelope_attach(e, ctx->log_context) : 0;

	return rc ? send_failed(e, rc) : actor__send_here(ctx->loop, e);
}

static int send_outside(struct actor__loop *to, struct actor__envelope *e)
{
	if (actor__probes_records())
		e->stamp = actor__ticks();
	e->flags |= ACTOR__FOREIGN;
	return send_failed(e, actor__inbox_send(to, e));
}

/* A plain tell, which whoever drives the loops by hand is told of. */
static int tell_outside(struct actor__loop *to, struct actor__envelope *e)
{
	/* Read before: on another thread the system may end as soon as the mail is in. */
	struct actor__driver *driver = to->system->driver;
	int rc = send_outside(to, e);

	if (!rc && ACTOR__UNLIKELY(driver != NULL))
		driver->told(driver);
	return rc;
}

static inline __attribute__((always_inline)) int send_anywhere(struct actor_system *system,
	struct actor__envelope *e, int (*outside)(struct actor__loop *, struct actor__envelope *))
{
	struct actor__loop *to = actor__loop_of(system, e->to);
	int rc;

	if (!to)
		to = system->loops[0]; /* a ref of no loop of ours: a dead letter there */
	if (!actor__loop_here(to) || to->closed)
		return outside(to, e);
	actor__handles_ensure(to);
	rc = actor__send_here(to, e);
	if (to->dirty && !actor__in_turn(to))
		actor__channels_flush(to);
	return rc;
}

int actor__send(struct actor_system *system, struct actor__envelope *e)
{
	return send_anywhere(system, e, send_outside);
}

int actor__envelope_fill(struct actor__envelope *e, actor_ref to, actor_ref sender,
	struct actor_type *type, const void *payload, size_t bytes)
{
	int id = type ? actor__type_id(type) : ACTOR_ETYPE;

	if (id <= 0)
		return id ? id : ACTOR_ETYPE;
	if (!to)
		return -EINVAL;
	header_fill(e, to, sender, id);
	e->flags = (uint8_t)(actor__type_mark(type) >> 24);
	return payload_fill(e, type, payload, bytes);
}

#define NOINLINE static __attribute__((noinline))
#define INLINE   static inline __attribute__((always_inline))

/* Below, `extra` is what an envelope's head has beside type and size: the ask and flags. */

NOINLINE int tell_slowly(struct actor_ctx *ctx, actor_ref to, struct actor_type *type,
	const void *payload, size_t bytes, uint64_t extra)
{
	struct actor__envelope e;
	int rc = actor__envelope_fill(&e, to, ctx->cell->self, type, payload, bytes);

	if (rc)
		return rc;
	e.head |= extra;
	return actor__send_with(ctx, &e);
}

/* The end of a fast tell: asks for a turn if the receiver rests. */
NOINLINE int tell_ask(struct actor__cell *cell)
{
	if (actor__cell_dispatchable(cell))
		actor__unit_queue(&cell->unit, 0);
	return 0;
}

NOINLINE int tell_ask_at(struct actor__cell *cell, uint64_t now)
{
	if (actor__cell_dispatchable(cell))
		actor__unit_queue(&cell->unit, now);
	return 0;
}

NOINLINE int tell_across(struct actor_ctx *ctx, actor_ref to, struct actor_type *type,
	const void *payload, size_t bytes, uint64_t extra);

/* Into the place that the mailbox has. `mark`: of the type. `now`: 0 = nobody listens. */
INLINE int tell_place(struct actor_ctx *ctx, struct actor__cell *cell, uint64_t mark,
	const void *payload, size_t bytes, uint64_t extra, uint64_t now, const bool stamped)
{
	struct actor__envelope *e = cell->mailbox.end++;

	cell->mailbox.count++;
	e->to = cell->self;
	e->sender = ctx->cell->self;
	e->stamp = now;
	e->head = mark << 32 | (uint64_t)bytes << 48 | extra;
	payload_copy(e->inlined, payload, bytes);
	if (cell->unit.state != ACTOR__UNIT_IDLE)
		return 0;
	return stamped ? tell_ask_at(cell, now) : tell_ask(cell);
}

/* The messages of the receiver are in a box. */
NOINLINE int tell_boxed(struct actor_ctx *ctx, struct actor__cell *cell, uint64_t mark,
	const void *payload, size_t bytes, uint64_t extra)
{
	struct actor__envelope e;

	e.to = cell->self;
	e.sender = ctx->cell->self;
	e.stamp = actor__probes_records() ? actor__ticks() : 0;
	e.head = mark << 32 | (uint64_t)bytes << 48 | extra;
	payload_copy(e.inlined, payload, bytes);
	return actor__deliver_boxed(cell, &e);
}

/* The mailbox needs another chunk first. */
NOINLINE int tell_grown(struct actor_ctx *ctx, struct actor__cell *cell, uint64_t mark,
	const void *payload, size_t bytes, uint64_t extra)
{
	if (actor__mailbox_boxed(&cell->mailbox))
		return tell_boxed(ctx, cell, mark, payload, bytes, extra);
	if (!actor__deliver_grow(cell))
		return -ENOMEM;
	if (actor__probes_records())
		return tell_place(ctx, cell, mark, payload, bytes, extra, actor__ticks(), true);
	return tell_place(ctx, cell, mark, payload, bytes, extra, 0, false);
}

/* On the same loop, inside the envelope: no call but in the last place. */
INLINE int tell_fast(struct actor_ctx *ctx, actor_ref to, struct actor_type *type,
	const void *payload, size_t bytes, uint64_t extra, const bool stamped)
{
	uint64_t now = stamped ? actor__ticks() : 0;
	struct actor__cell *cell = actor__slot_find(ctx->loop, to);
	uint64_t mark;

	if (ACTOR__UNLIKELY(!cell || !type || (bytes && !payload)))
		return tell_across(ctx, to, type, payload, bytes, extra);
	mark = actor__type_mark(type);
	if (ACTOR__UNLIKELY(!mark))
		return tell_slowly(ctx, to, type, payload, bytes, extra);
	if (actor__chunk_ends(cell->mailbox.end) &&
		!actor__mailbox_begin(&cell->mailbox, &ctx->loop->pool))
		return tell_grown(ctx, cell, mark, payload, bytes, extra);
	return tell_place(ctx, cell, mark, payload, bytes, extra, now, stamped);
}

NOINLINE int tell_observed(struct actor_ctx *ctx, actor_ref to, struct actor_type *type,
	const void *payload, size_t bytes, uint64_t extra)
{
	if (ctx->log_context)
		return tell_slowly(ctx, to, type, payload, bytes, extra);
	if (bytes > ACTOR_INLINE_BYTES || ACTOR__LISTENED(enqueue))
		return tell_across(ctx, to, type, payload, bytes, extra);
	if (!actor__probes_records()) /* somebody else has a context */
		return tell_fast(ctx, to, type, payload, bytes, extra, false);
	return tell_fast(ctx, to, type, payload, bytes, extra, true);
}

/* To another loop, inside the envelope, while its ring has room: written in place. */
NOINLINE int tell_across(struct actor_ctx *ctx, actor_ref to, struct actor_type *type,
	const void *payload, size_t bytes, uint64_t extra)
{
	struct actor__loop *loop = ctx->loop;
	struct actor__channel *channel = loop->out[actor__ref_loop(to)];
	struct actor__envelope *e;
	uint64_t mark = type ? actor__type_mark(type) : 0;

	if (bytes > ACTOR_INLINE_BYTES || !channel || channel->overflow.count || !mark ||
		(bytes && !payload) || !(e = actor__ring_place(channel->ring)))
		return tell_slowly(ctx, to, type, payload, bytes, extra);
	e->to = to;
	e->sender = ctx->cell->self;
	e->stamp = actor__probes_records() ? actor__ticks() : 0;
	e->head = mark << 32 | (uint64_t)bytes << 48 | extra | (uint64_t)ACTOR__FOREIGN << 56;
	payload_copy(e->inlined, payload, bytes);
	actor__ring_publish(channel->ring);
	actor__channel_touched(loop, channel);
	return 0;
}

/* Other sizes than 8. */
NOINLINE int tell_sized(struct actor_ctx *ctx, actor_ref to, struct actor_type *type,
	const void *payload, size_t bytes, uint64_t extra)
{
	if (ACTOR__UNLIKELY(bytes > ACTOR_INLINE_BYTES))
		return tell_slowly(ctx, to, type, payload, bytes, extra);
	return tell_fast(ctx, to, type, payload, bytes, extra, false);
}

INLINE int tell(struct actor_ctx *ctx, actor_ref to, struct actor_type *type, const void *payload,
	size_t bytes, uint64_t extra)
{
	if (actor__probes_tell())
		return tell_observed(ctx, to, type, payload, bytes, extra);
	if (bytes != 8)
		return tell_sized(ctx, to, type, payload, bytes, extra);
	return tell_fast(ctx, to, type, payload, 8, extra, false);
}

int actor_tell(struct actor_ctx *ctx, actor_ref to, struct actor_type *type, const void *payload,
	size_t bytes)
{
	ACTOR__ASSERT_TURN(ctx);
	return tell(ctx, to, type, payload, bytes, 0);
}

int actor__tell(struct actor_ctx *ctx, actor_ref to, struct actor_type *type, const void *payload,
	size_t bytes, uint64_t extra)
{
	return tell(ctx, to, type, payload, bytes, extra);
}

int actor_system_tell(struct actor_system *system, actor_ref to, struct actor_type *type,
	const void *payload, size_t bytes)
{
	struct actor__envelope e;
	int rc = actor__forked(system) ? actor__refusal(system)
				       : actor__envelope_fill(&e, to, 0, type, payload, bytes);

	return rc ? rc : send_anywhere(system, &e, tell_outside);
}

/* Hands the answer to a thread that waits outside. */
static int reply_outside(struct actor_ctx *ctx, struct actor__envelope *e)
{
	struct actor__waiter *waiter;
	struct actor_message m;

	actor__envelope_open(e, &m);
	waiter = actor__waiter_complete(
		&ctx->loop->system->waiters, ctx->envelope->ask, m.payload, m.bytes);
	if (waiter)
		waiter->answered(waiter, &m);
	actor__envelope_release(e);
	return 0;
}

/* To a thread outside, or to nobody. */
NOINLINE int reply_slowly(
	struct actor_ctx *ctx, struct actor_type *type, const void *payload, size_t bytes)
{
	struct actor__envelope *request = ctx->envelope;
	struct actor__envelope e;
	int rc;

	if (!request)
		return -EINVAL;
	rc = actor__envelope_fill(
		&e, ctx->cell->self, ctx->cell->self, type, payload, bytes);
	if (rc)
		return rc;
	if (request->flags & ACTOR__WAITER)
		return reply_outside(ctx, &e);
	e.to = 0;
	actor__dead_letter(ctx->loop, &e);
	return 0;
}

int actor_reply(struct actor_ctx *ctx, struct actor_type *type, const void *payload, size_t bytes)
{
	const struct actor__envelope *request;
	uint64_t extra = 0;

	ACTOR__ASSERT_TURN(ctx);
	request = ctx->envelope;
	if (ACTOR__UNLIKELY(!request || !request->sender))
		return reply_slowly(ctx, type, payload, bytes);
	/* An answer to an answer is a plain message. */
	if (request->ask && !(request->flags & ACTOR__REPLY))
		extra = request->ask | (uint64_t)ACTOR__REPLY << 56;
	return tell(ctx, request->sender, type, payload, bytes, extra);
}
