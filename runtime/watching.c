/* SPDX-License-Identifier: MIT */
/* Watch and unwatch, as a handler asks for them. */
#include "envelope.h"
#include "farewell.h"
#include "misuse.h"
#include "tell.h"

#include <errno.h>

struct actor_type actor_terminated = ACTOR_TYPE("terminated");

static int watch_check(const struct actor_ctx *ctx, actor_ref ref, const char *function)
{
	int rc = actor__misuse_turn(ctx, function);

	if (rc)
		return rc;
	if (!ref || ref == ctx->cell->self)
		return actor__misuse(ctx->loop->system, -EINVAL, function,
			"an actor watches others, not itself or nobody");
	return actor__cell_life(ctx->cell) >= ACTOR__TERMINATING ? ACTOR_ECLOSED : 0;
}

/* The message of a watch whose subject has not ended is another one from now on. */
static void message_replace(struct actor__watch *watch, const struct actor__envelope *e, bool plain)
{
	struct actor__envelope old = watch->message;

	watch->message = *e;
	watch->plain = plain;
	actor__envelope_release(&old);
}

static int watch(struct actor_ctx *ctx, struct actor__watch *present,
	const struct actor__envelope *e, bool plain)
{
	struct actor__watch *watch;

	if (present && present->state == ACTOR__WATCHING) {
		message_replace(present, e, plain);
		return 0;
	}
	watch = actor__watches_add(ctx->cell, e->sender, e);
	if (!watch)
		return -ENOMEM;
	watch->plain = plain;
	if (present)
		actor__farewell_unwatch(ctx->loop, present);
	actor__farewell_begin(ctx->loop, &watch->vigil);
	return 0;
}

int actor_watch(struct actor_ctx *ctx, actor_ref ref)
{
	const struct actor_termination payload = {.actor = ref};
	int rc = watch_check(ctx, ref, "actor_watch");
	struct actor__watch *present;
	struct actor__envelope e;

	if (rc)
		return rc;
	present = actor__watches_find(ctx->cell, ref);
	if (present && present->plain)
		return 0;
	rc = actor__envelope_fill(
		&e, ctx->cell->self, ref, &actor_terminated, &payload, sizeof(payload));
	return rc ? rc : watch(ctx, present, &e, true);
}

int actor_watch_with(struct actor_ctx *ctx, actor_ref ref, struct actor_type *type,
	const void *payload, size_t bytes)
{
	int rc = watch_check(ctx, ref, "actor_watch_with");
	struct actor__envelope e;

	if (!rc)
		rc = actor__envelope_fill(&e, ctx->cell->self, ref, type, payload, bytes);
	if (rc)
		return rc;
	rc = watch(ctx, actor__watches_find(ctx->cell, ref), &e, false);
	if (rc)
		actor__envelope_unfill(&e);
	return rc;
}

int actor_unwatch(struct actor_ctx *ctx, actor_ref ref)
{
	int rc = actor__misuse_turn(ctx, "actor_unwatch");
	struct actor__watch *watch = rc ? NULL : actor__watches_find(ctx->cell, ref);

	if (!watch)
		return rc ? rc : -ENOENT;
	actor__watches_remove(ctx->cell, watch);
	actor__farewell_unwatch(ctx->loop, watch);
	return 0;
}
