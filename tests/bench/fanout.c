/* SPDX-License-Identifier: MIT */
/* Fan-out: bursts of 100 x 100 messages round-robin; each worker reports once per burst. */
#include "bench.h"

#define WORKERS 100u

static actor_ref workers[WORKERS];

static int worker_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	uint64_t *in_burst = actor_state(ctx);
	uint64_t done;

	bench_handle();
	if (++*in_burst < BATCH / WORKERS)
		return 0;
	done = *in_burst;
	*in_burst = 0;
	return actor_tell(ctx, m->sender, &bench_count, &done, sizeof(done));
}

static struct actor_class worker_class = {.size = sizeof(struct actor_class),
	.name = "worker",
	.state_bytes = sizeof(uint64_t),
	.on_message = worker_message};

static int fanout_setup(struct actor_ctx *ctx, struct driver *d)
{
	int rc = 0;

	for (uint32_t i = 0; i < WORKERS && !rc; i++)
		rc = actor_spawn(ctx, &worker_class, &d->spawn, &workers[i]);
	return rc;
}

static int fanout_burst(struct actor_ctx *ctx, struct driver *d)
{
	for (uint64_t round = 0; round < BATCH / WORKERS; round++)
		for (uint32_t i = 0; i < WORKERS; i++)
			actor_tell(ctx, workers[i], &bench_work, &round, sizeof(round));
	d->waiting = WORKERS;
	return 0;
}

static int fanout_begin(struct actor_ctx *ctx, struct driver *d)
{
	d->left = d->total;
	return fanout_burst(ctx, d);
}

static int fanout_message(struct actor_ctx *ctx, struct driver *d, const struct actor_message *m)
{
	if (message_number(m) != BATCH / WORKERS)
		return driver_fail(d, "handled", message_number(m), BATCH / WORKERS);
	if (--d->waiting)
		return 0;
	d->left -= BATCH;
	return d->left ? fanout_burst(ctx, d) : driver_lap(ctx, d);
}

const struct workload workload_fanout = {
	"fanout", "ns", 1000000, BATCH, 1, fanout_setup, fanout_begin, fanout_message};
