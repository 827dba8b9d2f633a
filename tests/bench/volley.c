/* SPDX-License-Identifier: MIT */
/* Volley: one message between two actors, each answers its sender; the driver is one of them. */
#include "bench.h"
#include "events.h"

static int volley_hop(struct actor_ctx *ctx, uint64_t left)
{
	EVENT(turn_start, left, 1);
	bench_handle();
	left--;
	EVENT(enqueue, left, 1);
	EVENT(turn_end, left + 1, 1);
	return actor_reply(ctx, &bench_work, &left, sizeof(left));
}

static int partner_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	return volley_hop(ctx, message_number(m));
}

static int partner_start(struct actor_ctx *ctx)
{
	(void)ctx;
	bench_pin(1);
	return 0;
}

static struct actor_class partner_class = {
	.size = sizeof(struct actor_class), .name = "partner", .on_message = partner_message};

static struct actor_class far_class = {.size = sizeof(struct actor_class),
	.name = "partner",
	.on_start = partner_start,
	.on_message = partner_message};

static int volley_setup(struct actor_ctx *ctx, struct driver *d)
{
	d->spawn.loop = d->wish.workload->loops > 1 ? 2 : 0;
	return actor_spawn(ctx, d->spawn.loop ? &far_class : &partner_class, &d->spawn, &d->peer);
}

static int volley_begin(struct actor_ctx *ctx, struct driver *d)
{
	d->left = d->total;
	EVENT(enqueue, d->left, 1);
	return actor_tell(ctx, d->peer, &bench_work, &d->left, sizeof(d->left));
}

static int volley_message(struct actor_ctx *ctx, struct driver *d, const struct actor_message *m)
{
	uint64_t left = message_number(m);

	d->left -= 2;
	if (d->left + 1 != left)
		return driver_fail(d, "hops", left, d->left + 1);
	if (d->left)
		return volley_hop(ctx, left);
	EVENT(turn_start, left, 1);
	bench_handle();
	EVENT(turn_end, left, 1);
	return driver_lap(ctx, d);
}

const struct workload workload_volley = {
	"volley", "ns", 1000000, 2, 1, volley_setup, volley_begin, volley_message};
const struct workload workload_cross_volley = {
	"cross_volley", "ns", 200000, 2, 2, volley_setup, volley_begin, volley_message};
