/* SPDX-License-Identifier: MIT */
/* Spawn: 100 at a time; all have started, then all are stopped; all have stopped, then the next. */
#include "bench.h"

#define CHILDREN 100u

static actor_ref children[CHILDREN];
static uint64_t started, stopped;

static int child_start(struct actor_ctx *ctx)
{
	if (++started % CHILDREN)
		return 0;
	return actor_tell(ctx, actor_parent(ctx), &bench_count, &started, sizeof(started));
}

static int child_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	(void)ctx;
	(void)m;
	return 0;
}

static void child_stop(struct actor_ctx *ctx)
{
	if (++stopped % CHILDREN == 0)
		actor_tell(ctx, actor_parent(ctx), &bench_work, &stopped, sizeof(stopped));
}

static struct actor_class child_class = {.size = sizeof(struct actor_class),
	.name = "child",
	.on_start = child_start,
	.on_message = child_message,
	.on_stop = child_stop};

static int spawn_batch(struct actor_ctx *ctx, struct driver *d)
{
	int rc = 0;

	d->sent += CHILDREN;
	for (uint32_t i = 0; i < CHILDREN && !rc; i++)
		rc = actor_spawn(ctx, &child_class, &d->spawn, &children[i]);
	return rc;
}

static int spawn_begin(struct actor_ctx *ctx, struct driver *d)
{
	d->left = d->total;
	return spawn_batch(ctx, d);
}

static int spawn_message(struct actor_ctx *ctx, struct driver *d, const struct actor_message *m)
{
	if (m->type == &bench_count) {
		for (uint32_t i = 0; i < CHILDREN; i++)
			actor_stop(ctx, children[i]);
		return 0;
	}
	if (started != d->sent || stopped != d->sent)
		return driver_fail(d, "started or stopped", stopped, d->sent);
	d->left -= CHILDREN;
	return d->left ? spawn_batch(ctx, d) : driver_lap(ctx, d);
}

const struct workload workload_spawn = {
	"spawn", "ns", 200000, CHILDREN, 1, NULL, spawn_begin, spawn_message};
