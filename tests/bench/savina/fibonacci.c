/* SPDX-License-Identifier: MIT */
/* Fibonacci: the n-th number by an actor that makes two actors, for n - 1 and n - 2. Operation: an
 * actor, which is asked, answers and ends. */
#include "savina.h"

struct node {
	struct stage stage;
	uint64_t sum;
	uint64_t actors; /* below it, and itself */
	uint64_t answers;
};

static struct actor_type request_type = ACTOR_TYPE("request");
static struct actor_type answer_type = ACTOR_TYPE("answer");

static struct actor_class node_class;

static int node_answer(struct actor_ctx *ctx, struct node *s)
{
	actor_stop_self(ctx);
	return actor_tell(ctx, actor_parent(ctx), &answer_type, &s->sum, 2 * sizeof(uint64_t));
}

static int node_child(struct actor_ctx *ctx, struct stage *stage, uint64_t n)
{
	struct node init = {.stage = *stage, .actors = 1};
	actor_ref child;
	int rc;

	init.stage.turn++; /* the child's first goes to the other loop than the child */
	rc = stage_spawn(ctx, stage, &node_class, &init, &child);
	return rc ? rc : actor_tell(ctx, child, &request_type, &n, sizeof(n));
}

static int node_request(struct actor_ctx *ctx, struct node *s, uint64_t n)
{
	int rc;

	if (n <= 2) {
		s->sum = 1;
		return node_answer(ctx, s);
	}
	rc = node_child(ctx, &s->stage, n - 1);
	return rc ? rc : node_child(ctx, &s->stage, n - 2);
}

static int node_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct node *s = actor_state(ctx);
	uint64_t answer[2];

	if (m->type == &request_type)
		return node_request(ctx, s, message_number(m));
	memcpy(answer, m->payload, sizeof(answer));
	s->sum += answer[0];
	s->actors += answer[1];
	return ++s->answers < 2 ? 0 : node_answer(ctx, s);
}

static struct actor_class node_class = {.size = sizeof(struct actor_class),
	.name = "node",
	.state_bytes = sizeof(struct node),
	.on_message = node_message};

static int root_start(struct actor_ctx *ctx)
{
	struct stage *s = actor_state(ctx);

	return node_child(ctx, s, s->n);
}

static int root_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	uint64_t answer[2];

	memcpy(answer, m->payload, sizeof(answer));
	return stage_report(ctx, answer[0], answer[1]);
}

static struct actor_class root_class = {.size = sizeof(struct actor_class),
	.name = "root",
	.state_bytes = sizeof(struct stage),
	.on_start = root_start,
	.on_message = root_message,
	.on_stop = stage_end};

static struct report fibonacci_expect(uint64_t n)
{
	uint64_t a = 0, b = 1, next;

	for (uint64_t i = 1; i < n; i++) {
		next = a + b;
		a = b;
		b = next;
	}
	return (struct report){b, 2 * b - 1};
}

const struct play play_fibonacci = {"fibonacci", &root_class, fibonacci_expect};
