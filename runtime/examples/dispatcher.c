/* SPDX-License-Identifier: MIT */
/* A dispatcher of one's own: counts the turns on it, and leaves their order to another. */
#include <actor.h>
#include <stdio.h>

struct meter {
	struct actor_dispatcher *below; /* which decides when a turn runs */
	unsigned int turns;
};

static struct actor_type tick = ACTOR_TYPE("tick");
static struct meter meter; /* this program has one loop, and so one instance */

/* Runs in place of the turn, with the turn inside. Allocates nothing: the unit is in the actor. */
static int meter_turn(struct actor_unit *unit)
{
	((struct meter *)actor_unit_unwrap(unit))->turns++; /* before the turn, in any case */
	return actor_unit_inner(unit);
}

/* Called once for each loop: an instance needs no lock. */
static int meter_open(void **self, struct actor_dispatcher *dispatcher, void *data)
{
	struct actor_dispatcher_spec spec;

	*self = &meter;
	actor_dispatcher_hybrid(&spec, 8, NULL);
	return actor_dispatcher_delegate(dispatcher, &spec, &meter.below);
}

/* Takes a turn over and must return at once: a turn that ran here would run inside the one that
 * told its actor something. The runtime finds that out, and runs such a turn later. */
static void meter_execute(void *self, struct actor_unit *unit)
{
	struct meter *meter = self;

	actor_unit_wrap(unit, meter_turn, meter);
	actor_dispatcher_execute(meter->below, unit);
}

static int tick_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	return 0;
}

int main(void)
{
	static const struct actor_dispatcher_ops ops = {
		sizeof(ops), meter_open, meter_execute, NULL};
	static struct actor_class cls = {
		.size = sizeof(cls), .name = "ticker", .on_message = tick_message};
	uv_loop_t *loop = uv_default_loop();
	struct actor_system_options system_options = {.size = sizeof(system_options), .loop = loop};
	struct actor_dispatcher_spec metered;
	/* Of one actor only; actor_system_options.dispatcher would be that of all. */
	struct actor_spawn_options options = {
		.size = sizeof(options), .dispatcher = &metered, .throughput = 10};
	struct actor_system *system;
	actor_ref ref;
	int rc = actor_system_open(&system, &system_options);

	if (!rc)
		rc = actor_dispatcher_custom(&metered, &ops, NULL, "metered");
	if (!rc)
		rc = actor_system_spawn(system, &cls, &options, &ref);
	uv_run(loop, UV_RUN_DEFAULT); /* its first turn is its start */
	meter.turns = 0;
	for (int i = 0; !rc && i < 100; i++)
		rc = actor_system_tell(system, ref, &tick, NULL, 0);
	if (rc) {
		fprintf(stderr, "dispatcher: %s\n", actor_strerror(rc));
		return 1;
	}
	uv_run(loop, UV_RUN_DEFAULT);
	printf("100 messages in %u turns\n", meter.turns);
	actor_system_close(system, NULL, NULL);
	return uv_run(loop, UV_RUN_DEFAULT);
}
