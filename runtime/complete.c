/* SPDX-License-Identifier: MIT */
/* Pending and complete, as handlers and other threads ask for them. */
#include "extra.h"
#include "fork.h"
#include "handles.h"
#include "misuse.h"
#include "notice.h"
#include "pending.h"

#include <errno.h>

int actor_pending(struct actor_ctx *ctx, struct actor_token *token)
{
	int rc = actor__misuse_message(ctx, "actor_pending");

	if (rc)
		return rc;
	if (!token || ctx->aftermath & (ACTOR__STASHED | ACTOR__PENDED))
		return actor__misuse(ctx->loop->system, -EINVAL, "actor_pending",
			"no token, or the handler has stashed its message or is pending");
	if (atomic_load_explicit(&ctx->loop->stopping, memory_order_relaxed))
		return ACTOR_ECLOSED;
	rc = actor__pending_register(ctx->cell);
	if (rc)
		return rc;
	ctx->aftermath |= ACTOR__AFTERMATH | ACTOR__PENDED;
	token->actor = ctx->cell->self;
	token->number = ctx->cell->extra->pending->number;
	return 0;
}

int actor_complete(struct actor_system *system, struct actor_token token, int status,
	actor_complete_cb cb, void *data)
{
	struct actor__pending *p;
	struct actor__loop *loop;

	if (actor__forked(system))
		return actor__refusal(system);
	loop = actor__loop_of(system, token.actor);
	p = loop ? actor__pending_take(&loop->pendings, &token) : NULL;
	if (!p)
		return -ESTALE;
	p->status = status;
	p->cb = cb;
	p->data = data;
	if (!actor__loop_here(loop)) {
		actor__notice_send(loop, &p->notice, ACTOR__COMPLETED, token.actor, NULL);
	} else if (p->cell->state & ACTOR__PENDING) {
		actor__handles_ensure(loop);
		actor__pending_arrive(p);
	} else {
		p->here = true;
	}
	return 0;
}
