/* SPDX-License-Identifier: MIT */
/* Sieve: the odd numbers below n go through a chain of filters; each keeps 10 primes and makes the
 * next filter for the eleventh. Operation: a number that reaches a filter.
 */
#include "savina.h"

#include <stdlib.h>

#define PRIMES 10u

struct filter {
	struct stage stage;
	actor_ref master;
	actor_ref next;
	uint64_t numbers; /* that came here */
	uint64_t count;
	uint64_t primes[PRIMES];
};

static struct actor_type number_type = ACTOR_TYPE("number");
static struct actor_type end_type = ACTOR_TYPE("end");

static struct actor_class filter_class;

static int filter_keep(struct actor_ctx *ctx, struct filter *s, uint64_t prime)
{
	struct filter init = {
		.stage = s->stage, .master = s->master, .count = 1, .primes = {prime}};

	if (s->count < PRIMES) {
		s->primes[s->count++] = prime;
		return 0;
	}
	init.stage.turn++;
	return stage_spawn(ctx, &s->stage, &filter_class, &init, &s->next);
}

static int filter_number(struct actor_ctx *ctx, struct filter *s, uint64_t number)
{
	s->numbers++;
	for (uint64_t i = 0; i < s->count; i++)
		if (number % s->primes[i] == 0)
			return 0;
	if (s->next)
		return actor_tell(ctx, s->next, &number_type, &number, sizeof(number));
	return filter_keep(ctx, s, number);
}

static int filter_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct filter *s = actor_state(ctx);
	struct report sum;

	if (m->type == &number_type)
		return filter_number(ctx, s, message_number(m));
	memcpy(&sum, m->payload, sizeof(sum));
	sum.result += s->count;
	sum.operations += s->numbers;
	return actor_tell(ctx, s->next ? s->next : s->master, &end_type, &sum, sizeof(sum));
}

static struct actor_class filter_class = {.size = sizeof(struct actor_class),
	.name = "filter",
	.state_bytes = sizeof(struct filter),
	.on_message = filter_message};

static int source_start(struct actor_ctx *ctx)
{
	struct stage *s = actor_state(ctx);
	struct filter init = {.stage = *s, .master = actor_self(ctx), .count = 1, .primes = {2}};
	struct report nothing = {0, 0};
	actor_ref first;
	int rc;

	init.stage.turn++;
	rc = stage_spawn(ctx, s, &filter_class, &init, &first);
	for (uint64_t number = 3; number < s->n && !rc; number += 2)
		rc = actor_tell(ctx, first, &number_type, &number, sizeof(number));
	return rc ? rc : actor_tell(ctx, first, &end_type, &nothing, sizeof(nothing));
}

static int source_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct report sum;

	memcpy(&sum, m->payload, sizeof(sum));
	return stage_report(ctx, sum.result, sum.operations);
}

static struct actor_class source_class = {.size = sizeof(struct actor_class),
	.name = "source",
	.state_bytes = sizeof(struct stage),
	.on_start = source_start,
	.on_message = source_message,
	.on_stop = stage_end};

/* A number reaches the filters up to that of its smallest divisor; a prime all that there are. */
static struct report sieve_expect(uint64_t n)
{
	uint64_t *primes = malloc(n * sizeof(*primes)), i;
	struct report r = {1, 0};

	if (!primes)
		abort();
	primes[0] = 2;
	for (uint64_t number = 3; number < n; number += 2) {
		for (i = 0; i < r.result && number % primes[i]; i++)
			;
		r.operations += i < r.result ? i / PRIMES + 1 : (i + PRIMES - 1) / PRIMES;
		if (i == r.result)
			primes[r.result++] = number;
	}
	free(primes);
	return r;
}

const struct play play_sieve = {"sieve", &source_class, sieve_expect};
