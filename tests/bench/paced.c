/* SPDX-License-Identifier: MIT */
/* Paced: so many messages per second to a counter, in bursts of a millisecond's worth. */
#include "bench.h"

static uv_timer_t clock_timer;
static struct actor_system *bed;
static actor_ref driver;

static int counter_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	uint64_t *n = actor_state(ctx);

	if (m->type == &bench_query)
		return actor_reply(ctx, &bench_count, n, sizeof(*n));
	++*n;
	bench_handle();
	return 0;
}

static struct actor_class counter_class = {.size = sizeof(struct actor_class),
	.name = "counter",
	.state_bytes = sizeof(uint64_t),
	.on_message = counter_message};

static void on_clock(uv_timer_t *timer)
{
	(void)timer;
	actor_system_tell(bed, driver, &bench_query, NULL, 0);
}

static int paced_setup(struct actor_ctx *ctx, struct driver *d)
{
	bed = actor_ctx_system(ctx);
	driver = actor_self(ctx);
	uv_timer_init(actor_ctx_loop(ctx), &clock_timer);
	return actor_spawn(ctx, &counter_class, &d->spawn, &d->peer);
}

static int paced_begin(struct actor_ctx *ctx, struct driver *d)
{
	(void)ctx;
	d->left = d->total;
	return uv_timer_start(&clock_timer, on_clock, 1, 1);
}

/* Tells what is due. */
static void paced_burst(struct actor_ctx *ctx, struct driver *d)
{
	double seconds = (double)(uv_hrtime() - d->began_ns) * 1e-9;
	uint64_t due = (uint64_t)(seconds * (double)d->wish.rate);
	uint64_t sent = d->total - d->left;

	for (; d->left && sent < due; sent++, d->left--, d->sent++)
		actor_tell(ctx, d->peer, &bench_work, &sent, sizeof(sent));
}

static int paced_message(struct actor_ctx *ctx, struct driver *d, const struct actor_message *m)
{
	if (m->type == &bench_count) {
		if (message_number(m) != d->sent)
			return driver_fail(d, "handled", message_number(m), d->sent);
		return driver_lap(ctx, d);
	}
	if (!d->left) /* a tick that was under way */
		return 0;
	paced_burst(ctx, d);
	if (d->left)
		return 0;
	uv_timer_stop(&clock_timer);
	return actor_tell(ctx, d->peer, &bench_query, NULL, 0);
}

const struct workload workload_paced = {
	"paced", "ns", 30000, 1, 1, paced_setup, paced_begin, paced_message};
