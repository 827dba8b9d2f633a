/* SPDX-License-Identifier: MIT */
/* Supervision: the parent decides what a failure costs, the child only says that it failed. */
#include <actor.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static struct actor_type amount = ACTOR_TYPE("amount");
static actor_ref till;

/* Adds amounts. It does not repair anything itself: it fails, and a fresh instance goes on. */
static int till_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	const char *text = message->payload;
	long *sum = actor_state(ctx);
	char *end;
	long value = strtol(text, &end, 10);

	if (*end)
		return actor_fail(ctx, -EINVAL, "'%s' is no amount", text);
	if (value < 0)
		return actor_fail(ctx, -ERANGE, "%ld would spoil the sum", value);
	*sum += value;
	printf("%s: sum %ld\n", text, *sum);
	return 0;
}

static int till_restarted(struct actor_ctx *ctx, int code)
{
	printf("restarted: %s\n", actor_strerror(code));
	return 0;
}

static void till_stopped(struct actor_ctx *ctx)
{
	printf("closed\n");
}

/* A wrong word in the input has done no harm, so the actor keeps its state. After anything else it
 * cannot be trusted: a restart forgets the state, but no mail. */
static int decide(void *data, const struct actor_failure *failure)
{
	return failure->code == -EINVAL ? ACTOR_DIRECTIVE_RESUME : ACTOR_DIRECTIVE_RESTART;
}

static int shop_start(struct actor_ctx *ctx)
{
	static struct actor_class tills = {.size = sizeof(tills),
		.name = "till",
		.state_bytes = sizeof(long),
		.on_message = till_message,
		.on_pre_restart = NULL, /* on_stop closes what the failed instance had open */
		.on_post_restart = till_restarted,
		.on_stop = till_stopped};

	return actor_spawn(ctx, &tills, NULL, &till);
}

static int shop_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	return actor_tell(ctx, till, &amount, message->payload, message->bytes);
}

int main(void)
{
	/* The second restart within a minute is one too many: then the till stays closed. */
	static const struct actor_strategy strategy = {
		.size = sizeof(strategy), .decide = decide, .max_retries = 1, .window_ms = 60000};
	static struct actor_class shops = {.size = sizeof(shops),
		.name = "shop",
		.on_start = shop_start,
		.on_message = shop_message,
		.strategy = &strategy};
	static const char mail[][3] = {"1", "2", "x", "3", "-1", "4", "-2", "5"};
	uv_loop_t *loop = uv_default_loop();
	struct actor_system_options options = {.size = sizeof(options), .loop = loop};
	struct actor_stats stats = {.size = sizeof(stats)};
	struct actor_system *system;
	actor_ref shop;
	int rc = actor_system_open(&system, &options);

	if (!rc)
		rc = actor_system_spawn(system, &shops, NULL, &shop);
	for (size_t i = 0; !rc && i < sizeof(mail) / sizeof(mail[0]); i++)
		rc = actor_system_tell(system, shop, &amount, mail[i], sizeof(mail[i]));
	if (rc) {
		fprintf(stderr, "supervision: %s\n", actor_strerror(rc));
		return 1;
	}
	uv_run(loop, UV_RUN_DEFAULT); /* each failure is a line of log, on stderr */
	actor_system_stats(system, &stats);
	printf("failed %u, restarted %u, dead letters %u\n", (unsigned)stats.failed,
		(unsigned)stats.restarted, (unsigned)stats.dead_letters);
	actor_system_close(system, NULL, NULL);
	return uv_run(loop, UV_RUN_DEFAULT);
}
