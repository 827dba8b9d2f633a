/* SPDX-License-Identifier: MIT */
/* A heavy actor next to HTTP: it has a thread of its own, so that /ping is answered meanwhile. */
#include "http.h"
#include <actor.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct job {
	uint64_t ticket;
	uint64_t number;
};

static struct actor_type limit = ACTOR_TYPE("limit"), primes = ACTOR_TYPE("primes");
static struct actor_system *system_;
static struct http_server *http;
static actor_ref desk, heavy;

/* On the second loop, in its own thread: nothing here may touch the HTTP server. */
static int heavy_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	const struct job *job = message->payload;
	struct job result = {.ticket = job->ticket};
	uint64_t d;

	for (uint64_t n = 2; n <= job->number; n++) {
		for (d = 2; d * d <= n && n % d; d++)
			;
		result.number += d * d > n;
	}
	return actor_tell(ctx, desk, &primes, &result, sizeof(result));
}

/* On the first loop, that of the HTTP server. */
static int desk_message(struct actor_ctx *ctx, const struct actor_message *message)
{
	const struct job *result = message->payload;
	char text[HTTP_TEXT_BYTES];

	snprintf(text, sizeof(text), "{\"primes\":%llu}\n", (unsigned long long)result->number);
	http_answer(http, result->ticket, 200, text);
	return 0;
}

/* No more jobs can wait than there may be connections, so the mailbox needs no bound. */
static void on_request(void *data, const struct http_request *request)
{
	struct job work = {.ticket = request->ticket};

	if (sscanf(request->path, "/primes/%7" SCNu64, &work.number) != 1)
		http_answer(http, request->ticket, 200, "{\"ping\":true}\n");
	else if (actor_system_tell(system_, heavy, &limit, &work, sizeof(work)))
		http_answer(http, request->ticket, 503, "{\"error\":\"try again later\"}\n");
}

static void on_shutdown(struct actor_system *system, void *data)
{
	http_server_close(http);
}

int main(int argc, char **argv)
{
	static struct actor_class desks = {
		.size = sizeof(desks), .name = "desk", .on_message = desk_message};
	static struct actor_class heavies = {
		.size = sizeof(heavies), .name = "heavy", .on_message = heavy_message};
	struct actor_spawn_options first = {.size = sizeof(first), .loop = 1};
	struct actor_spawn_options second = {.size = sizeof(second), .loop = 2};
	uv_loop_t *loop = uv_default_loop(); /* the first loop, beside one with its own thread */
	struct actor_system_options options = {.size = sizeof(options),
		.loop = loop,
		.loops = 1,
		.shutdown_signals = 1,
		.on_shutdown = on_shutdown};
	struct http_options listen = {.port = argc > 1 ? atoi(argv[1]) : 8080,
		.connections = 1000,
		.idle_ms = 10000,
		.on_request = on_request};
	int rc = actor_system_open(&system_, &options);

	if (!rc)
		rc = actor_system_spawn(system_, &desks, &first, &desk);
	if (!rc)
		rc = actor_system_spawn(system_, &heavies, &second, &heavy);
	if (!rc)
		rc = http_server_open(&http, loop, &listen);
	if (rc) {
		fprintf(stderr, "heavy: %s\n", actor_strerror(rc));
		return 1;
	}
	printf("http://127.0.0.1:%d\n", http_server_port(http));
	fflush(stdout);
	return uv_run(loop, UV_RUN_DEFAULT);
}
