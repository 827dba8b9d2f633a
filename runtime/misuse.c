/* SPDX-License-Identifier: MIT */
/* What can be told of a wrong call. */
#include "misuse.h"

#include "log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int actor__misuse(struct actor_system *system, int code, const char *function, const char *what)
{
	actor__log(system, ACTOR_LOG_ERROR, "%s: %s", function, what);
	return code;
}

int actor__misuse_turn(const struct actor_ctx *ctx, const char *function)
{
	struct actor__loop *loop;

	if (!ctx)
		return -EINVAL; /* of which system is not known */
	loop = ctx->loop;
	if (!actor__loop_here(loop))
		return actor__misuse(loop->system, ACTOR_ETHREAD, function,
			"called on another thread than the handler's");
	if (!actor__in_turn(loop))
		return actor__misuse(
			loop->system, -EINVAL, function, "called when no handler runs");
	return 0;
}

int actor__misuse_message(const struct actor_ctx *ctx, const char *function)
{
	int rc = actor__misuse_turn(ctx, function);

	if (rc || ctx->envelope)
		return rc;
	return actor__misuse(
		ctx->loop->system, -EINVAL, function, "there is no message in on_start and on_stop");
}

void actor__misuse_assert(const struct actor_ctx *ctx, const char *function)
{
	if (!actor__misuse_turn(ctx, function))
		return;
	fprintf(stderr, "libactor: %s: %s\n", function,
		ctx ? "called outside the turn of its context" : "called without a context");
	abort();
}
