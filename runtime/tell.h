/* SPDX-License-Identifier: MIT */
/* Building and sending envelopes, for ask and spawn. */
#ifndef ACTOR_TELL_H
#define ACTOR_TELL_H

#include "core.h"

/* Builds an envelope for `to`; 0, ACTOR_ETYPE, ACTOR_ELIMIT, -EINVAL, -ENOMEM. */
int actor__envelope_fill(struct actor__envelope *e, actor_ref to, actor_ref sender,
	struct actor_type *type, const void *payload, size_t bytes);

/* Undoes that: the payload is the caller's again. */
void actor__envelope_unfill(struct actor__envelope *e);

/* actor_tell() with an ask's number and flags in the envelope's head. */
int actor__tell(struct actor_ctx *ctx, actor_ref to, struct actor_type *type, const void *payload,
	size_t bytes, uint64_t extra);

/* Stamps and sends a complete envelope: from its loop's thread, or from any thread. After an
 * error the payload is the caller's again. */
int actor__send_here(struct actor__loop *loop, struct actor__envelope *e);

/* As actor__send_here(), but after an error the runtime's own copy of a payload is there as well. */
int actor__send_kept(struct actor__loop *loop, struct actor__envelope *e);

/* The same of a handler, whose context goes along. */
int actor__send_with(struct actor_ctx *ctx, struct actor__envelope *e);
int actor__send(struct actor_system *system, struct actor__envelope *e);

#endif
