/* SPDX-License-Identifier: MIT */
/* Philosophers: 20 of them dine n times each; an arbiter holds the forks and denies who would have
 * to wait, who then asks again. Operation: a meal, of 4 messages and 2 more for each denial. */
#include "savina.h"

#define PHILOSOPHERS 20u
#define FREE	     UINT64_MAX

struct philosopher {
	uint64_t number;
	uint64_t n;
	actor_ref arbiter;
	uint64_t meals;
	uint64_t denials;
};

struct arbiter {
	struct stage stage;
	uint64_t forks[PHILOSOPHERS];  /* who holds it, or FREE */
	uint64_t meals, denials;       /* as the arbiter counts them */
	uint64_t eaten, denials_heard; /* as the philosophers do */
	uint64_t gone;
};

static struct actor_type start_type = ACTOR_TYPE("start");
static struct actor_type hungry_type = ACTOR_TYPE("hungry");
static struct actor_type eat_type = ACTOR_TYPE("eat");
static struct actor_type denied_type = ACTOR_TYPE("denied");
static struct actor_type done_type = ACTOR_TYPE("done");
static struct actor_type exit_type = ACTOR_TYPE("exit");

static int philosopher_eat(struct actor_ctx *ctx, struct philosopher *s)
{
	int rc = actor_reply(ctx, &done_type, &s->number, sizeof(s->number));

	if (rc)
		return rc;
	if (++s->meals < s->n)
		return actor_tell(ctx, actor_self(ctx), &start_type, NULL, 0);
	return actor_reply(ctx, &exit_type, &s->meals, 2 * sizeof(uint64_t));
}

static int philosopher_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct philosopher *s = actor_state(ctx);

	if (m->type == &eat_type)
		return philosopher_eat(ctx, s);
	s->denials += m->type == &denied_type;
	return actor_tell(ctx, s->arbiter, &hungry_type, &s->number, sizeof(s->number));
}

static struct actor_class philosopher_class = {.size = sizeof(struct actor_class),
	.name = "philosopher",
	.state_bytes = sizeof(struct philosopher),
	.on_message = philosopher_message};

static int arbiter_start(struct actor_ctx *ctx)
{
	struct arbiter *s = actor_state(ctx);
	struct philosopher init = {.n = s->stage.n, .arbiter = actor_self(ctx)};
	actor_ref ref;
	int rc = 0;

	for (uint32_t i = 0; i < PHILOSOPHERS && !rc; i++) {
		s->forks[i] = FREE;
		init.number = i;
		rc = stage_spawn(ctx, &s->stage, &philosopher_class, &init, &ref);
		if (!rc)
			rc = actor_tell(ctx, ref, &start_type, NULL, 0);
	}
	return rc;
}

static int arbiter_hungry(struct actor_ctx *ctx, struct arbiter *s, uint64_t who)
{
	uint64_t *left = &s->forks[who], *right = &s->forks[(who + 1) % PHILOSOPHERS];

	if (*left != FREE || *right != FREE) {
		s->denials++;
		return actor_reply(ctx, &denied_type, NULL, 0);
	}
	*left = *right = who;
	return actor_reply(ctx, &eat_type, NULL, 0);
}

static int arbiter_done(struct arbiter *s, uint64_t who)
{
	uint64_t *left = &s->forks[who], *right = &s->forks[(who + 1) % PHILOSOPHERS];

	if (*left != who || *right != who)
		return play_fail("holder of a fork", *left != who ? *left : *right, who);
	*left = *right = FREE;
	s->meals++;
	return 0;
}

static int arbiter_exit(struct actor_ctx *ctx, struct arbiter *s, const struct actor_message *m)
{
	uint64_t told[2];

	memcpy(told, m->payload, sizeof(told));
	s->eaten += told[0];
	s->denials_heard += told[1];
	if (++s->gone < PHILOSOPHERS)
		return 0;
	if (s->denials_heard != s->denials)
		return play_fail("denials", s->denials_heard, s->denials);
	return stage_report(ctx, s->eaten, s->meals);
}

static int arbiter_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct arbiter *s = actor_state(ctx);

	if (m->type == &hungry_type)
		return arbiter_hungry(ctx, s, message_number(m));
	if (m->type == &done_type)
		return arbiter_done(s, message_number(m));
	return arbiter_exit(ctx, s, m);
}

static struct actor_class arbiter_class = {.size = sizeof(struct actor_class),
	.name = "arbiter",
	.state_bytes = sizeof(struct arbiter),
	.on_start = arbiter_start,
	.on_message = arbiter_message,
	.on_stop = stage_end};

static struct report philosophers_expect(uint64_t n)
{
	return (struct report){PHILOSOPHERS * n, PHILOSOPHERS * n};
}

const struct play play_philosophers = {"philosophers", &arbiter_class, philosophers_expect};
