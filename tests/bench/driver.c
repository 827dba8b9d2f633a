/* SPDX-License-Identifier: MIT */
/* The driver: sets a workload up, repeats it, prints "workload unit value value ...". */
#define _GNU_SOURCE
#include "bench.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

struct actor_type bench_go = ACTOR_TYPE("go");
struct actor_type bench_work = ACTOR_TYPE("work");
struct actor_type bench_query = ACTOR_TYPE("query");
struct actor_type bench_count = ACTOR_TYPE("count");
uint64_t bench_handler_ns;

static uv_timer_t timer;
static uint64_t timer_ticks, timer_began_ns;

void bench_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

int driver_fail(const struct driver *d, const char *what, uint64_t got, uint64_t expected)
{
	printf("FAIL %s: %s: %llu instead of %llu\n", d->wish.workload->name, what,
		(unsigned long long)got, (unsigned long long)expected);
	fflush(stdout);
	_Exit(1);
}

static void on_timer(uv_timer_t *handle)
{
	(void)handle;
	timer_ticks++;
}

/* From the end of the warm-up to the last repetition's end. */
static void timer_start(struct actor_ctx *ctx)
{
	uv_loop_t *loop = actor_ctx_loop(ctx);

	uv_update_time(loop);
	uv_timer_init(loop, &timer);
	uv_timer_start(&timer, on_timer, 1, 1);
	timer_ticks = 0;
	timer_began_ns = uv_hrtime();
}

static void timer_report(const char *workload)
{
	double seconds = (double)(uv_hrtime() - timer_began_ns) * 1e-9;

	printf("%s/timer Hz %.1f\n", workload, (double)timer_ticks / seconds);
	uv_close((uv_handle_t *)&timer, NULL);
}

static void report(const struct driver *d)
{
	const struct workload *w = d->wish.workload;

	if (d->wish.timer)
		timer_report(w->name);
	printf("%s %s", w->name, w->unit);
	for (uint64_t i = 0; i < d->wish.repetitions; i++)
		printf(" %.3f", d->results[i]);
	putchar('\n');
	fflush(stdout);
}

/* So many batches that a repetition takes the time wished for. */
static uint64_t total_for(const struct driver *d)
{
	uint64_t batch = d->wish.workload->batch;
	uint64_t ns = uv_hrtime() - d->began_ns;
	uint64_t batches = d->total / batch * d->wish.repetition_ms * 1000000 / (ns + 1);

	return batch * (batches ? batches : 1);
}

static int driver_begin(struct actor_ctx *ctx, struct driver *d)
{
	d->began_ns = uv_hrtime();
	return d->wish.workload->begin(ctx, d);
}

int driver_lap_value(struct actor_ctx *ctx, struct driver *d, double value)
{
	if (d->lap == 0) {
		d->total = d->wish.repetition_ms ? total_for(d) : d->wish.total;
		if (d->wish.timer)
			timer_start(ctx);
	} else {
		d->results[d->lap - 1] = value;
	}
	if (d->lap++ < d->wish.repetitions)
		return driver_begin(ctx, d);
	report(d);
	actor_stop_self(ctx);
	bench_finished();
	return 0;
}

int driver_lap(struct actor_ctx *ctx, struct driver *d)
{
	uint64_t ns = uv_hrtime() - d->began_ns;

	return driver_lap_value(ctx, d, (double)ns / (double)d->total);
}

static int driver_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct driver *d = actor_state(ctx);
	const struct workload *w = d->wish.workload;
	int rc = 0;

	if (m->type != &bench_go)
		return w->message(ctx, d, m);
	bench_handler_ns = d->wish.handler_ns;
	d->total = d->wish.warm_up ? d->wish.warm_up : d->wish.total;
	if (w->loops > 1)
		bench_pin(0);
	d->spawn.dispatcher = d->wish.dispatcher ? &d->spec : NULL;
	if (w->setup)
		rc = w->setup(ctx, d);
	return rc ? rc : driver_begin(ctx, d);
}

struct actor_class driver_class = {.size = sizeof(struct actor_class),
	.name = "driver",
	.state_bytes = sizeof(struct driver),
	.on_message = driver_message};
