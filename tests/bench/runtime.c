/* SPDX-License-Identifier: MIT */
/* The workloads of the benchmarks on libactor: one per process, one line of result.
 *
 *   runtime WORKLOAD     tell_flood volley ask ring100 fanout spawn idle_mem cross_flood cross_volley
 *
 * Prints "workload value unit min max". One warm-up repetition, then five; the median counts. The
 * number of handled messages is checked in every repetition. Same definitions as the peers'. */
#include "runtime/actor.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REPETITIONS 5
#define BATCH       10000u
#define RING        100u
#define WORKERS     100u
#define IDLE        200000u

static struct actor_type go = ACTOR_TYPE("go");
static struct actor_type work = ACTOR_TYPE("work");
static struct actor_type query = ACTOR_TYPE("query");
static struct actor_type count = ACTOR_TYPE("count");

/* ---- the driver: repeats a workload, keeps its times ---- */

struct driver {
	const struct workload *workload;
	actor_ref peers[2];
	uint64_t began;
	uint64_t sent;
	uint64_t left;
	uint32_t waiting;
	int repetition;
	double results[REPETITIONS + 1];
};

struct workload {
	const char *name;
	uint64_t total; /* operations of one repetition */
	int (*setup)(struct actor_ctx *ctx, struct driver *d);
	int (*begin)(struct actor_ctx *ctx, struct driver *d);
	int (*message)(struct actor_ctx *ctx, struct driver *d, const struct actor_message *m);
	int loops;
};

static actor_ref ring[RING];
static actor_ref workers[WORKERS];

static uint64_t number_of(const struct actor_message *m)
{
	uint64_t n = 0;

	memcpy(&n, m->payload, m->bytes < sizeof(n) ? m->bytes : sizeof(n));
	return n;
}

static int fail(const char *what, uint64_t got, uint64_t expected)
{
	printf("FAIL %s: %llu instead of %llu\n", what, (unsigned long long)got,
		(unsigned long long)expected);
	exit(1);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void report(const char *name, double *results, const char *unit)
{
	qsort(results, REPETITIONS, sizeof(*results), compare);
	printf("%s %.2f %s %.2f %.2f\n", name, results[REPETITIONS / 2], unit, results[0],
		results[REPETITIONS - 1]);
}

/* A repetition has ended: the next one, or the result. */
static int repetition_end(struct actor_ctx *ctx, struct driver *d)
{
	uint64_t ns = uv_hrtime() - d->began;

	d->results[d->repetition] = (double)ns / (double)d->workload->total;
	if (d->repetition++ < REPETITIONS) {
		d->began = uv_hrtime();
		return d->workload->begin(ctx, d);
	}
	report(d->workload->name, d->results + 1, "ns");
	fflush(stdout);
	actor_system_close(actor_ctx_system(ctx), NULL, NULL);
	return 0;
}

static int driver_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct driver *d = actor_state(ctx);
	int rc;

	if (m->type != &go)
		return d->workload->message(ctx, d, m);
	rc = d->workload->setup ? d->workload->setup(ctx, d) : 0;
	d->began = uv_hrtime();
	return rc ? rc : d->workload->begin(ctx, d);
}

static struct actor_class driver_class = {.size = sizeof(struct actor_class),
	.name = "driver",
	.state_bytes = sizeof(struct driver),
	.on_message = driver_message};

/* ---- flood: 10 000 messages, then ask for the count ---- */

static int counter_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	uint64_t *n = actor_state(ctx);

	if (m->type == &query)
		return actor_reply(ctx, &count, n, sizeof(*n));
	++*n;
	return 0;
}

static struct actor_class counter_class = {.size = sizeof(struct actor_class),
	.name = "counter",
	.state_bytes = sizeof(uint64_t),
	.on_message = counter_message};

static int flood_setup(struct actor_ctx *ctx, struct driver *d)
{
	struct actor_spawn_options options = {
		.size = sizeof(options), .loop = d->workload->loops > 1 ? 2 : 0};

	return actor_spawn(ctx, &counter_class, &options, &d->peers[0]);
}

