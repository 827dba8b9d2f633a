/* SPDX-License-Identifier: MIT */
/* Bounded buffer: 40 producers and 40 consumers with a manager that keeps at most 50 items. Each
 * producer makes n items. Operation: a message, 4 per item: wanted, made, handed on, consumed.
 */
#include "savina.h"

#define PRODUCERS 40u
#define CONSUMERS 40u
#define BUFFER	  50u
#define ENOUGH	  (BUFFER - PRODUCERS) /* from here on producers wait: each may have made one */
#define PLACES	  64u		       /* of a queue; a power of two */

struct queue {
	uint32_t head, count;
	uint64_t entries[PLACES];
};

struct producer {
	uint64_t n;
	uint64_t random;
	uint64_t made;
};

struct manager {
	struct stage stage;
	struct queue producers, consumers, items; /* who waits, and what */
	uint64_t finished;
	uint64_t sum;
	uint64_t consumed;
};

static struct actor_type wanted_type = ACTOR_TYPE("wanted");
static struct actor_type item_type = ACTOR_TYPE("item");
static struct actor_type consumed_type = ACTOR_TYPE("consumed");
static struct actor_type finished_type = ACTOR_TYPE("finished");

static void queue_put(struct queue *q, uint64_t entry, uint32_t most)
{
	if (q->count == most)
		play_fail("entries of a queue", q->count + 1, most);
	q->entries[(q->head + q->count++) % PLACES] = entry;
}

static uint64_t queue_get(struct queue *q)
{
	uint64_t entry = q->entries[q->head++ % PLACES];

	q->count--;
	return entry;
}

static int producer_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct producer *s = actor_state(ctx);
	uint64_t item;

	if (s->made++ == s->n)
		return actor_reply(ctx, &finished_type, NULL, 0);
	item = random_next(&s->random);
	return actor_reply(ctx, &item_type, &item, sizeof(item));
}

static struct actor_class producer_class = {.size = sizeof(struct actor_class),
	.name = "producer",
	.state_bytes = sizeof(struct producer),
	.on_message = producer_message};

static int consumer_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	return actor_reply(ctx, &consumed_type, m->payload, m->bytes);
}

static struct actor_class consumer_class = {
	.size = sizeof(struct actor_class), .name = "consumer", .on_message = consumer_message};

static int manager_start(struct actor_ctx *ctx)
{
	struct manager *s = actor_state(ctx);
	struct producer init = {.n = s->stage.n};
	actor_ref ref;
	int rc = 0;

	for (uint32_t i = 0; i < CONSUMERS && !rc; i++) {
		rc = stage_spawn(ctx, &s->stage, &consumer_class, NULL, &ref);
		queue_put(&s->consumers, ref, CONSUMERS);
	}
	for (uint32_t i = 0; i < PRODUCERS && !rc; i++) {
		init.random = i + 1;
		rc = stage_spawn(ctx, &s->stage, &producer_class, &init, &ref);
		if (!rc)
			rc = actor_tell(ctx, ref, &wanted_type, NULL, 0);
	}
	return rc;
}

static int manager_item(struct actor_ctx *ctx, struct manager *s, const struct actor_message *m)
{
	int rc = 0;

	if (s->consumers.count)
		rc = actor_tell(ctx, queue_get(&s->consumers), &item_type, m->payload, m->bytes);
	else
		queue_put(&s->items, message_number(m), BUFFER);
	if (rc || s->items.count < ENOUGH)
		return rc ? rc : actor_reply(ctx, &wanted_type, NULL, 0);
	queue_put(&s->producers, m->sender, PRODUCERS);
	return 0;
}

static int manager_consumed(struct actor_ctx *ctx, struct manager *s, const struct actor_message *m)
{
	uint64_t item;
	int rc;

	s->sum += message_number(m);
	s->consumed++;
	if (!s->items.count) {
		queue_put(&s->consumers, m->sender, CONSUMERS);
		return 0;
	}
	item = queue_get(&s->items);
	rc = actor_reply(ctx, &item_type, &item, sizeof(item));
	if (!rc && s->producers.count)
		rc = actor_tell(ctx, queue_get(&s->producers), &wanted_type, NULL, 0);
	return rc;
}

static int manager_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct manager *s = actor_state(ctx);
	int rc = 0;

	if (m->type == &item_type)
		rc = manager_item(ctx, s, m);
	else if (m->type == &consumed_type)
		rc = manager_consumed(ctx, s, m);
	else
		s->finished++;
	if (rc || s->finished < PRODUCERS || s->consumers.count < CONSUMERS)
		return rc;
	return stage_report(ctx, s->sum, 4 * s->consumed);
}

static struct actor_class manager_class = {.size = sizeof(struct actor_class),
	.name = "manager",
	.state_bytes = sizeof(struct manager),
	.on_start = manager_start,
	.on_message = manager_message,
	.on_stop = stage_end};

static struct report bounded_buffer_expect(uint64_t n)
{
	struct report r = {0, 4 * PRODUCERS * n};

	for (uint64_t producer = 1; producer <= PRODUCERS; producer++) {
		uint64_t random = producer;

		for (uint64_t i = 0; i < n; i++)
			r.result += random_next(&random);
	}
	return r;
}

const struct play play_bounded_buffer = {"bounded_buffer", &manager_class, bounded_buffer_expect};
