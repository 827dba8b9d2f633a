/* SPDX-License-Identifier: MIT */
/* Ask: sequential rounds with the default time-out, each answer's value is checked. */
#include "bench.h"

static int echo_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	return actor_reply(ctx, &bench_work, m->payload, m->bytes);
}

static struct actor_class echo_class = {
	.size = sizeof(struct actor_class), .name = "echo", .on_message = echo_message};

static int ask_setup(struct actor_ctx *ctx, struct driver *d)
{
	return actor_spawn(ctx, &echo_class, &d->spawn, &d->peer);
}

static int ask_answered(
	struct actor_ctx *ctx, int status, const struct actor_message *m, void *data);

static int ask_next(struct actor_ctx *ctx, struct driver *d)
{
	return actor_ask(ctx, d->peer, &bench_work, &d->left, sizeof(d->left), 0, ask_answered, d);
}

static int ask_answered(
	struct actor_ctx *ctx, int status, const struct actor_message *m, void *data)
{
	struct driver *d = data;

	if (status || message_number(m) != d->left)
		return driver_fail(d, "answer", status ? 0 : message_number(m), d->left);
	return --d->left ? ask_next(ctx, d) : driver_lap(ctx, d);
}

static int ask_begin(struct actor_ctx *ctx, struct driver *d)
{
	d->left = d->total;
	return ask_next(ctx, d);
}

const struct workload workload_ask = {"ask", "ns", 200000, 1, 1, ask_setup, ask_begin, NULL};
