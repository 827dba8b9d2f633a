/* SPDX-License-Identifier: MIT */
/* What handlers log, and with which context.
 *
 * While a handler has a context, the word that tell looks at says that somebody listens: each tell
 * of the process then takes its slow way, where those of this handler get the context along. So
 * programs without contexts have no instruction more (probes.h). */
#include "logging.h"

#include "fork.h"
#include "log.h"
#include "misuse.h"
#include "probes.h"

#include <errno.h>
#include <stdarg.h>

static void context_set(struct actor_ctx *ctx, struct actor__log_context *context)
{
	if (!ctx->log_context != !context)
		actor__contexts_add(context ? 1 : -1);
	actor__log_context_unuse(ctx->log_context);
	ctx->log_context = context;
}

void actor__logging_enter(struct actor_ctx *ctx, struct actor__log_context *context)
{
	context_set(ctx, actor__log_context_use(context));
}

void actor__logging_leave(struct actor_ctx *ctx, bool failed)
{
	if (failed) {
		actor__log_context_unuse(ctx->failed_context);
		ctx->failed_context =
			ctx->log_context ? actor__log_context_use(ctx->log_context) : NULL;
	}
	context_set(ctx, NULL);
}

static int log_with(struct actor_system *system, actor_ref actor, enum actor_log_level level,
	const struct actor__log_context *context, const char *format, va_list arguments)
{
	char text[ACTOR__LOG_BYTES];
	struct actor_log_record record = {.level = level, .text = text, .actor = actor};

	if (level < ACTOR_LOG_DEBUG || level > ACTOR_LOG_ERROR || !format)
		return -EINVAL;
	if (!actor__log_enabled(&system->logger, level))
		return 0;
	if (context) {
		record.fields = context->fields;
		record.field_count = context->count;
	}
	actor__log_format(text, format, arguments);
	return actor__log_record(system, &record);
}

void actor__logging_failure(struct actor_system *system, actor_ref actor,
	const struct actor__log_context *context, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	log_with(system, actor, ACTOR_LOG_ERROR, context, format, arguments);
	va_end(arguments);
}

int actor_log(struct actor_ctx *ctx, enum actor_log_level level, const char *format, ...)
{
	int rc = actor__misuse_turn(ctx, "actor_log");
	va_list arguments;

	if (rc)
		return rc;
	va_start(arguments, format);
	rc = log_with(
		ctx->loop->system, ctx->cell->self, level, ctx->log_context, format, arguments);
	va_end(arguments);
	return rc;
}

int actor_system_log(
	struct actor_system *system, enum actor_log_level level, const char *format, ...)
{
	va_list arguments;
	int rc;

	if (actor__forked(system))
		return actor__refusal(system);
	va_start(arguments, format);
	rc = log_with(system, 0, level, NULL, format, arguments);
	va_end(arguments);
	return rc;
}

int actor_log_context_set(struct actor_ctx *ctx, const char *key, const char *value)
{
	struct actor__log_context *context;
	int rc = actor__misuse_turn(ctx, "actor_log_context_set");

	if (!rc)
		rc = actor__log_context_with(ctx->log_context, key, value, &context);
	if (rc)
		return rc;
	context_set(ctx, context);
	ctx->aftermath |= ACTOR__AFTERMATH; /* it ends with the handler */
	return 0;
}

const char *actor_log_context_get(const struct actor_ctx *ctx, const char *key)
{
	if (!key || actor__misuse_turn(ctx, "actor_log_context_get"))
		return NULL;
	return actor__log_context_find(ctx->log_context, key);
}

int actor_log_context_clear(struct actor_ctx *ctx)
{
	int rc = actor__misuse_turn(ctx, "actor_log_context_clear");

	if (!rc)
		context_set(ctx, NULL);
	return rc;
}
