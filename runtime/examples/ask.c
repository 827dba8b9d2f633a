/* SPDX-License-Identifier: MIT */
/* Ask: from a thread, which waits, and from an actor, which does not. */
#include <actor.h>
#include <stdio.h>

static struct actor_type question = ACTOR_TYPE("question"), answer = ACTOR_TYPE("answer");
static actor_ref stock, mute;
static uv_sem_t done;

static int stock_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	int pieces = 2 * *(const int *)message->payload;

	return actor_reply(ctx, &answer, &pieces, sizeof(pieces));
}

static int mute_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	return 0; /* whoever asks this one needs a time-out */
}

/* Both callbacks run as turns of the customer: they may use its state, and it has handled other
 * mail meanwhile. `reply` is there only if status is 0. */
static int on_mute(struct actor_ctx *ctx, int status, const struct actor_message *reply, void *data)
{
	printf("mute: %s\n", actor_strerror(status));
	actor_stop_self(ctx);
	return 0;
}

static int on_stock(
	struct actor_ctx *ctx, int status, const struct actor_message *reply, void *data)
{
	int product = 2;

	if (status)
		return status; /* a failure of the customer, for its supervisor */
	printf("stock: %d pieces\n", *(const int *)reply->payload);
	return actor_ask(ctx, mute, &question, &product, sizeof(product), 50, on_mute, NULL);
}

static int customer_start(struct actor_ctx *ctx)
{
	int product = 21;

	return actor_ask(ctx, stock, &question, &product, sizeof(product), 0, on_stock, NULL);
}

static int customer_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	return 0;
}

static void customer_stop(struct actor_ctx *ctx)
{
	uv_sem_post(&done);
}

int main(void)
{
	static struct actor_class stocks = {
		.size = sizeof(stocks), .name = "stock", .on_message = stock_message};
	static struct actor_class mutes = {
		.size = sizeof(mutes), .name = "mute", .on_message = mute_message};
	static struct actor_class customers = {.size = sizeof(customers),
		.name = "customer",
		.on_start = customer_start,
		.on_message = customer_message,
		.on_stop = customer_stop};
	/* A loop with its own thread: this one may block. On a loop's thread a blocking question is
	 * refused (-EDEADLK), as the answer could never come. */
	struct actor_system_options options = {.size = sizeof(options), .loops = 1};
	struct actor_system *system;
	int product = 4, pieces = 0;
	size_t bytes = sizeof(pieces);
	actor_ref customer;
	int rc = actor_system_open(&system, &options);

	if (rc || uv_sem_init(&done, 0))
		return 1;
	rc = actor_system_spawn(system, &stocks, NULL, &stock);
	if (!rc)
		rc = actor_system_spawn(system, &mutes, NULL, &mute);
	if (!rc)
		rc = actor_system_ask(
			system, stock, &question, &product, sizeof(product), 0, &pieces, &bytes);
	if (!rc) {
		printf("main: %d pieces\n", pieces);
		rc = actor_system_spawn(system, &customers, NULL, &customer);
	}
	if (rc)
		fprintf(stderr, "ask: %s\n", actor_strerror(rc));
	else
		uv_sem_wait(&done);
	actor_system_close_wait(system);
	return rc ? 1 : 0;
}
