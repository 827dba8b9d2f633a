/* SPDX-License-Identifier: MIT */
/* Become and unbecome: how an actor changes what handles its messages. */
#include "extra.h"
#include "misuse.h"

#include <errno.h>

static int check(const struct actor_ctx *ctx, const char *function, actor_receive_cb receive)
{
	int rc = actor__misuse_turn(ctx, function);

	if (rc || receive)
		return rc;
	return actor__misuse(ctx->loop->system, -EINVAL, function, "no behaviour");
}

int actor_become(struct actor_ctx *ctx, actor_receive_cb receive)
{
	int rc = check(ctx, "actor_become", receive);

	if (!rc)
		ctx->cell->receive = receive;
	return rc;
}

int actor_become_over(struct actor_ctx *ctx, actor_receive_cb receive)
{
	int rc = check(ctx, "actor_become_over", receive);
	struct actor__extra *extra;

	if (rc)
		return rc;
	extra = actor__extra_of(ctx->cell);
	rc = extra ? actor__behaviours_push(&extra->behaviours, ctx->cell->receive) : -ENOMEM;
	if (!rc)
		ctx->cell->receive = receive;
	return rc;
}

int actor_unbecome(struct actor_ctx *ctx)
{
	int rc = actor__misuse_turn(ctx, "actor_unbecome");
	struct actor__extra *extra;
	actor_receive_cb below;

	if (rc)
		return rc;
	extra = ctx->cell->extra;
	below = extra ? actor__behaviours_pop(&extra->behaviours) : NULL;
	if (!below)
		return -ENOENT;
	ctx->cell->receive = below;
	return 0;
}
