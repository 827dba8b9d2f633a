/* SPDX-License-Identifier: MIT */
/* Counting: the numbers 1 to n are told in one go, then the sum is asked for. Operation: a number.
 */
#include "savina.h"

struct counter {
	uint64_t sum;
	uint64_t count;
};

static struct actor_type number_type = ACTOR_TYPE("number");
static struct actor_type query_type = ACTOR_TYPE("query");
static struct actor_type sum_type = ACTOR_TYPE("sum");

static int counter_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct counter *s = actor_state(ctx);

	if (m->type == &query_type)
		return actor_reply(ctx, &sum_type, s, sizeof(*s));
	s->sum += message_number(m);
	s->count++;
	return 0;
}

static struct actor_class counter_class = {.size = sizeof(struct actor_class),
	.name = "counter",
	.state_bytes = sizeof(struct counter),
	.on_message = counter_message};

static int producer_start(struct actor_ctx *ctx)
{
	struct stage *s = actor_state(ctx);
	actor_ref counter;
	int rc = stage_spawn(ctx, s, &counter_class, NULL, &counter);

	for (uint64_t i = 1; i <= s->n && !rc; i++)
		rc = actor_tell(ctx, counter, &number_type, &i, sizeof(i));
	return rc ? rc : actor_tell(ctx, counter, &query_type, NULL, 0);
}

static int producer_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct counter answer;

	memcpy(&answer, m->payload, sizeof(answer));
	return stage_report(ctx, answer.sum, answer.count);
}

static struct actor_class producer_class = {.size = sizeof(struct actor_class),
	.name = "producer",
	.state_bytes = sizeof(struct stage),
	.on_start = producer_start,
	.on_message = producer_message,
	.on_stop = stage_end};

static struct report counting_expect(uint64_t n)
{
	return (struct report){sum_up_to(n), n};
}

const struct play play_counting = {"counting", &producer_class, counting_expect};
