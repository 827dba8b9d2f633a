/* SPDX-License-Identifier: MIT */
/* Lines of log from handlers, and the context that a handler has from its message. */
#ifndef ACTOR_LOGGING_H
#define ACTOR_LOGGING_H

#include "core.h"
#include "log_context.h"

/* A handler begins whose message has a context. */
void actor__logging_enter(struct actor_ctx *ctx, struct actor__log_context *context);

/* The handler's context ends with it. `failed`: it stays for the line of the failure, until
 * actor__logging_take(). */
void actor__logging_leave(struct actor_ctx *ctx, bool failed);

/* Before and after a handler: nothing to be done as a rule. */
static inline void actor__logging_begin(struct actor_ctx *ctx, const struct actor__envelope *e)
{
	if (ACTOR__UNLIKELY(actor__envelope_with(e, ACTOR__CONTEXT)))
		actor__logging_enter(ctx, e->heap.context);
}

static inline void actor__logging_end(struct actor_ctx *ctx, bool failed)
{
	if (ACTOR__UNLIKELY(ctx->log_context || failed))
		actor__logging_leave(ctx, failed);
}

/* The context of the handler that failed last; NULL: it had none. It is the caller's to give up. */
static inline struct actor__log_context *actor__logging_take(struct actor_ctx *ctx)
{
	struct actor__log_context *context = ctx->failed_context;

	ctx->failed_context = NULL;
	return context;
}

/* Logs that an actor has failed, with the context of its handler (NULL: none). */
void actor__logging_failure(struct actor_system *system, actor_ref actor,
	const struct actor__log_context *context, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#endif
