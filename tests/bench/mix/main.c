/* SPDX-License-Identifier: MIT */
/* A mixed load: an HTTP server on a loop, and actors beside it.
 *
 *   mix [key=value ...]   prints "p50", "p99", "work", "busy", "errors", each "NAME unit value"
 *
 * Each of `actors` actors is told `messages` messages, whose handlers take handler_ns; either again
 * every burst_ms, or, if that is 0, each message is told again by its handler until duration_ms are
 * over. `dispatcher` (NAME[-BUDGET], or "synchronous"; each an instance apart from the system's),
 * `throughput` and `loop` are theirs; the actor that answers HTTP is always a default one on the
 * first loop. What was told must have been handled in the end.
 */
#include "mix.h"

#include "runtime/examples/http.h"

#include <actor.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
	const char *dispatcher;
	uint64_t actors, messages, handler_ns, burst_ms, throughput, loop, pause_us, duration_ms;
} wish = {NULL, 1, 100, 20000, 0, 0, 1, 500, 300};

static const struct {
	const char *key;
	uint64_t *value;
} keys[] = {
	{"actors", &wish.actors},
	{"messages", &wish.messages},
	{"handler_ns", &wish.handler_ns},
	{"burst_ms", &wish.burst_ms},
	{"throughput", &wish.throughput},
	{"loop", &wish.loop},
	{"pause_us", &wish.pause_us},
	{"duration_ms", &wish.duration_ms},
};

static struct actor_type work = ACTOR_TYPE("work"), request = ACTOR_TYPE("request");
static struct actor_system *bed;
static struct http_server *http;
static struct client client;
static uv_loop_t loop;
static uv_timer_t burst;
static uv_async_t client_ended;
static uint64_t began_ns, idle_began_ns;
static uint64_t told, handled; /* while the load runs by the workers' loop's thread alone */
static struct actor_stats stats = {.size = sizeof(stats)};
static actor_ref desk, *workers;

static _Noreturn void fail(const char *what, int rc)
{
	printf("FAIL mix: %s: %s\n", what, rc ? actor_strerror(rc) : "");
	fflush(stdout);
	_Exit(1);
}

static void check(const char *what, int rc)
{
	if (rc < 0)
		fail(what, rc);
}

/* ---- the work ---- */

static int worker_start(struct actor_ctx *ctx)
{
	if (wish.loop > 1)
		mix_pin(0);
	return 0;
}

static int worker_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	uint64_t end_ns = uv_hrtime() + wish.handler_ns;

	while (wish.handler_ns && uv_hrtime() < end_ns)
		;
	handled++;
	if (wish.burst_ms || uv_hrtime() > began_ns + wish.duration_ms * 1000000)
		return 0;
	told++;
	return actor_tell(ctx, actor_self(ctx), &work, NULL, 0);
}

static void on_burst(uv_timer_t *timer)
{
	for (uint64_t n = 0; n < wish.messages; n++)
		for (uint64_t i = 0; i < wish.actors; i++, told++)
			check("tell", actor_system_tell(bed, workers[i], &work, NULL, 0));
}

/* ---- the HTTP server ---- */

static int desk_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	http_answer(http, *(const uint64_t *)message->payload, 200, "{}\n");
	return 0;
}

static void on_request(void *data, const struct http_request *asked)
{
	check("tell",
		actor_system_tell(bed, desk, &request, &asked->ticket, sizeof(asked->ticket)));
}

/* ---- the end ---- */

static void on_closed(struct actor_system *system, void *data)
{
	actor_system_stats(system, &stats);
	http_server_close(http);
}

static void on_client_ended(uv_async_t *async)
{
	uint64_t now_ns = uv_hrtime();
	double busy_ns =
		(double)(now_ns - began_ns) - (double)(uv_metrics_idle_time(&loop) - idle_began_ns);

	check("client", client.failed);
	printf("p50 us %.1f\n", client_percentile(&client, 50));
	printf("p99 us %.1f\n", client_percentile(&client, 99));
	printf("work kHz %.3f\n", (double)handled * 1e6 / (double)(now_ns - began_ns));
	printf("busy percent %.2f\n", 100 * busy_ns / (double)(now_ns - began_ns));
	uv_close((uv_handle_t *)&burst, NULL);
	uv_close((uv_handle_t *)async, NULL);
	check("close", actor_system_close(bed, on_closed, NULL));
}

