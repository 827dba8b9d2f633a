/* SPDX-License-Identifier: MIT */
/* The ways to end an actor: in its turn, by a failure, at once; and to suspend and resume one. */
#include "deliver.h"
#include "fork.h"
#include "misuse.h"
#include "stop.h"
#include "tell.h"

#include <errno.h>

static int ask_of(struct actor_ctx *ctx, actor_ref ref, enum actor__poison poison,
	const char *function)
{
	int rc = actor__misuse_turn(ctx, function);
	struct actor__envelope e;

	if (rc)
		return rc;
	if (!ref)
		return -EINVAL;
	actor__poison_fill(&e, ref, ctx->cell->self, poison);
	return actor__send_here(ctx->loop, &e);
}

static int ask_from_outside(struct actor_system *system, actor_ref ref, enum actor__poison poison)
{
	struct actor__envelope e;

	if (actor__forked(system))
		return actor__refusal(system);
	if (!ref)
		return -EINVAL;
	actor__poison_fill(&e, ref, 0, poison);
	return actor__send(system, &e);
}

int actor_stop(struct actor_ctx *ctx, actor_ref ref)
{
	return ask_of(ctx, ref, ACTOR__POISON_STOP, "actor_stop");
}

int actor_system_stop(struct actor_system *system, actor_ref ref)
{
	return ask_from_outside(system, ref, ACTOR__POISON_STOP);
}

int actor_kill(struct actor_ctx *ctx, actor_ref ref)
{
	return ask_of(ctx, ref, ACTOR__POISON_KILL, "actor_kill");
}

int actor_system_kill(struct actor_system *system, actor_ref ref)
{
	return ask_from_outside(system, ref, ACTOR__POISON_KILL);
}

int actor_terminate(struct actor_ctx *ctx, actor_ref ref)
{
	return ask_of(ctx, ref, ACTOR__POISON_TERMINATE, "actor_terminate");
}

int actor_system_terminate(struct actor_system *system, actor_ref ref)
{
	return ask_from_outside(system, ref, ACTOR__POISON_TERMINATE);
}

int actor_suspend(struct actor_ctx *ctx, actor_ref ref)
{
	return ask_of(ctx, ref, ACTOR__POISON_SUSPEND, "actor_suspend");
}

int actor_system_suspend(struct actor_system *system, actor_ref ref)
{
	return ask_from_outside(system, ref, ACTOR__POISON_SUSPEND);
}

int actor_resume(struct actor_ctx *ctx, actor_ref ref)
{
	return ask_of(ctx, ref, ACTOR__POISON_RESUME, "actor_resume");
}

int actor_system_resume(struct actor_system *system, actor_ref ref)
{
	return ask_from_outside(system, ref, ACTOR__POISON_RESUME);
}

void actor_stop_self(struct actor_ctx *ctx)
{
	if (!actor__misuse_turn(ctx, "actor_stop_self"))
		ctx->cell->signals |= ACTOR__SIGNAL_TERMINATE;
}