static int flood_batch(struct actor_ctx *ctx, struct driver *d)
{
	for (uint64_t i = 0; i < BATCH; i++)
		actor_tell(ctx, d->peers[0], &work, &i, sizeof(i));
	d->sent += BATCH;
	return actor_tell(ctx, d->peers[0], &query, NULL, 0);
}

static int flood_begin(struct actor_ctx *ctx, struct driver *d)
{
	d->left = d->workload->total;
	return flood_batch(ctx, d);
}

static int flood_message(struct actor_ctx *ctx, struct driver *d, const struct actor_message *m)
{
	uint64_t n = number_of(m);

	if (n != d->sent)
		return fail("flood", n, d->sent);
	d->left -= BATCH;
	return d->left ? flood_batch(ctx, d) : repetition_end(ctx, d);
}

/* ---- volley: two actors, each answers its sender ---- */

static int volley_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	uint64_t left = number_of(m) - 1;

	return actor_reply(ctx, &work, &left, sizeof(left));
}

static struct actor_class volley_class = {
	.size = sizeof(struct actor_class), .name = "volley", .on_message = volley_message};

static int volley_setup(struct actor_ctx *ctx, struct driver *d)
{
	struct actor_spawn_options options = {
		.size = sizeof(options), .loop = d->workload->loops > 1 ? 2 : 0};

	return actor_spawn(ctx, &volley_class, &options, &d->peers[0]);
}

static int volley_begin(struct actor_ctx *ctx, struct driver *d)
{
	d->left = d->workload->total;
	return actor_tell(ctx, d->peers[0], &work, &d->left, sizeof(d->left));
}

/* The driver is the other one of the two. */
static int volley_answer(struct actor_ctx *ctx, struct driver *d, const struct actor_message *m)
{
	uint64_t left = number_of(m);

	d->left -= 2;
	if (d->left + 1 != left)
		return fail("volley", left, d->left + 1);
	if (!d->left)
		return repetition_end(ctx, d);
	left--;
	return actor_reply(ctx, &work, &left, sizeof(left));
}

/* ---- ask: sequential rounds with the default time-out ---- */

static int echo_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	return actor_reply(ctx, &work, m->payload, m->bytes);
}

static struct actor_class echo_class = {
	.size = sizeof(struct actor_class), .name = "echo", .on_message = echo_message};

static int ask_setup(struct actor_ctx *ctx, struct driver *d)
{
	return actor_spawn(ctx, &echo_class, NULL, &d->peers[0]);
}

static int ask_answered(
	struct actor_ctx *ctx, int status, const struct actor_message *m, void *data)
{
	struct driver *d = data;

	if (status || number_of(m) != d->left)
		return fail("ask", status ? 0 : number_of(m), d->left);
	if (--d->left == 0)
		return repetition_end(ctx, d);
	return actor_ask(
		ctx, d->peers[0], &work, &d->left, sizeof(d->left), 0, ask_answered, d);
}

static int ask_begin(struct actor_ctx *ctx, struct driver *d)
{
	d->left = d->workload->total;
	return actor_ask(
		ctx, d->peers[0], &work, &d->left, sizeof(d->left), 0, ask_answered, d);
}

/* ---- ring: 100 actors, the message carries the hops left ---- */

struct member {
	actor_ref next;
	actor_ref driver;
	uint64_t hops;
};

static int member_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct member *s = actor_state(ctx);
	uint64_t left;

	if (m->type == &go) {
		memcpy(s, m->payload, 2 * sizeof(actor_ref));
		return 0;
	}
	if (m->type == &query) {
		uint64_t hops = s->hops;

		s->hops = 0;
		return actor_reply(ctx, &count, &hops, sizeof(hops));
	}
	s->hops++;
	left = number_of(m) - 1;
	if (left)
		return actor_tell(ctx, s->next, &work, &left, sizeof(left));
	return actor_tell(ctx, s->driver, &work, &left, sizeof(left));
}

static struct actor_class member_class = {.size = sizeof(struct actor_class),
	.name = "member",
	.state_bytes = sizeof(struct member),
	.on_message = member_message};

