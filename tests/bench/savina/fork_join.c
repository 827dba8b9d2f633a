/* SPDX-License-Identifier: MIT */
/* Fork-join, for throughput and for creation.
 *
 * Throughput: n messages to each of 60 workers, round-robin; each worker answers the last one with
 * the sum of all. Operation: a message. Creation: n actors are made and told a number each, which
 * they answer before they end. Operation: an actor.
 */
#include "savina.h"

#define WORKERS 60u

struct worker {
	uint64_t n;
	uint64_t sum;
	uint64_t count;
};

struct joiner {
	struct stage stage;
	uint64_t sum;
	uint64_t count;
	uint64_t answers;
};

static struct actor_type number_type = ACTOR_TYPE("number");
static struct actor_type sum_type = ACTOR_TYPE("sum");

static int worker_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct worker *s = actor_state(ctx);

	s->sum += message_number(m);
	if (++s->count < s->n)
		return 0;
	return actor_reply(ctx, &sum_type, &s->sum, 2 * sizeof(uint64_t));
}

static struct actor_class worker_class = {.size = sizeof(struct actor_class),
	.name = "worker",
	.state_bytes = sizeof(struct worker),
	.on_message = worker_message};

static int throughput_start(struct actor_ctx *ctx)
{
	struct joiner *s = actor_state(ctx);
	struct worker init = {.n = s->stage.n};
	actor_ref workers[WORKERS];
	int rc = 0;

	for (uint32_t i = 0; i < WORKERS && !rc; i++)
		rc = stage_spawn(ctx, &s->stage, &worker_class, &init, &workers[i]);
	for (uint64_t k = 1; k <= s->stage.n; k++)
		for (uint32_t i = 0; i < WORKERS && !rc; i++)
			rc = actor_tell(ctx, workers[i], &number_type, &k, sizeof(k));
	return rc;
}

/* An answer is a sum and the number of numbers in it. */
static int join(struct actor_ctx *ctx, const struct actor_message *m, uint64_t answers)
{
	struct joiner *s = actor_state(ctx);
	uint64_t answer[2];

	memcpy(answer, m->payload, sizeof(answer));
	s->sum += answer[0];
	s->count += answer[1];
	return ++s->answers < answers ? 0 : stage_report(ctx, s->sum, s->count);
}

static int throughput_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	return join(ctx, m, WORKERS);
}

static struct actor_class throughput_class = {.size = sizeof(struct actor_class),
	.name = "throughput",
	.state_bytes = sizeof(struct joiner),
	.on_start = throughput_start,
	.on_message = throughput_message,
	.on_stop = stage_end};

static int once_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	uint64_t answer[2] = {message_number(m), 1};

	actor_stop_self(ctx);
	return actor_reply(ctx, &sum_type, answer, sizeof(answer));
}

static struct actor_class once_class = {
	.size = sizeof(struct actor_class), .name = "once", .on_message = once_message};

static int create_start(struct actor_ctx *ctx)
{
	struct joiner *s = actor_state(ctx);
	actor_ref ref;
	int rc = 0;

	for (uint64_t i = 1; i <= s->stage.n && !rc; i++) {
		rc = stage_spawn(ctx, &s->stage, &once_class, NULL, &ref);
		if (!rc)
			rc = actor_tell(ctx, ref, &number_type, &i, sizeof(i));
	}
	return rc;
}

static int create_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct joiner *s = actor_state(ctx);

	return join(ctx, m, s->stage.n);
}

static struct actor_class create_class = {.size = sizeof(struct actor_class),
	.name = "create",
	.state_bytes = sizeof(struct joiner),
	.on_start = create_start,
	.on_message = create_message,
	.on_stop = stage_end};

static struct report throughput_expect(uint64_t n)
{
	return (struct report){WORKERS * sum_up_to(n), WORKERS * n};
}

static struct report create_expect(uint64_t n)
{
	return (struct report){sum_up_to(n), n};
}

const struct play play_fork_join_throughput = {
	"fork_join_throughput", &throughput_class, throughput_expect};
const struct play play_fork_join_create = {"fork_join_create", &create_class, create_expect};
