/* SPDX-License-Identifier: MIT */
/* Banking: a teller has n random transfers made between 200 accounts; the one that pays asks the
 * one that gets, and goes on with other transfers meanwhile. Operation: a message, 4 per transfer.
 */
#include "savina.h"

#define ACCOUNTS   200u
#define PAYERS	   (ACCOUNTS / 10 * 8) /* the first ones; who gets comes after who pays */
#define AMOUNT_MAX 1000u

struct transfer {
	actor_ref to;
	uint64_t amount;
};

struct account {
	actor_ref teller;
	uint64_t number; /* 1 to 200 */
	uint64_t balance;
};

struct teller {
	struct stage stage;
	actor_ref accounts[ACCOUNTS];
	uint64_t made;
	uint64_t answers;
	uint64_t result;
};

static struct actor_type credit_type = ACTOR_TYPE("credit");
static struct actor_type debit_type = ACTOR_TYPE("debit");
static struct actor_type taken_type = ACTOR_TYPE("taken");
static struct actor_type made_type = ACTOR_TYPE("made");
static struct actor_type query_type = ACTOR_TYPE("query");
static struct actor_type balance_type = ACTOR_TYPE("balance");

static int account_answered(
	struct actor_ctx *ctx, int status, const struct actor_message *m, void *data)
{
	struct account *s = actor_state(ctx);

	if (status || m->type != &taken_type)
		return play_fail("status of an ask", (uint64_t)status, 0);
	return actor_tell(ctx, s->teller, &made_type, NULL, 0);
}

static int account_pay(struct actor_ctx *ctx, struct account *s, const struct actor_message *m)
{
	struct transfer t;

	memcpy(&t, m->payload, sizeof(t));
	s->balance -= t.amount;
	return actor_ask(
		ctx, t.to, &debit_type, &t.amount, sizeof(t.amount), -1, account_answered, NULL);
}

static int account_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct account *s = actor_state(ctx);

	if (m->type == &credit_type)
		return account_pay(ctx, s, m);
	if (m->type == &query_type)
		return actor_reply(ctx, &balance_type, &s->number, 2 * sizeof(uint64_t));
	s->balance += message_number(m);
	return actor_reply(ctx, &taken_type, NULL, 0);
}

static struct actor_class account_class = {.size = sizeof(struct actor_class),
	.name = "account",
	.state_bytes = sizeof(struct account),
	.on_message = account_message};

/* The next transfer, from the index of who pays to the one returned. */
static uint64_t transfer_next(uint64_t *random, uint64_t *from, uint64_t *amount)
{
	*from = random_next(random) % PAYERS;
	*amount = 1 + random_next(random) % AMOUNT_MAX;
	return *from + 1 + random_next(random) % (ACCOUNTS - *from - 1);
}

static int teller_start(struct actor_ctx *ctx)
{
	struct teller *s = actor_state(ctx);
	struct account init = {.teller = actor_self(ctx), .balance = AMOUNT_MAX * s->stage.n};
	uint64_t random = 1, from;
	struct transfer t;
	int rc = 0;

	for (uint32_t i = 0; i < ACCOUNTS && !rc; i++) {
		init.number = i + 1;
		rc = stage_spawn(ctx, &s->stage, &account_class, &init, &s->accounts[i]);
	}
	for (uint64_t i = 0; i < s->stage.n && !rc; i++) {
		t.to = s->accounts[transfer_next(&random, &from, &t.amount)];
		rc = actor_tell(ctx, s->accounts[from], &credit_type, &t, sizeof(t));
	}
	return rc;
}

static int teller_balance(struct actor_ctx *ctx, struct teller *s, const struct actor_message *m)
{
	uint64_t answer[2];

	memcpy(answer, m->payload, sizeof(answer));
	s->result += answer[0] * answer[1];
	return ++s->answers < ACCOUNTS ? 0 : stage_report(ctx, s->result, 4 * s->made);
}

static int teller_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct teller *s = actor_state(ctx);
	int rc = 0;

	if (m->type == &balance_type)
		return teller_balance(ctx, s, m);
	if (++s->made < s->stage.n)
		return 0;
	for (uint32_t i = 0; i < ACCOUNTS && !rc; i++)
		rc = actor_tell(ctx, s->accounts[i], &query_type, NULL, 0);
	return rc;
}

static struct actor_class teller_class = {.size = sizeof(struct actor_class),
	.name = "teller",
	.state_bytes = sizeof(struct teller),
	.on_start = teller_start,
	.on_message = teller_message,
	.on_stop = stage_end};

/* Each account's balance, weighted with its number. */
static struct report banking_expect(uint64_t n)
{
	struct report r = {AMOUNT_MAX * n * sum_up_to(ACCOUNTS), 4 * n};
	uint64_t random = 1, from, to, amount;

	for (uint64_t i = 0; i < n; i++) {
		to = transfer_next(&random, &from, &amount);
		r.result += (to - from) * amount;
	}
	return r;
}

const struct play play_banking = {"banking", &teller_class, banking_expect};
