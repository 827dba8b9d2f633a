/* SPDX-License-Identifier: MIT */
/* Ring: 100 actors, one message that carries the hops left; each reports its hops at the end. */
#include "bench.h"

#define MEMBERS 100u

struct member {
	actor_ref next;
	actor_ref driver;
	uint64_t hops;
};

static actor_ref members[MEMBERS];

static int member_report(struct actor_ctx *ctx, struct member *s)
{
	uint64_t hops = s->hops;

	s->hops = 0;
	return actor_reply(ctx, &bench_count, &hops, sizeof(hops));
}

static int member_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct member *s = actor_state(ctx);
	uint64_t left;

	if (m->type == &bench_go) {
		memcpy(s, m->payload, 2 * sizeof(actor_ref));
		return 0;
	}
	if (m->type == &bench_query)
		return member_report(ctx, s);
	s->hops++;
	left = message_number(m) - 1;
	return actor_tell(ctx, left ? s->next : s->driver, &bench_work, &left, sizeof(left));
}

static struct actor_class member_class = {.size = sizeof(struct actor_class),
	.name = "member",
	.state_bytes = sizeof(struct member),
	.on_message = member_message};

static int ring_setup(struct actor_ctx *ctx, struct driver *d)
{
	int rc = 0;

	for (uint32_t i = 0; i < MEMBERS && !rc; i++)
		rc = actor_spawn(ctx, &member_class, &d->spawn, &members[i]);
	for (uint32_t i = 0; i < MEMBERS && !rc; i++) {
		actor_ref links[2] = {members[(i + 1) % MEMBERS], actor_self(ctx)};

		rc = actor_tell(ctx, members[i], &bench_go, links, sizeof(links));
	}
	return rc;
}

static int ring_begin(struct actor_ctx *ctx, struct driver *d)
{
	d->waiting = MEMBERS;
	return actor_tell(ctx, members[0], &bench_work, &d->total, sizeof(d->total));
}

static int ring_message(struct actor_ctx *ctx, struct driver *d, const struct actor_message *m)
{
	uint64_t each = d->total / MEMBERS;

	if (m->type == &bench_work) {
		for (uint32_t i = 0; i < MEMBERS; i++)
			actor_tell(ctx, members[i], &bench_query, NULL, 0);
		return 0;
	}
	if (message_number(m) != each)
		return driver_fail(d, "hops of one member", message_number(m), each);
	return --d->waiting ? 0 : driver_lap(ctx, d);
}

const struct workload workload_ring = {
	"ring100", "ns", 1000000, MEMBERS, 1, ring_setup, ring_begin, ring_message};
