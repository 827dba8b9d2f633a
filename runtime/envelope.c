/* SPDX-License-Identifier: MIT */
/* Opening, copying and releasing of payloads. */
#include "envelope.h"

#include "log_context.h"
#include "registry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void actor__envelope_release(struct actor__envelope *e)
{
	struct actor_type *type = e->type ? actor__type(e->type) : NULL;

	if (type && type->destroy)
		type->destroy(e->flags & ACTOR__HEAP ? e->heap.block : e->inlined,
			e->flags & ACTOR__HEAP ? e->heap.bytes : e->bytes);
	else if (e->flags & ACTOR__COPY && !actor__envelope_with(e, ACTOR__LIFTED))
		free(e->heap.block);
	actor__envelope_leave(e);
}

void actor__envelope_leave(struct actor__envelope *e)
{
	if (actor__envelope_with(e, ACTOR__LIFTED))
		free(e->heap.block);
	if (actor__envelope_with(e, ACTOR__CONTEXT))
		actor__log_context_unuse(e->heap.context);
}

int actor__envelope_attach(struct actor__envelope *e, struct actor__log_context *context)
{
	if (!(e->flags & ACTOR__HEAP)) {
		void *block = malloc(ACTOR_INLINE_BYTES);

		if (!block)
			return -ENOMEM;
		memcpy(block, e->inlined, ACTOR_INLINE_BYTES);
		e->heap.block = block;
		e->heap.bytes = e->bytes;
		e->bytes = ACTOR__LIFTED;
		e->flags |= ACTOR__HEAP;
	}
	e->bytes |= ACTOR__CONTEXT;
	e->heap.context = actor__log_context_use(context);
	return 0;
}

void actor__envelope_open(struct actor__envelope *e, struct actor_message *message)
{
	message->type = actor__type(e->type);
	message->payload = e->flags & ACTOR__HEAP ? e->heap.block : e->inlined;
	message->bytes = e->flags & ACTOR__HEAP ? e->heap.bytes : e->bytes;
	message->sender = e->sender;
}

/* A deep copy by the type, if it has one. */
static int payload_copy(
	const struct actor_type *type, void *to, const void *from, size_t bytes)
{
	if (type->copy)
		return type->copy(to, from, bytes);
	memcpy(to, from, bytes);
	return 0;
}

static int block_clone(struct actor__envelope *e, const struct actor_type *type)
{
	void *block = malloc(e->heap.bytes);
	int rc = block ? payload_copy(type, block, e->heap.block, e->heap.bytes) : -ENOMEM;

	if (rc < 0)
		free(block);
	else
		e->heap.block = block;
	return rc < 0 ? rc : 0;
}

int actor__envelope_clone(struct actor__envelope *e)
{
	const struct actor_type *type = actor__type(e->type);
	_Alignas(16) unsigned char from[ACTOR_INLINE_BYTES];
	int rc;

	if (e->flags & ACTOR__HEAP)
		return block_clone(e, type);
	if (!type->copy)
		return 0; /* plain bytes are copied already */
	memcpy(from, e->inlined, sizeof(from));
	rc = type->copy(e->inlined, from, e->bytes);
	return rc < 0 ? rc : 0;
}