/* ---- the beginning ---- */

/* The mistake that the runtime finds: the unit runs inside of execute. */
static void synchronous_execute(void *self, struct actor_unit *unit)
{
	actor_unit_run(unit);
}

static int spec_choose(struct actor_dispatcher_spec *spec, const char *text)
{
	static const struct actor_dispatcher_ops synchronous = {
		sizeof(synchronous), NULL, synchronous_execute, NULL};
	const char *dash = strchr(text, '-');
	int64_t budget = dash ? atoll(dash + 1) : 0;

	if (strncmp(text, "hybrid", 6) == 0)
		return actor_dispatcher_hybrid(spec, budget ? budget : ACTOR_HYBRID_BUDGET, text);
	if (strncmp(text, "throughput", 10) == 0)
		return actor_dispatcher_throughput(spec, budget ? budget : ACTOR_THROUGHPUT, text);
	if (strcmp(text, "microtask") == 0)
		return actor_dispatcher_microtask(spec, NULL);
	if (strcmp(text, "immediate") == 0)
		return actor_dispatcher_immediate(spec, NULL);
	if (strcmp(text, "synchronous") == 0)
		return actor_dispatcher_custom(spec, &synchronous, NULL, text);
	fail(text, -EINVAL);
}

static void wish_read(char **words)
{
	size_t n = sizeof(keys) / sizeof(keys[0]);

	for (; *words; words++) {
		char *value = strchr(*words, '=');
		size_t i = 0;

		if (!value)
			fail(*words, -EINVAL);
		*value++ = '\0';
		if (strcmp(*words, "dispatcher") == 0) {
			wish.dispatcher = value;
			continue;
		}
		while (i < n && strcmp(keys[i].key, *words) != 0)
			i++;
		if (i == n)
			fail(*words, -EINVAL);
		*keys[i].value = strtoull(value, NULL, 10);
	}
}

static void actors_spawn(void)
{
	static struct actor_class worker = {.size = sizeof(worker),
		.name = "worker",
		.on_start = worker_start,
		.on_message = worker_message};
	static struct actor_class desks = {
		.size = sizeof(desks), .name = "desk", .on_message = desk_message};
	struct actor_dispatcher_spec spec;
	struct actor_spawn_options options = {.size = sizeof(options), .loop = 1};

	check("spawn", actor_system_spawn(bed, &desks, &options, &desk));
	if (wish.dispatcher) {
		check(wish.dispatcher, spec_choose(&spec, wish.dispatcher));
		options.dispatcher = &spec;
	}
	options.throughput = (int64_t)wish.throughput;
	options.loop = (int)wish.loop;
	workers = calloc(wish.actors, sizeof(*workers));
	for (uint64_t i = 0; i < wish.actors; i++)
		check("spawn", actor_system_spawn(bed, &worker, &options, &workers[i]));
}

int main(int argc, char **argv)
{
	struct actor_system_options options = {
		.size = sizeof(options), .name = "mix", .loop = &loop, .drain_ms = 10000};
	struct http_options listen = {.connections = 4, .idle_ms = 60000, .on_request = on_request};
	uv_thread_t thread;

	wish_read(argv + 1);
	if (!wish.actors || !wish.pause_us)
		fail("actors or pause_us", -EINVAL);
	options.loops = wish.loop > 1;
	mix_pin(1);
	uv_loop_init(&loop);
	uv_loop_configure(&loop, UV_METRICS_IDLE_TIME);
	check("open", actor_system_open(&bed, &options));
	actors_spawn();
	check("listen", http_server_open(&http, &loop, &listen));
	uv_async_init(&loop, &client_ended, on_client_ended);
	uv_timer_init(&loop, &burst);
	if (wish.messages)
		uv_timer_start(&burst, on_burst, 1, wish.burst_ms);
	began_ns = uv_hrtime();
	idle_began_ns = uv_metrics_idle_time(&loop);
	client = (struct client){.port = http_server_port(http),
		.pause_us = wish.pause_us,
		.duration_ms = wish.duration_ms,
		.ended = &client_ended};
	check("client", client_start(&client, &thread));
	uv_run(&loop, UV_RUN_DEFAULT);
	uv_thread_join(&thread);
	if (handled != told)
		fail("not all work was handled", 0);
	printf("errors count %llu\n", (unsigned long long)stats.dispatcher_errors);
	free(client.latencies_us);
	free(workers);
	return 0;
}
