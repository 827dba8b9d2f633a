/* SPDX-License-Identifier: MIT */
/* Timers: an actor is told, it does not wait. Keys name its timers, and its end ends them. */
#include <actor.h>
#include <stdio.h>

enum key { HEARTBEAT, DEADLINE };

static struct actor_type beat = ACTOR_TYPE("beat"), deadline = ACTOR_TYPE("deadline");
static uv_sem_t done;

static int watch_start(struct actor_ctx *ctx)
{
	int rc = actor_timer_fixed_rate(ctx, HEARTBEAT, 5, 5, &beat, NULL, 0);

	return rc ? rc : actor_timer_single(ctx, DEADLINE, 60000, &deadline, NULL, 0);
}

static int watch_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	int *beats = actor_state(ctx);

	if (message->type == &beat) {
		printf("beat %d\n", ++*beats);
		if (*beats < 3)
			return 0;
		/* None comes after a cancel, also if one is queued already. */
		actor_timer_cancel(ctx, HEARTBEAT);
		/* The same key again: the old timer is cancelled, this one counts. */
		return actor_timer_single(ctx, DEADLINE, 20, &deadline, NULL, 0);
	}
	if (message->type == &deadline) {
		printf("deadline\n");
		return actor_receive_timeout(ctx, 20); /* when nothing comes for so long */
	}
	if (message->type == &actor_timeout) {
		printf("quiet\n");
		actor_stop_self(ctx);
	}
	return 0;
}

static void watch_stop(struct actor_ctx *ctx)
{
	uv_sem_post(&done);
}

int main(void)
{
	static struct actor_class watches = {.size = sizeof(watches),
		.name = "watch",
		.state_bytes = sizeof(int),
		.on_start = watch_start,
		.on_message = watch_message,
		.on_stop = watch_stop};
	/* On a loop of the program's own, timers of actors would not keep that loop running. */
	struct actor_system_options options = {.size = sizeof(options), .loops = 1};
	struct actor_system *system;
	actor_ref ref;
	int rc = actor_system_open(&system, &options);

	if (rc || uv_sem_init(&done, 0))
		return 1;
	rc = actor_system_spawn(system, &watches, NULL, &ref);
	if (rc)
		fprintf(stderr, "timers: %s\n", actor_strerror(rc));
	else
		uv_sem_wait(&done);
	actor_system_close_wait(system);
	return rc ? 1 : 0;
}
