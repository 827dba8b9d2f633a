/* SPDX-License-Identifier: MIT */
/* An HTTP server whose state is an actor's: it counts the visits to each path, without a lock. */
#include "http.h"
#include <actor.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATHS_MOST 100

struct visit {
	uint64_t ticket; /* names the request to http_answer(); harmless when its client is gone */
	char path[256];
};

struct counter {
	unsigned int paths;
	struct {
		char path[256];
		unsigned int visits;
	} of[PATHS_MOST];
};

static struct actor_type visit = ACTOR_TYPE("visit");
static struct actor_system *system_;
static struct http_server *http;
static actor_ref counter;

/* One message at a time: nobody else sees this state while it changes. */
static int count(struct actor_ctx *ctx, const struct actor_message *message)
{
	struct counter *state = actor_state(ctx);
	const struct visit *visit = message->payload;
	char text[HTTP_TEXT_BYTES];
	unsigned int i = 0;

	while (i < state->paths && strcmp(state->of[i].path, visit->path) != 0)
		i++;
	if (i == PATHS_MOST) {
		http_answer(http, visit->ticket, 507, "{\"error\":\"too many paths\"}\n");
		return 0; /* not a failure: the actor is as well as before */
	}
	if (i == state->paths)
		strcpy(state->of[state->paths++].path, visit->path);
	snprintf(text, sizeof(text), "{\"visits\":%u}\n", ++state->of[i].visits);
	http_answer(http, visit->ticket, 200, text);
	return 0;
}

/* On the loop's thread, outside of any handler. The message is copied, so that it may lie here. */
static void on_request(void *data, const struct http_request *request)
{
	struct visit news = {.ticket = request->ticket};
	int rc;

	snprintf(news.path, sizeof(news.path), "%s", request->path);
	rc = actor_system_tell(system_, counter, &visit, &news, sizeof(news));
	if (rc) /* say so at once: nobody else will answer this request */
		http_answer(http, request->ticket, 503, "{\"error\":\"try again later\"}\n");
}

/* After SIGTERM or SIGINT: the actors have handled what was queued and have stopped. */
static void on_shutdown(struct actor_system *system, void *data)
{
	http_server_close(http);
}

int main(int argc, char **argv)
{
	static struct actor_class cls = {.size = sizeof(cls),
		.name = "counter",
		.state_bytes = sizeof(struct counter),
		.on_message = count};
	uv_loop_t *loop = uv_default_loop();
	struct actor_system_options options = {.size = sizeof(options),
		.loop = loop,
		.shutdown_signals = 1,
		.on_shutdown = on_shutdown};
	struct http_options listen = {.port = argc > 1 ? atoi(argv[1]) : 8080,
		.connections = 1000,
		.idle_ms = 10000,
		.on_request = on_request};
	int rc = actor_system_open(&system_, &options);

	if (!rc)
		rc = actor_system_spawn(system_, &cls, NULL, &counter);
	if (!rc)
		rc = http_server_open(&http, loop, &listen);
	if (rc) {
		fprintf(stderr, "server: %s\n", actor_strerror(rc));
		return 1;
	}
	printf("http://127.0.0.1:%d\n", http_server_port(http));
	fflush(stdout);
	return uv_run(loop, UV_RUN_DEFAULT);
}
