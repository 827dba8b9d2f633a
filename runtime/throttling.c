/* SPDX-License-Identifier: MIT */
/* The throttle as a handler asks for it. */
#include "misuse.h"
#include "parts.h"
#include "throttle.h"

#include <errno.h>

int actor_throttle(struct actor_ctx *ctx, const struct actor_throttle_options *options)
{
	int rc = actor__misuse_turn(ctx, __func__);
	struct actor__throttle *throttle;

	if (!rc && options)
		rc = actor__throttle_check(options);
	if (!rc && options && actor__cell_life(ctx->cell) >= ACTOR__TERMINATING)
		rc = ACTOR_ECLOSED;
	if (rc || (!options && !ctx->cell->extra))
		return rc;
	throttle = actor__throttle_of(ctx->cell);
	if (!throttle)
		return -ENOMEM;
	actor__throttle_set(throttle, options);
	actor__throttle_resume(throttle);
	actor__extra_careful(ctx->cell);
	return 0;
}
