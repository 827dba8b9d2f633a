/* SPDX-License-Identifier: MIT */
/* Testing an actor: probes stand for its partners, and time passes when the test says so. */
#include <actor_test.h>
#include <stdio.h>

#define TRIES 3

/* ---- the actor: asks a store for its client, and asks again if nothing comes ---- */

static struct actor_type fetch = ACTOR_TYPE("fetch"), query = ACTOR_TYPE("query");
static struct actor_type value = ACTOR_TYPE("value"), failed = ACTOR_TYPE("failed");

struct fetcher {
	actor_ref store, client;
	int tries;
};

static int fetcher_ask(struct actor_ctx *ctx);

static int on_value(
	struct actor_ctx *ctx, int status, const struct actor_message *reply, void *data)
{
	struct fetcher *self = actor_state(ctx);

	if (!status)
		return actor_tell(ctx, self->client, &value, reply->payload, reply->bytes);
	if (self->tries < TRIES)
		return fetcher_ask(ctx);
	return actor_tell(ctx, self->client, &failed, NULL, 0);
}

static int fetcher_ask(struct actor_ctx *ctx)
{
	struct fetcher *self = actor_state(ctx);

	self->tries++;
	return actor_ask(ctx, self->store, &query, NULL, 0, 1000, on_value, NULL);
}

static int fetcher_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	struct fetcher *self = actor_state(ctx);

	self->client = message->sender;
	self->tries = 0;
	return fetcher_ask(ctx);
}

static struct actor_class fetchers = {.size = sizeof(fetchers),
	.name = "fetcher",
	.state_bytes = sizeof(struct fetcher),
	.on_message = fetcher_message};

/* ---- its tests; an expectation that is not met is logged with the time and a seed ---- */

struct bench {
	struct actor_test *kit;
	struct actor_test_probe *store, *client;
	actor_ref fetcher;
};

static int bench_open(struct bench *bench)
{
	struct fetcher init = {0};
	struct actor_spawn_options options = {.size = sizeof(options), .init = &init};
	int rc = actor_test_open(&bench->kit, NULL);

	if (!rc)
		rc = actor_test_probe_open(bench->kit, "store", 0, &bench->store);
	if (!rc)
		rc = actor_test_probe_open(bench->kit, "client", 0, &bench->client);
	init.store = actor_test_ref(bench->store);
	if (!rc)
		rc = actor_system_spawn(
			actor_test_system(bench->kit), &fetchers, &options, &bench->fetcher);
	return rc ? rc : actor_test_tell(bench->client, bench->fetcher, &fetch, NULL, 0);
}

/* The first question gets no answer. The second one comes when its time-out is over, which the
 * expectation waits for by moving the clock: no test sleeps. */
static int a_late_store_is_asked_again(struct bench *bench)
{
	struct actor_message message;
	int number = 42;
	int rc = actor_test_expect(bench->store, &query, NULL, NULL, 0, NULL);

	if (!rc)
		rc = actor_test_expect_none(bench->store, 999);
	if (!rc)
		rc = actor_test_expect(bench->store, &query, NULL, NULL, 1, NULL);
	if (!rc)
		rc = actor_test_reply(bench->store, &value, &number, sizeof(number));
	if (!rc)
		rc = actor_test_expect(bench->client, &value, NULL, NULL, 0, &message);
	return rc ? rc : *(const int *)message.payload != 42;
}

static int a_silent_store_is_given_up(struct bench *bench)
{
	int rc = actor_test_expect(bench->client, &failed, NULL, NULL, TRIES * 1000, NULL);

	return rc ? rc : actor_test_count(bench->store) != TRIES; /* questions, all unanswered */
}

int main(void)
{
	static const struct {
		const char *name;
		int (*run)(struct bench *bench);
	} tests[] = {{"a late store is asked again", a_late_store_is_asked_again},
		{"a silent store is given up", a_silent_store_is_given_up}};
	int bad = 0;

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		struct bench bench = {0}; /* each test has a system of its own */
		int rc = bench_open(&bench);

		if (!rc)
			rc = tests[i].run(&bench);
		printf("%s: %s\n", rc ? "not ok" : "ok", tests[i].name);
		bad += rc != 0;
		actor_test_close(bench.kit);
	}
	return bad != 0;
}
