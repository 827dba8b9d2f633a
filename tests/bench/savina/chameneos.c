/* SPDX-License-Identifier: MIT */
/* Chameneos: 100 creatures meet in pairs at a mall, n times in all, and change their colours.
 * Operation: a message, 4 per meeting: two come, one hears of the other and tells it its colour.
 */
#include "savina.h"

#define CREATURES 100u
#define COLOURS	  3u

/* What travels: who, and what colour. */
struct visit {
	actor_ref who;
	uint64_t colour;
};

struct creature {
	struct visit self;
	actor_ref mall;
	uint64_t meetings;
};

struct mall {
	struct stage stage;
	actor_ref waiting;
	uint64_t left;
	uint64_t meetings; /* as the creatures have counted them */
	uint64_t faded;
};

static struct actor_type meet_type = ACTOR_TYPE("meet");
static struct actor_type change_type = ACTOR_TYPE("change");
static struct actor_type fade_type = ACTOR_TYPE("fade");
static struct actor_type meetings_type = ACTOR_TYPE("meetings");

/* Like colours stay, unlike ones become the third. */
static uint64_t colour_meet(uint64_t a, uint64_t b)
{
	return a == b ? a : COLOURS - a - b;
}

static int creature_come(struct actor_ctx *ctx, struct creature *s)
{
	return actor_tell(ctx, s->mall, &meet_type, &s->self, sizeof(s->self));
}

static int creature_start(struct actor_ctx *ctx)
{
	struct creature *s = actor_state(ctx);

	s->self.who = actor_self(ctx);
	return creature_come(ctx, s);
}

static int creature_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct creature *s = actor_state(ctx);
	struct visit other;
	int rc;

	if (m->type == &fade_type)
		return actor_reply(ctx, &meetings_type, &s->meetings, sizeof(s->meetings));
	s->meetings++;
	if (m->type == &change_type) {
		s->self.colour = message_number(m);
		return creature_come(ctx, s);
	}
	memcpy(&other, m->payload, sizeof(other));
	s->self.colour = colour_meet(s->self.colour, other.colour);
	rc = actor_tell(ctx, other.who, &change_type, &s->self.colour, sizeof(uint64_t));
	return rc ? rc : creature_come(ctx, s);
}

static struct actor_class creature_class = {.size = sizeof(struct actor_class),
	.name = "creature",
	.state_bytes = sizeof(struct creature),
	.on_start = creature_start,
	.on_message = creature_message};

static int mall_start(struct actor_ctx *ctx)
{
	struct mall *s = actor_state(ctx);
	struct creature init = {.mall = actor_self(ctx)};
	actor_ref ref;
	int rc = 0;

	s->left = s->stage.n;
	for (uint32_t i = 0; i < CREATURES && !rc; i++) {
		init.self.colour = i % COLOURS;
		rc = stage_spawn(ctx, &s->stage, &creature_class, &init, &ref);
	}
	return rc;
}

static int mall_visit(struct actor_ctx *ctx, struct mall *s, const struct actor_message *m)
{
	actor_ref first = s->waiting;

	if (!s->left)
		return actor_reply(ctx, &fade_type, NULL, 0);
	s->waiting = first ? ACTOR_NONE : m->sender;
	if (!first)
		return 0;
	s->left--;
	return actor_tell(ctx, first, &meet_type, m->payload, m->bytes);
}

static int mall_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct mall *s = actor_state(ctx);

	if (m->type == &meet_type)
		return mall_visit(ctx, s, m);
	s->meetings += message_number(m);
	if (++s->faded < CREATURES)
		return 0;
	return stage_report(ctx, s->meetings, 4 * (s->stage.n - s->left));
}

static struct actor_class mall_class = {.size = sizeof(struct actor_class),
	.name = "mall",
	.state_bytes = sizeof(struct mall),
	.on_start = mall_start,
	.on_message = mall_message,
	.on_stop = stage_end};

static struct report chameneos_expect(uint64_t n)
{
	return (struct report){2 * n, 4 * n};
}

const struct play play_chameneos = {"chameneos", &mall_class, chameneos_expect};
