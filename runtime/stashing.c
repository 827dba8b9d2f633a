/* SPDX-License-Identifier: MIT */
/* Stash and unstash, as a handler asks for them. */
#include "misuse.h"
#include "parts.h"
#include "stash.h"

#include <errno.h>

int actor_stash(struct actor_ctx *ctx)
{
	int rc = actor__misuse_message(ctx, "actor_stash");
	struct actor__extra *extra;

	if (rc)
		return rc;
	if (ctx->aftermath & (ACTOR__TAKEN | ACTOR__STASHED) || ctx->envelope->flags & ACTOR__REPLY)
		return actor__misuse(ctx->loop->system, -EINVAL, "actor_stash",
			"the message was taken or stashed before, or is an answer");
	extra = actor__extra_of(ctx->cell);
	if (!extra)
		return -ENOMEM;
	if (extra->pending)
		return actor__misuse(ctx->loop->system, -EINVAL, "actor_stash",
			"the handler is pending, or was");
	rc = actor__stash_put(&extra->stash,
		extra->stash_capacity ? extra->stash_capacity : ACTOR_STASH_CAPACITY,
		&ctx->loop->pool, ctx->envelope);
	if (!rc)
		ctx->aftermath |= ACTOR__AFTERMATH | ACTOR__STASHED;
	return rc;
}

int actor_unstash_all(struct actor_ctx *ctx)
{
	int rc = actor__misuse_turn(ctx, "actor_unstash_all");
	struct actor__cell *cell;
	uint32_t count;

	if (rc)
		return rc;
	cell = ctx->cell;
	count = actor__stash_replay(cell->extra ? cell->extra->stash : NULL);
	if (!count)
		return 0;
	cell->mailbox.count += count;
	actor__extra_careful(cell);
	return (int)count;
}
