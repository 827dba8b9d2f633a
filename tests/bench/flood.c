/* SPDX-License-Identifier: MIT */
/* Flood: 10 000 messages to a counter, then the count is asked for and checked. */
#include "bench.h"
#include "events.h"

static int counter_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	uint64_t *n = actor_state(ctx);

	if (m->type == &bench_query)
		return actor_reply(ctx, &bench_count, n, sizeof(*n));
	EVENT(turn_start, message_number(m), 1);
	++*n;
	bench_handle();
	EVENT(turn_end, message_number(m), 1);
	return 0;
}

static int counter_start(struct actor_ctx *ctx)
{
	(void)ctx;
	bench_pin(1);
	return 0;
}

static struct actor_class counter_class = {.size = sizeof(struct actor_class),
	.name = "counter",
	.state_bytes = sizeof(uint64_t),
	.on_message = counter_message};

static struct actor_class far_class = {.size = sizeof(struct actor_class),
	.name = "counter",
	.state_bytes = sizeof(uint64_t),
	.on_start = counter_start,
	.on_message = counter_message};

static int flood_setup(struct actor_ctx *ctx, struct driver *d)
{
	d->spawn.loop = d->wish.workload->loops > 1 ? 2 : 0;
	return actor_spawn(ctx, d->spawn.loop ? &far_class : &counter_class, &d->spawn, &d->peer);
}

static int flood_batch(struct actor_ctx *ctx, struct driver *d)
{
	uint64_t n = d->left < BATCH ? d->left : BATCH;

	for (uint64_t i = 0; i < n; i++) {
		EVENT(enqueue, i, 1);
		actor_tell(ctx, d->peer, &bench_work, &i, sizeof(i));
	}
	d->sent += n;
	d->left -= n;
	return actor_tell(ctx, d->peer, &bench_query, NULL, 0);
}

static int flood_begin(struct actor_ctx *ctx, struct driver *d)
{
	d->left = d->total;
	return flood_batch(ctx, d);
}

static int flood_message(struct actor_ctx *ctx, struct driver *d, const struct actor_message *m)
{
	if (message_number(m) != d->sent)
		return driver_fail(d, "handled", message_number(m), d->sent);
	return d->left ? flood_batch(ctx, d) : driver_lap(ctx, d);
}

const struct workload workload_tell_flood = {
	"tell_flood", "ns", 2000000, BATCH, 1, flood_setup, flood_begin, flood_message};
const struct workload workload_cross_flood = {
	"cross_flood", "ns", 2000000, BATCH, 2, flood_setup, flood_begin, flood_message};
