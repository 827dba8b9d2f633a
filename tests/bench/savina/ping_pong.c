/* SPDX-License-Identifier: MIT */
/* Ping-pong: n times a ping, answered before the next. Operation: a message, 2 per ping. */
#include "savina.h"

struct ping {
	struct stage stage;
	actor_ref partner;
	uint64_t answered;
};

static struct actor_type ping_type = ACTOR_TYPE("ping");
static struct actor_type pong_type = ACTOR_TYPE("pong");

/* Answers with how many it has got. */
static int pong_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	uint64_t *pings = actor_state(ctx);

	if (message_number(m) != (*pings)++)
		return play_fail("number of a ping", message_number(m), *pings - 1);
	return actor_reply(ctx, &pong_type, pings, sizeof(*pings));
}

static struct actor_class pong_class = {.size = sizeof(struct actor_class),
	.name = "pong",
	.state_bytes = sizeof(uint64_t),
	.on_message = pong_message};

static int ping_next(struct actor_ctx *ctx, struct ping *s)
{
	return actor_tell(ctx, s->partner, &ping_type, &s->answered, sizeof(s->answered));
}

static int ping_start(struct actor_ctx *ctx)
{
	struct ping *s = actor_state(ctx);
	int rc = stage_spawn(ctx, &s->stage, &pong_class, NULL, &s->partner);

	return rc ? rc : ping_next(ctx, s);
}

static int ping_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct ping *s = actor_state(ctx);

	if (message_number(m) != ++s->answered)
		return play_fail("number of a pong", message_number(m), s->answered);
	if (s->answered < s->stage.n)
		return ping_next(ctx, s);
	return stage_report(ctx, message_number(m), message_number(m) + s->answered);
}

static struct actor_class ping_class = {.size = sizeof(struct actor_class),
	.name = "ping",
	.state_bytes = sizeof(struct ping),
	.on_start = ping_start,
	.on_message = ping_message,
	.on_stop = stage_end};

static struct report ping_pong_expect(uint64_t n)
{
	return (struct report){n, 2 * n};
}

const struct play play_ping_pong = {"ping_pong", &ping_class, ping_pong_expect};
