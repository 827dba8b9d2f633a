/* SPDX-License-Identifier: MIT */
/* What the workloads of the benchmark share: a wish, and the driver that repeats a workload.
 *
 * The driver is an actor. It measures a warm-up and then `repetitions` times; one repetition is
 * `total` operations, and the workload ends it with driver_lap(). Each workload counts what was
 * handled and ends the program with driver_fail() if that is not what was sent.
 */
#ifndef BENCH_H
#define BENCH_H

#include <actor.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define BATCH		10000u /* messages told before the count is asked for */
#define REPETITIONS_MAX 64

struct workload;
struct driver;

struct wish {
	const struct workload *workload;
	const char *dispatcher; /* "hybrid-1000"; NULL: the system's default */
	uint64_t throughput;	/* messages per turn; 0: the default */
	uint64_t total;		/* operations per repetition */
	uint64_t repetitions;
	uint64_t warm_up;	/* operations of the warm-up; default: `total` */
	uint64_t repetition_ms; /* not 0: chooses `total` by the time of the warm-up */
	uint64_t handler_ns;	/* time that a handler takes */
	uint64_t rate;		/* paced: messages per second */
	uint64_t timer;		/* 1: a timer of 1 ms runs beside, and its rate is printed */
};

struct driver {
	struct wish wish;
	struct actor_spawn_options spawn; /* of the workload's actors */
	struct actor_dispatcher_spec spec;
	actor_ref peer;
	uint64_t total; /* operations of this lap */
	uint64_t began_ns;
	uint64_t sent;
	uint64_t left;
	uint64_t waiting;
	uint64_t lap; /* 0 is the warm-up */
	double results[REPETITIONS_MAX];
};

struct workload {
	const char *name;
	const char *unit;
	uint64_t total;
	uint64_t batch; /* `total` is a multiple of it */
	int loops;	/* 1: the caller's loop; 2: two loops with threads */
	int (*setup)(struct actor_ctx *ctx, struct driver *d);
	int (*begin)(struct actor_ctx *ctx, struct driver *d);
	int (*message)(struct actor_ctx *ctx, struct driver *d, const struct actor_message *m);
};

extern const struct workload workload_tell_flood, workload_cross_flood, workload_volley,
	workload_cross_volley, workload_ask, workload_ring, workload_fanout, workload_spawn,
	workload_idle, workload_idle_used, workload_wake, workload_paced, workload_classes, workload_queued,
	workload_queued_block;

extern struct actor_type bench_go, bench_work, bench_query, bench_count;
extern struct actor_class driver_class;
extern uint64_t bench_handler_ns;

/* Ends a repetition: begins the next one, or prints the results and stops the driver. */
int driver_lap(struct actor_ctx *ctx, struct driver *d);
/* The same where the workload has measured `value` itself. */
int driver_lap_value(struct actor_ctx *ctx, struct driver *d, double value);
/* Says what was wrong and ends the program. */
int driver_fail(const struct driver *d, const char *what, uint64_t got, uint64_t expected);
/* Called when the last result is printed; defined by main. */
void bench_finished(void);
/* Of this process. */
uint64_t bench_resident_bytes(void);
/* Ties the calling thread to a CPU, where there are as many. */
void bench_pin(int cpu);

/* "switch": hands the CPU to and fro between two threads; the time of one hand-over in ns. */
double switch_measure(uint64_t total);

static inline uint64_t message_number(const struct actor_message *m)
{
	uint64_t n;

	memcpy(&n, m->payload, sizeof(n));
	return n;
}

/* The work of a handler: nothing, or so many nanoseconds. */
static inline void bench_handle(void)
{
	if (__builtin_expect(bench_handler_ns != 0, 0)) {
		uint64_t end = uv_hrtime() + bench_handler_ns;

		while (uv_hrtime() < end)
			;
	}
}

#endif
