/* SPDX-License-Identifier: MIT */
/* What a handler may ask of its context. */
#include "misuse.h"

#include <stdarg.h>
#include <stdio.h>

actor_ref actor_self(const struct actor_ctx *ctx)
{
	ACTOR__ASSERT_TURN(ctx);
	return ctx->cell->self;
}

void *actor_state(const struct actor_ctx *ctx)
{
	ACTOR__ASSERT_TURN(ctx);
	return actor__cell_state(ctx->cell);
}

actor_ref actor_sender(const struct actor_ctx *ctx)
{
	ACTOR__ASSERT_TURN(ctx);
	return ctx->envelope ? ctx->envelope->sender : ACTOR_NONE;
}

actor_ref actor_parent(const struct actor_ctx *ctx)
{
	ACTOR__ASSERT_TURN(ctx);
	return ctx->cell->parent;
}

struct actor_system *actor_ctx_system(const struct actor_ctx *ctx)
{
	ACTOR__ASSERT_TURN(ctx);
	return ctx->loop->system;
}

uv_loop_t *actor_ctx_loop(const struct actor_ctx *ctx)
{
	ACTOR__ASSERT_TURN(ctx);
	return ctx->loop->uv;
}

void *actor_take(struct actor_ctx *ctx)
{
	if (!ctx || !ctx->envelope || ctx->aftermath & ACTOR__STASHED)
		return NULL; /* on_start and on_stop have no message; the stash has it */
	ctx->aftermath |= ACTOR__AFTERMATH | ACTOR__TAKEN;
	return ctx->message.payload;
}

int actor_fail(struct actor_ctx *ctx, int code, const char *format, ...)
{
	va_list arguments;

	if (!ctx)
		return UV_EINVAL;
	ctx->failure = code < 0 ? code : UV_EINVAL;
	ctx->aftermath |= ACTOR__AFTERMATH | ACTOR__FAILED;
	va_start(arguments, format);
	vsnprintf(ctx->text, sizeof(ctx->text), format ? format : "no text", arguments);
	va_end(arguments);
	return ctx->failure;
}
