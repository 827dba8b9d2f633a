/* SPDX-License-Identifier: MIT */
/* Become and unbecome: how an actor changes what handles its messages. */
#include "extra.h"

#include <errno.h>

int actor_become(struct actor_ctx *ctx, actor_receive_cb receive)
{
	if (!receive)
		return -EINVAL;
	ctx->cell->receive = receive;
	return 0;
}

int actor_become_over(struct actor_ctx *ctx, actor_receive_cb receive)
{
	struct actor__extra *extra;
	int rc;

	if (!receive)
		return -EINVAL;
	extra = actor__extra_of(ctx->cell);
	rc = extra ? actor__behaviours_push(&extra->behaviours, ctx->cell->receive) : -ENOMEM;
	if (!rc)
		ctx->cell->receive = receive;
	return rc;
}

int actor_unbecome(struct actor_ctx *ctx)
{
	struct actor__extra *extra = ctx->cell->extra;
	actor_receive_cb below = extra ? actor__behaviours_pop(&extra->behaviours) : NULL;

	if (!below)
		return -ENOENT;
	ctx->cell->receive = below;
	return 0;
}
