/* SPDX-License-Identifier: MIT */
/* Big: each of 120 actors pings a random one of them n times, and waits for each pong. Operation: a
 * message, 2 per ping. */
#include "savina.h"

#define NEIGHBOURS 120u

struct neighbour {
	uint64_t n;
	uint64_t random;
	actor_ref sink;
	actor_ref target;
	uint64_t ponged; /* own pings that were answered */
	uint64_t pinged; /* pings of others that it has answered */
	actor_ref all[NEIGHBOURS];
};

struct sink {
	struct stage stage;
	actor_ref all[NEIGHBOURS];
	uint64_t finished;
	uint64_t answers;
	uint64_t ponged;
	uint64_t pinged;
};

static struct actor_type neighbours_type = ACTOR_TYPE("neighbours");
static struct actor_type ping_type = ACTOR_TYPE("ping");
static struct actor_type pong_type = ACTOR_TYPE("pong");
static struct actor_type finished_type = ACTOR_TYPE("finished");
static struct actor_type query_type = ACTOR_TYPE("query");
static struct actor_type count_type = ACTOR_TYPE("count");

static int neighbour_ping(struct actor_ctx *ctx, struct neighbour *s)
{
	s->target = s->all[random_next(&s->random) % NEIGHBOURS];
	return actor_tell(ctx, s->target, &ping_type, NULL, 0);
}

static int neighbour_pong(struct actor_ctx *ctx, struct neighbour *s, actor_ref from)
{
	if (from != s->target)
		return play_fail("sender of a pong", from, s->target);
	if (++s->ponged < s->n)
		return neighbour_ping(ctx, s);
	return actor_tell(ctx, s->sink, &finished_type, NULL, 0);
}

static int neighbour_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct neighbour *s = actor_state(ctx);

	if (m->type == &ping_type) {
		s->pinged++;
		return actor_reply(ctx, &pong_type, NULL, 0);
	}
	if (m->type == &pong_type)
		return neighbour_pong(ctx, s, m->sender);
	if (m->type == &query_type)
		return actor_reply(ctx, &count_type, &s->ponged, 2 * sizeof(uint64_t));
	memcpy(s->all, m->payload, sizeof(s->all));
	return neighbour_ping(ctx, s);
}

static struct actor_class neighbour_class = {.size = sizeof(struct actor_class),
	.name = "neighbour",
	.state_bytes = sizeof(struct neighbour),
	.on_message = neighbour_message};

static int sink_start(struct actor_ctx *ctx)
{
	struct sink *s = actor_state(ctx);
	struct neighbour init = {.n = s->stage.n, .sink = actor_self(ctx)};
	int rc = 0;

	for (uint32_t i = 0; i < NEIGHBOURS && !rc; i++) {
		init.random = i + 1;
		rc = stage_spawn(ctx, &s->stage, &neighbour_class, &init, &s->all[i]);
	}
	for (uint32_t i = 0; i < NEIGHBOURS && !rc; i++)
		rc = actor_tell(ctx, s->all[i], &neighbours_type, s->all, sizeof(s->all));
	return rc;
}

static int sink_count(struct actor_ctx *ctx, struct sink *s, const struct actor_message *m)
{
	uint64_t answer[2];

	memcpy(answer, m->payload, sizeof(answer));
	s->ponged += answer[0];
	s->pinged += answer[1];
	if (++s->answers < NEIGHBOURS)
		return 0;
	return stage_report(ctx, s->pinged, s->pinged + s->ponged);
}

static int sink_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct sink *s = actor_state(ctx);
	int rc = 0;

	if (m->type == &count_type)
		return sink_count(ctx, s, m);
	if (++s->finished < NEIGHBOURS)
		return 0;
	for (uint32_t i = 0; i < NEIGHBOURS && !rc; i++)
		rc = actor_tell(ctx, s->all[i], &query_type, NULL, 0);
	return rc;
}

static struct actor_class sink_class = {.size = sizeof(struct actor_class),
	.name = "sink",
	.state_bytes = sizeof(struct sink),
	.on_start = sink_start,
	.on_message = sink_message,
	.on_stop = stage_end};

static struct report big_expect(uint64_t n)
{
	return (struct report){NEIGHBOURS * n, 2 * NEIGHBOURS * n};
}

const struct play play_big = {"big", &sink_class, big_expect};
