/* SPDX-License-Identifier: MIT */
/* Work on libuv's thread pool, as a handler asks for it. */
#include "deliver.h"
#include "extra.h"
#include "job.h"
#include "misuse.h"
#include "pending.h"
#include "tell.h"

#include <errno.h>

/* May this actor still begin something? */
static int check(const struct actor_ctx *ctx, const char *function)
{
	int rc = actor__misuse_turn(ctx, function);

	if (rc)
		return rc;
	if (actor__cell_life(ctx->cell) >= ACTOR__TERMINATING ||
		atomic_load_explicit(&ctx->loop->stopping, memory_order_relaxed))
		return ACTOR_ECLOSED;
	return 0;
}

int actor_work(struct actor_ctx *ctx, actor_ref to, struct actor_type *type, const void *payload,
	size_t bytes, actor_work_cb work)
{
	int rc = check(ctx, "actor_work");
	struct actor__envelope e;
	struct actor__job *job;

	if (rc)
		return rc;
	if (!work)
		return actor__misuse(ctx->loop->system, -EINVAL, "actor_work", "no work");
	rc = actor__envelope_fill(&e, to, ctx->cell->self, type, payload, bytes);
	if (rc)
		return rc;
	job = actor__job_new(ctx->cell);
	if (!job) {
		actor__envelope_unfill(&e);
		return -ENOMEM;
	}
	job->envelope = e;
	job->work = work;
	actor__job_begin(job);
	return 0;
}

int actor_pending_work(struct actor_ctx *ctx, actor_pending_work_cb work, actor_complete_cb cb,
	void *data)
{
	struct actor_token token;
	struct actor__job *job;
	int rc = check(ctx, "actor_pending_work");

	if (rc)
		return rc;
	if (!work)
		return actor__misuse(ctx->loop->system, -EINVAL, "actor_pending_work", "no work");
	job = actor__job_new(ctx->cell);
	if (!job)
		return -ENOMEM;
	rc = actor_pending(ctx, &token);
	if (rc) {
		actor__job_unmake(job);
		return rc;
	}
	job->pending = work;
	job->cb = cb;
	job->data = data;
	job->token = token;
	ctx->cell->extra->pending->job = job;
	actor__job_begin(job);
	return 0;
}
