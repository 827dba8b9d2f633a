/* SPDX-License-Identifier: MIT */
/* The driver: has a play given again and again, checks each report, prints the times. */
#define _GNU_SOURCE
#include "driver.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

struct driver {
	struct wish wish;
	actor_ref master;
	uint64_t waiting; /* loops that are not tied to their CPU yet */
	uint64_t lap;	  /* 0 is the warm-up */
	uint64_t began_ns;
	double results[REPETITIONS_MAX];
};

struct tie {
	actor_ref driver;
	int cpu;
};

static struct actor_type ready = ACTOR_TYPE("ready");
static struct actor_type done = ACTOR_TYPE("done");
static struct actor_type ended = ACTOR_TYPE("ended");
static uv_sem_t finished;

int play_fail(const char *what, uint64_t got, uint64_t expected)
{
	printf("FAIL %s: %llu instead of %llu\n", what, (unsigned long long)got,
		(unsigned long long)expected);
	fflush(stdout);
	_Exit(1);
}

int stage_spawn(struct actor_ctx *ctx, struct stage *stage, struct actor_class *cls,
	const void *init, actor_ref *ref)
{
	struct actor_spawn_options options = {.size = sizeof(options), .init = init};

	options.loop = 1 + stage->turn++ % stage->loops;
	return actor_spawn(ctx, cls, &options, ref);
}

int stage_report(struct actor_ctx *ctx, uint64_t result, uint64_t operations)
{
	struct report report = {result, operations};

	return actor_tell(ctx, actor_parent(ctx), &done, &report, sizeof(report));
}

void stage_end(struct actor_ctx *ctx)
{
	actor_tell(ctx, actor_parent(ctx), &ended, NULL, 0);
}

/* The master takes the first turn, on the first loop. */
static int driver_begin(struct actor_ctx *ctx, struct driver *d)
{
	_Alignas(16) unsigned char init[STAGE_BYTES_MAX] = {0};
	struct stage stage = {.n = d->wish.n, .loops = (int)d->wish.loops};

	if (d->wish.play->master->state_bytes > sizeof(init))
		return play_fail("bytes of state", d->wish.play->master->state_bytes, sizeof(init));
	d->began_ns = uv_hrtime();
	stage.turn = 1;
	memcpy(init, &stage, sizeof(stage));
	return actor_spawn(ctx, d->wish.play->master,
		&(struct actor_spawn_options){
			.size = sizeof(struct actor_spawn_options), .init = init, .loop = 1},
		&d->master);
}

static int driver_done(struct actor_ctx *ctx, struct driver *d, const struct actor_message *m)
{
	uint64_t ns = uv_hrtime() - d->began_ns;
	struct report report;

	memcpy(&report, m->payload, sizeof(report));
	if (report.result != d->wish.expected.result + d->wish.amiss)
		play_fail(
			d->wish.play->name, report.result, d->wish.expected.result + d->wish.amiss);
	if (report.operations != d->wish.expected.operations)
		play_fail("operations", report.operations, d->wish.expected.operations);
	if (d->lap > 0)
		d->results[d->lap - 1] = (double)ns / (double)report.operations;
	return actor_stop(ctx, d->master);
}

static int driver_ended(struct actor_ctx *ctx, struct driver *d)
{
	if (d->lap++ < d->wish.repetitions)
		return driver_begin(ctx, d);
	printf("%s/%llu ns", d->wish.play->name, (unsigned long long)d->wish.loops);
	for (uint64_t i = 0; i < d->wish.repetitions; i++)
		printf(" %.3f", d->results[i]);
	putchar('\n');
	if (d->wish.loops == 1)
		return actor_system_close(actor_ctx_system(ctx), NULL, NULL);
	uv_sem_post(&finished);
	return 0;
}

static int driver_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct driver *d = actor_state(ctx);

	if (m->type == &done)
		return driver_done(ctx, d, m);
	if (m->type == &ended)
		return driver_ended(ctx, d);
	return --d->waiting ? 0 : driver_begin(ctx, d);
}

static struct actor_class driver_class = {.size = sizeof(struct actor_class),
	.name = "driver",
	.state_bytes = sizeof(struct driver),
	.on_message = driver_message};

/* Ties its loop's thread to a CPU, where there is one of this number. */
static int tie_start(struct actor_ctx *ctx)
{
	struct tie *tie = actor_state(ctx);
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(tie->cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	return actor_tell(ctx, tie->driver, &ready, NULL, 0);
}

static int tie_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	(void)ctx;
	(void)m;
	return 0;
}

static struct actor_class tie_class = {.size = sizeof(struct actor_class),
	.name = "tie",
	.state_bytes = sizeof(struct tie),
	.on_start = tie_start,
	.on_message = tie_message};

int driver_start(struct actor_system *system, const struct wish *wish)
{
	struct actor_spawn_options options = {.size = sizeof(options), .loop = 1};
	struct driver init = {.wish = *wish, .waiting = wish->loops};
	actor_ref driver, ref;
	int rc;

	options.init = &init;
	rc = uv_sem_init(&finished, 0);
	if (!rc)
		rc = actor_system_spawn(system, &driver_class, &options, &driver);
	if (!rc && wish->loops == 1)
		return actor_system_tell(system, driver, &ready, NULL, 0);
	for (int i = 0; i < (int)wish->loops && !rc; i++) {
		struct tie tie = {driver, i};

		options.init = &tie;
		options.loop = i + 1;
		rc = actor_system_spawn(system, &tie_class, &options, &ref);
	}
	return rc;
}

void driver_wait(void)
{
	uv_sem_wait(&finished);
}
