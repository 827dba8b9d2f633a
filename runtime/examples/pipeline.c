/* SPDX-License-Identifier: MIT */
/* A pipeline that cannot flood itself: the sink asks for more, so at most WINDOW are under way. */
#include <actor.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define ITEMS  1000000u
#define WINDOW 256u

static struct actor_type more = ACTOR_TYPE("more"); /* a number: so many items are wanted */
static struct actor_type text = ACTOR_TYPE("text"), number = ACTOR_TYPE("number");

struct stage {
	actor_ref next;
	uint64_t count;
	uint64_t sum;
};

/* Source: makes what is asked for, and no more. */
static int source_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	struct stage *self = actor_state(ctx);
	uint32_t wanted = *(const uint32_t *)message->payload;
	int rc = 0;

	for (; !rc && wanted && self->count < ITEMS; wanted--) {
		char line[16];
		int bytes = snprintf(line, sizeof(line), "%u", (unsigned)++self->count) + 1;

		rc = actor_tell(ctx, self->next, &text, line, (size_t)bytes);
	}
	return rc; /* a negative value is this actor's failure, and its supervisor's to judge */
}

static int parser_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	struct stage *self = actor_state(ctx);
	uint64_t value = strtoull(message->payload, NULL, 10);

	return actor_tell(ctx, self->next, &number, &value, sizeof(value));
}

/* Sink: sums, and asks for half a window whenever half a window has arrived. */
static int sink_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	struct stage *self = actor_state(ctx);
	uint32_t wanted = WINDOW / 2;

	self->sum += *(const uint64_t *)message->payload;
	if (++self->count % wanted)
		return 0;
	return actor_tell(ctx, self->next, &more, &wanted, sizeof(wanted));
}

static void sink_stop(struct actor_ctx *ctx)
{
	const struct stage *self = actor_state(ctx);

	printf("%" PRIu64 " items, sum %" PRIu64 "\n", self->count, self->sum);
}

/* The source is the parent of the others: it makes them, and they stop before it does. */
static int source_start(struct actor_ctx *ctx)
{
	static struct actor_class sink = {.size = sizeof(sink),
		.name = "sink",
		.state_bytes = sizeof(struct stage),
		.on_message = sink_message,
		.on_stop = sink_stop};
	static struct actor_class parser = {.size = sizeof(parser),
		.name = "parser",
		.state_bytes = sizeof(struct stage),
		.on_message = parser_message};
	struct stage *self = actor_state(ctx), init = {.next = actor_self(ctx)};
	struct actor_spawn_options options = {.size = sizeof(options), .init = &init};
	uint32_t wanted = WINDOW;
	int rc = actor_spawn(ctx, &sink, &options, &init.next);

	if (!rc)
		rc = actor_spawn(ctx, &parser, &options, &self->next);
	return rc ? rc : actor_tell(ctx, actor_self(ctx), &more, &wanted, sizeof(wanted));
}

int main(void)
{
	static struct actor_class source = {.size = sizeof(source),
		.name = "source",
		.state_bytes = sizeof(struct stage),
		.on_start = source_start,
		.on_message = source_message};
	uv_loop_t *loop = uv_default_loop();
	struct actor_system_options options = {.size = sizeof(options), .loop = loop};
	struct actor_system *system;
	actor_ref ref;
	int rc = actor_system_open(&system, &options);

	if (!rc)
		rc = actor_system_spawn(system, &source, NULL, &ref);
	if (rc) {
		fprintf(stderr, "pipeline: %s\n", actor_strerror(rc));
		return 1;
	}
	uv_run(loop, UV_RUN_DEFAULT); /* returns when no actor has anything to do */
	actor_system_close(system, NULL, NULL);
	return uv_run(loop, UV_RUN_DEFAULT);
}
