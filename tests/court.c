/* SPDX-License-Identifier: MIT */
/* Opens, plays and closes systems that share a loop. */
#include "tests/court.h"

struct lab lab;
struct side sides[SIDES];
struct actor_dispatcher_spec immediate;

struct player {
	struct side *side;
	actor_ref other;
};

static int player_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	struct player *player = actor_state(ctx);
	struct side *side = player->side;

	side->hits++;
	side->lab->units++;
	if (side->on_hit && side->on_hit(side))
		return 0;
	if (side->stop)
		return 0;
	if (actor_sender(ctx))
		return actor_reply(ctx, &plain_type, NULL, 0);
	return actor_tell(ctx, player->other, &plain_type, NULL, 0);
}

static struct actor_class player_class = {
	.size = sizeof(player_class),
	.name = "player",
	.state_bytes = sizeof(struct player),
	.on_message = player_message,
};

static void side_closed(struct actor_system *system, void *data)
{
	struct side *side = data;

	side->closed = true;
}

void side_open(struct side *side, int64_t drain_ms)
{
	struct actor_system_options options = {.size = sizeof(options),
		.loop = &lab.loop,
		.dispatcher = &immediate,
		.drain_ms = drain_ms};

	memset(side, 0, sizeof(*side));
	side->lab = &lab;
	assert_int_equal(actor_system_open(&side->system, &options), 0);
}

void side_play(struct side *side)
{
	struct player init = {.side = side};
	struct actor_spawn_options options = {
		.size = sizeof(options), .init = &init, .throughput = 1 /* a hit is a unit */};

	for (int i = 0; i < 2; i++) {
		init.other = side->players[0];
		assert_int_equal(actor_system_spawn(
					 side->system, &player_class, &options, &side->players[i]),
			0);
	}
	side_serve(side);
}

void side_serve(struct side *side)
{
	assert_int_equal(actor_system_tell(side->system, side->players[1], &plain_type, NULL, 0), 0);
}

void side_queue(struct side *side, uint32_t from, uint32_t to)
{
	struct actor_dispatcher *dispatcher;

	assert_int_equal(actor_system_dispatcher(side->system, 1, &immediate, &dispatcher), 0);
	for (uint32_t i = from; i < to; i++) {
		actor_unit_init(&jobs[i].unit, job_run);
		jobs[i].lab = &lab;
		jobs[i].number = i;
		jobs[i].again = 0;
		assert_int_equal(actor_dispatcher_execute(dispatcher, &jobs[i].unit), 0);
	}
}

void side_close(struct side *side)
{
	int rc = actor_system_close(side->system, side_closed, side);

	assert_int_equal(rc, side->closing ? -EALREADY : 0);
	side->closing = true;
}

void court_open(uint32_t count)
{
	actor_dispatcher_immediate(&immediate, NULL);
	lab_open(&lab, NULL);
	for (uint32_t i = 0; i < count; i++)
		side_open(&sides[i], -1);
}

void court_close(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (sides[i].system && !sides[i].closed)
			side_close(&sides[i]);
	lab_run(&lab);
	for (uint32_t i = 0; i < count; i++)
		assert_true(!sides[i].system || sides[i].closed);
	lab_close(&lab);
}

void passes_run(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		uv_run(&lab.loop, UV_RUN_NOWAIT);
}

void hits_reset(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		sides[i].hits = 0;
}

void assert_each_pass(uint32_t units, const char *what)
{
	for (uint32_t i = 1; i < lab.passes; i++)
		if (lab.pass_units[i] != units)
			fail_msg("%s: pass %u ran %u units", what, i, lab.pass_units[i]);
}
