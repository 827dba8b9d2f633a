/* SPDX-License-Identifier: MIT */
/* Wake: told to an actor of a loop that has slept for 2 ms -> its handler runs. Median per lap. */
#include "bench.h"

#include <stdlib.h>

#define PAUSE_MS  2
#define WAKES_MAX 1000u

static uint64_t delays[WAKES_MAX];
static uv_timer_t pause_timer;
static struct actor_system *bed;
static actor_ref driver;

static int sleeper_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	uint64_t delay = uv_hrtime() - message_number(m);

	return actor_reply(ctx, &bench_count, &delay, sizeof(delay));
}

static int sleeper_start(struct actor_ctx *ctx)
{
	(void)ctx;
	bench_pin(1);
	return 0;
}

static struct actor_class sleeper_class = {.size = sizeof(struct actor_class),
	.name = "sleeper",
	.on_start = sleeper_start,
	.on_message = sleeper_message};

static void on_pause(uv_timer_t *timer)
{
	(void)timer;
	actor_system_tell(bed, driver, &bench_query, NULL, 0);
}

static int wake_setup(struct actor_ctx *ctx, struct driver *d)
{
	bed = actor_ctx_system(ctx);
	driver = actor_self(ctx);
	d->spawn.loop = 2;
	uv_timer_init(actor_ctx_loop(ctx), &pause_timer);
	return actor_spawn(ctx, &sleeper_class, &d->spawn, &d->peer);
}

static int wake_begin(struct actor_ctx *ctx, struct driver *d)
{
	(void)ctx;
	d->left = d->total < WAKES_MAX ? d->total : WAKES_MAX;
	d->sent = d->left;
	return uv_timer_start(&pause_timer, on_pause, PAUSE_MS, 0);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int wake_message(struct actor_ctx *ctx, struct driver *d, const struct actor_message *m)
{
	uint64_t now;

	if (m->type == &bench_query) {
		now = uv_hrtime();
		return actor_tell(ctx, d->peer, &bench_work, &now, sizeof(now));
	}
	delays[--d->left] = message_number(m);
	if (d->left)
		return uv_timer_start(&pause_timer, on_pause, PAUSE_MS, 0);
	qsort(delays, d->sent, sizeof(delays[0]), by_value);
	return driver_lap_value(ctx, d, (double)delays[d->sent / 2]);
}

const struct workload workload_wake = {
	"wake", "ns", 100, 1, 2, wake_setup, wake_begin, wake_message};