static int ring_setup(struct actor_ctx *ctx, struct driver *d)
{
	for (uint32_t i = 0; i < RING; i++)
		if (actor_spawn(ctx, &member_class, NULL, &ring[i]))
			return -1;
	for (uint32_t i = 0; i < RING; i++) {
		actor_ref links[2] = {ring[(i + 1) % RING], actor_self(ctx)};

		actor_tell(ctx, ring[i], &go, links, sizeof(links));
	}
	(void)d;
	return 0;
}

static int ring_begin(struct actor_ctx *ctx, struct driver *d)
{
	d->waiting = RING;
	return actor_tell(
		ctx, ring[0], &work, &d->workload->total, sizeof(d->workload->total));
}

static int ring_message(struct actor_ctx *ctx, struct driver *d, const struct actor_message *m)
{
	if (m->type == &work) {
		for (uint32_t i = 0; i < RING; i++)
			actor_tell(ctx, ring[i], &query, NULL, 0);
		return 0;
	}
	if (number_of(m) != d->workload->total / RING)
		return fail("ring", number_of(m), d->workload->total / RING);
	return --d->waiting ? 0 : repetition_end(ctx, d);
}

/* ---- fan-out: bursts of 100 x 100 round-robin, each worker reports once a burst ---- */

struct worker {
	uint64_t in_burst;
};

static int worker_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	struct worker *s = actor_state(ctx);
	uint64_t done;

	if (++s->in_burst < BATCH / WORKERS)
		return 0;
	done = s->in_burst;
	s->in_burst = 0;
	return actor_tell(ctx, m->sender, &count, &done, sizeof(done));
}

static struct actor_class worker_class = {.size = sizeof(struct actor_class),
	.name = "worker",
	.state_bytes = sizeof(struct worker),
	.on_message = worker_message};

static int fanout_setup(struct actor_ctx *ctx, struct driver *d)
{
	for (uint32_t i = 0; i < WORKERS; i++)
		if (actor_spawn(ctx, &worker_class, NULL, &workers[i]))
			return -1;
	(void)d;
	return 0;
}

static int fanout_burst(struct actor_ctx *ctx, struct driver *d)
{
	for (uint64_t i = 0; i < BATCH; i++)
		actor_tell(ctx, workers[i % WORKERS], &work, &i, sizeof(i));
	d->waiting = WORKERS;
	return 0;
}

static int fanout_begin(struct actor_ctx *ctx, struct driver *d)
{
	d->left = d->workload->total;
	return fanout_burst(ctx, d);
}

static int fanout_message(struct actor_ctx *ctx, struct driver *d, const struct actor_message *m)
{
	if (number_of(m) != BATCH / WORKERS)
		return fail("fanout", number_of(m), BATCH / WORKERS);
	if (--d->waiting)
		return 0;
	d->left -= BATCH;
	return d->left ? fanout_burst(ctx, d) : repetition_end(ctx, d);
}

/* ---- spawn: 100 at a time, wait for all to start, stop them, wait for all to have stopped ---- */

static struct driver *spawner;
static uint64_t started;
static uint64_t stopped;

static int child_start(struct actor_ctx *ctx)
{
	if (++started % WORKERS == 0)
		return actor_tell(ctx, actor_parent(ctx), &count, &started, sizeof(started));
	return 0;
}

static int child_message(struct actor_ctx *ctx, const struct actor_message *m)
{
	(void)ctx;
	(void)m;
	return 0;
}

static void child_stop(struct actor_ctx *ctx)
{
	if (++stopped % WORKERS == 0)
		actor_tell(ctx, actor_parent(ctx), &work, &stopped, sizeof(stopped));
}

static struct actor_class child_class = {.size = sizeof(struct actor_class),
	.name = "child",
	.on_start = child_start,
	.on_message = child_message,
	.on_stop = child_stop};

static int spawn_batch(struct actor_ctx *ctx)
{
	for (uint32_t i = 0; i < WORKERS; i++)
		if (actor_spawn(ctx, &child_class, NULL, &workers[i]))
			return -1;
	return 0;
}

static int spawn_begin(struct actor_ctx *ctx, struct driver *d)
{
	spawner = d;
	d->left = d->workload->total;
	return spawn_batch(ctx);
}

