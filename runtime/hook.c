/* SPDX-License-Identifier: MIT */
/* Hooks of a class, which may be an older and shorter one. */
#include "hook.h"

#include "logging.h"
#include "path.h"

/* Its field, or nothing if the class ends before it. */
#define FIELD(cls, field)                                                                          \
	((cls)->size >= offsetof(struct actor_class, field) + sizeof((cls)->field) ? (cls)->field  \
										   : 0)

static struct actor_ctx *context(struct actor__cell *cell)
{
	struct actor_ctx *ctx = &cell->loop->ctx;

	ctx->cell = cell;
	ctx->envelope = NULL;
	ctx->message.sender = 0;
	ctx->failure = 0;
	ctx->aftermath = 0;
	ctx->text[0] = '\0';
	return ctx;
}

/* What actor_fail() said comes before what the hook returned. */
static int result(struct actor_ctx *ctx, int rc)
{
	ctx->aftermath = 0;
	if (ctx->failure)
		rc = ctx->failure;
	actor__logging_end(ctx, rc < 0);
	return rc < 0 ? rc : 0;
}

static void failed_log(struct actor__cell *cell, const char *hook)
{
	struct actor_ctx *ctx = &cell->loop->ctx;
	struct actor__log_context *context;
	char path[ACTOR__PATH_BYTES];
	int rc = result(ctx, 0);

	if (!rc)
		return;
	context = actor__logging_take(ctx);
	actor__path_text(cell->loop->system, cell->self, path, sizeof(path));
	actor__logging_failure(cell->loop->system, cell->self, context,
		"actor %s (%s) failed in %s, which ends it anyhow: %s: %s", path, cell->cls->name,
		hook, actor_strerror(rc), ctx->text);
	actor__log_context_unuse(context);
}

int actor__hook_start(struct actor__cell *cell)
{
	struct actor_ctx *ctx = context(cell);

	return result(ctx, cell->cls->on_start ? cell->cls->on_start(ctx) : 0);
}

int actor__hook_post_restart(struct actor__cell *cell, int code)
{
	struct actor_ctx *ctx = context(cell);

	if (!FIELD(cell->cls, on_post_restart))
		return actor__hook_start(cell);
	return result(ctx, cell->cls->on_post_restart(ctx, code));
}

void actor__hook_stop(struct actor__cell *cell)
{
	if (!cell->cls->on_stop)
		return;
	cell->cls->on_stop(context(cell));
	failed_log(cell, "on_stop");
}

void actor__hook_pre_restart(struct actor__cell *cell, int code)
{
	if (!FIELD(cell->cls, on_pre_restart)) {
		actor__hook_stop(cell);
		return;
	}
	cell->cls->on_pre_restart(context(cell), code);
	failed_log(cell, "on_pre_restart");
}

bool actor__hook_keeps_children(const struct actor__cell *cell)
{
	return FIELD(cell->cls, keeps_children) != 0;
}
