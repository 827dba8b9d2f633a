/* SPDX-License-Identifier: MIT */
/* Thread ring: a token goes n hops around a ring of 100 actors. Operation: a hop. */
#include "savina.h"

#define MEMBERS 100u

struct member {
	actor_ref next;
	actor_ref master;
	uint64_t number; /* 1 to 100 */
	uint64_t hops;
};

struct ring {
	struct stage stage;
	actor_ref members[MEMBERS];
	uint64_t result;
	uint64_t hops;
	uint64_t answers;
};

static struct actor_type link_type = ACTOR_TYPE("link");
static struct actor_type token_type = ACTOR_TYPE("token");
static struct actor_type query_type = ACTOR_TYPE("query");
static struct actor_type hops_type = ACTOR_TYPE("hops");

static int member_hop(struct actor_ctx *ctx, struct member *s, uint64_t left)
{
	s->hops++;
	if (--left)
		return actor_tell(ctx, s->next, &token_type, &left, sizeof(left));
	return actor_tell(ctx, s->master, &token_type, NULL, 0);
}

static int member_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct member *s = actor_state(ctx);

	if (m->type == &token_type)
		return member_hop(ctx, s, message_number(m));
	if (m->type == &query_type)
		return actor_reply(ctx, &hops_type, &s->number, 2 * sizeof(uint64_t));
	s->next = message_number(m);
	return actor_reply(ctx, &link_type, NULL, 0);
}

static struct actor_class member_class = {.size = sizeof(struct actor_class),
	.name = "member",
	.state_bytes = sizeof(struct member),
	.on_message = member_message};

static int ring_start(struct actor_ctx *ctx)
{
	struct ring *s = actor_state(ctx);
	struct member init = {.master = actor_self(ctx)};
	actor_ref *last = &s->members[MEMBERS - 1];
	int rc = 0;

	for (uint32_t i = MEMBERS; i-- > 0 && !rc; init.next = s->members[i]) {
		init.number = i + 1;
		rc = stage_spawn(ctx, &s->stage, &member_class, &init, &s->members[i]);
	}
	return rc ? rc : actor_tell(ctx, *last, &link_type, s->members, sizeof(actor_ref));
}

static int ring_hops(struct actor_ctx *ctx, struct ring *s, const struct actor_message *m)
{
	uint64_t answer[2];

	memcpy(answer, m->payload, sizeof(answer));
	s->result += answer[0] * answer[1];
	s->hops += answer[1];
	return ++s->answers < MEMBERS ? 0 : stage_report(ctx, s->result, s->hops);
}

/* The ring is closed, then the token has come to its end, then each member says its hops. */
static int ring_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct ring *s = actor_state(ctx);
	int rc = 0;

	if (m->type == &hops_type)
		return ring_hops(ctx, s, m);
	if (m->type == &link_type)
		return actor_tell(ctx, s->members[0], &token_type, &s->stage.n, sizeof(uint64_t));
	for (uint32_t i = 0; i < MEMBERS && !rc; i++)
		rc = actor_tell(ctx, s->members[i], &query_type, NULL, 0);
	return rc;
}

static struct actor_class ring_class = {.size = sizeof(struct actor_class),
	.name = "ring",
	.state_bytes = sizeof(struct ring),
	.on_start = ring_start,
	.on_message = ring_message,
	.on_stop = stage_end};

/* Each member's hops, weighted with its number. */
static struct report thread_ring_expect(uint64_t n)
{
	struct report r = {0, n};

	for (uint64_t i = 0; i < MEMBERS; i++)
		r.result += (i + 1) * (n / MEMBERS + (i < n % MEMBERS));
	return r;
}

const struct play play_thread_ring = {"thread_ring", &ring_class, thread_ring_expect};