static int spawn_message(struct actor_ctx *ctx, struct driver *d, const struct actor_message *m)
{
	if (m->type == &count) {
		for (uint32_t i = 0; i < WORKERS; i++)
			actor_stop(ctx, workers[i]);
		return 0;
	}
	if (started != stopped)
		return fail("spawn", stopped, started);
	d->left -= WORKERS;
	return d->left ? spawn_batch(ctx) : repetition_end(ctx, d);
}

/* ---- idle memory: what an actor costs that has handled one message, or none ---- */

static uint64_t resident_bytes(void)
{
	unsigned long long size = 0, resident = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f && fscanf(f, "%llu %llu", &size, &resident) != 2)
		resident = 0;
	if (f)
		fclose(f);
	return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static int idle_report(struct actor_ctx *ctx, struct driver *d)
{
	double bytes = (double)(resident_bytes() - d->sent) / IDLE;

	printf("%s %.1f bytes %.1f %.1f\n", d->workload->name, bytes, bytes, bytes);
	fflush(stdout);
	_exit(0);
	(void)ctx;
}

static int idle_begin(struct actor_ctx *ctx, struct driver *d)
{
	bool used = strcmp(d->workload->name, "idle_mem_used") == 0;

	d->sent = resident_bytes();
	for (uint32_t i = 0; i < IDLE; i++) {
		actor_ref ref;

		if (actor_spawn(ctx, &counter_class, NULL, &ref))
			return -1;
		if (used)
			actor_tell(ctx, ref, &work, NULL, 0);
		/* Let them run now and then: no more than a thousand wait for their turn. */
	}
	return actor_tell(ctx, actor_self(ctx), &work, NULL, 0);
}

static int idle_message(struct actor_ctx *ctx, struct driver *d, const struct actor_message *m)
{
	/* Behind all their first turns: the dispatcher is a FIFO. */
	if (++d->left < 3)
		return actor_tell(ctx, actor_self(ctx), &work, NULL, 0);
	(void)m;
	return idle_report(ctx, d);
}

static const struct workload workloads[] = {
	{"tell_flood", 2000000, flood_setup, flood_begin, flood_message, 1},
	{"volley", 1000000, volley_setup, volley_begin, volley_answer, 1},
	{"ask", 200000, ask_setup, ask_begin, NULL, 1},
	{"ring100", 1000000, ring_setup, ring_begin, ring_message, 1},
	{"fanout", 1000000, fanout_setup, fanout_begin, fanout_message, 1},
	{"spawn", 200000, NULL, spawn_begin, spawn_message, 1},
	{"idle_mem", IDLE, NULL, idle_begin, idle_message, 1},
	{"idle_mem_used", IDLE, NULL, idle_begin, idle_message, 1},
	{"cross_flood", 2000000, flood_setup, flood_begin, flood_message, 2},
	{"cross_volley", 200000, volley_setup, volley_begin, volley_answer, 2},
};

static const struct workload *find(const char *name)
{
	for (size_t i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++)
		if (strcmp(workloads[i].name, name) == 0)
			return &workloads[i];
	return NULL;
}

int main(int argc, char **argv)
{
	const struct workload *workload = argc == 2 ? find(argv[1]) : NULL;
	struct actor_system_options options = {.size = sizeof(options), .name = "bench"};
	struct actor_spawn_options spawn = {.size = sizeof(spawn), .name = "driver", .loop = 1};
	struct driver init = {.workload = workload};
	struct actor_system *system;
	actor_ref ref;
	uv_loop_t loop;

	if (!workload) {
		fprintf(stderr, "usage: runtime WORKLOAD\n");
		return 1;
	}
	uv_loop_init(&loop);
	if (workload->loops > 1)
		options.loops = workload->loops;
	else
		options.loop = &loop;
	spawn.init = &init;
	if (actor_system_open(&system, &options) ||
		actor_system_spawn(system, &driver_class, &spawn, &ref) ||
		actor_system_tell(system, ref, &go, NULL, 0))
		return 1;
	if (workload->loops > 1)
		for (;;)
			pause();
	uv_run(&loop, UV_RUN_DEFAULT);
	return uv_loop_close(&loop);
}
