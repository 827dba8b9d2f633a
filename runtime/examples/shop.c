/* SPDX-License-Identifier: MIT */
/* An HTTP shop in one process, on one libuv loop: each request is an actor, which asks the shared
 * stock and pricing actors; an importer takes batches of rows. `shop --help` lists what may be
 * turned. See store.c for the actors, http.c for the server, load.c for the built-in load. */
#include "http.h"
#include "load.h"
#include "options.h"
#include "store.h"

#include <actor.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct shop {
	struct options options;
	uv_loop_t loop;
	struct store store;
	struct load *load;
	uv_signal_t interrupt;
	uv_signal_t terminate;
	uv_timer_t end;
	uv_timer_t import;
	bool stopping;
};

static int complain(const char *what, int rc)
{
	fprintf(stderr, "shop: %s: %s\n", what, actor_strerror(rc));
	return 1;
}

/* ---- the end ---- */

static void on_system_closed(struct actor_system *system, void *data)
{
	struct shop *shop = data;

	http_server_close(shop->store.http);
}

static void load_end(struct shop *shop)
{
	struct load_result result = {0};

	load_close(shop->load, &result);
	if (shop->load && !shop->options.quiet)
		printf("shop: of its own requests %llu were answered, %llu failed, %llu were not "
		       "sent\n",
			(unsigned long long)result.answered, (unsigned long long)result.failed,
			(unsigned long long)result.skipped);
	shop->load = NULL;
}

/* No new connections; what is being handled is still answered. */
static int on_unbind(struct actor_system *system, int task, void *data)
{
	struct shop *shop = data;

	if (shop->store.http)
		http_server_stop(shop->store.http);
	return 0;
}

static void shop_stop(struct shop *shop)
{
	uv_handle_t *const handles[] = {(uv_handle_t *)&shop->interrupt,
		(uv_handle_t *)&shop->terminate, (uv_handle_t *)&shop->end,
		(uv_handle_t *)&shop->import};

	if (shop->stopping)
		return;
	shop->stopping = true;
	for (size_t i = 0; i < sizeof(handles) / sizeof(handles[0]); i++)
		uv_close(handles[i], NULL);
	load_end(shop);
	actor_system_shutdown(shop->store.system, shop->store.http ? on_system_closed : NULL, shop);
}

static void on_signal(uv_signal_t *signal, int number)
{
	shop_stop(signal->data);
}

static void on_end(uv_timer_t *timer)
{
	shop_stop(timer->data);
}

/* ---- the beginning ---- */

static void on_import(uv_timer_t *timer)
{
	struct shop *shop = timer->data;

	store_import(&shop->store);
}

static void on_request(void *data, const struct http_request *request)
{
	struct shop *shop = data;

	store_request(&shop->store, request);
}

static int spec_make(struct actor_dispatcher_spec *spec, enum actor_dispatcher_kind kind,
	int64_t budget, const char *id)
{
	switch (kind) {
	case ACTOR_MICROTASK:
		return actor_dispatcher_microtask(spec, id);
	case ACTOR_IMMEDIATE:
		return actor_dispatcher_immediate(spec, id);
	case ACTOR_THROUGHPUT_DISPATCHER:
		return actor_dispatcher_throughput(spec, budget ? budget : ACTOR_THROUGHPUT, id);
	default:
		return actor_dispatcher_hybrid(spec, budget ? budget : ACTOR_HYBRID_BUDGET, id);
	}
}

static int actors_open(struct shop *shop)
{
	const struct options *options = &shop->options;
	struct actor_dispatcher_spec spec;
	struct actor_dispatcher_spec pricing;
	struct actor_system_options system = {.size = sizeof(system),
		.name = "shop",
		.loop = &shop->loop,
		.loops = (int)options->loops,
		.dispatcher = &spec,
		.throughput = options->throughput,
		.drain_ms = 1000};
	int rc = spec_make(&spec, options->dispatcher, options->budget, NULL);

	if (!rc && options->pricing_dispatcher)
		rc = spec_make(&pricing, options->pricing_dispatcher, 0, "pricing");
	if (!rc)
		rc = actor_system_open(&shop->store.system, &system);
	if (rc)
		return complain("cannot start the actor system", rc);
	shop->store.options = options;
	rc = actor_shutdown_add(shop->store.system, ACTOR_UNBIND, "http", on_unbind, shop);
	if (rc < 0)
		return complain("cannot add a task", rc);
	rc = store_open(&shop->store, options->pricing_dispatcher ? &pricing : NULL);
	return rc ? complain("cannot start an actor", rc) : 0;
}

static int server_open(struct shop *shop)
{
	struct http_options http = {
		.port = (int)shop->options.port,
		.connections = (unsigned int)shop->options.connections,
		.idle_ms = (uint64_t)shop->options.idle_ms,
		.on_request = on_request,
		.data = shop,
	};
	char what[64];
	int rc = http_server_open(&shop->store.http, &shop->loop, &http);

	snprintf(what, sizeof(what), "cannot listen on 127.0.0.1:%d", http.port);
	if (rc)
		return complain(what, rc);
	printf("shop: http://127.0.0.1:%d, process %d\n", http_server_port(shop->store.http),
		(int)getpid());
	fflush(stdout);
	return 0;
}

/* Before the address is printed: whoever reads it may end the shop in order. */
static int handles_open(struct shop *shop)
{
	int rc;

	uv_signal_init(&shop->loop, &shop->interrupt);
	uv_signal_init(&shop->loop, &shop->terminate);
	uv_timer_init(&shop->loop, &shop->end);
	uv_timer_init(&shop->loop, &shop->import);
	shop->interrupt.data = shop;
	shop->terminate.data = shop;
	shop->end.data = shop;
	shop->import.data = shop;
	rc = uv_signal_start(&shop->interrupt, on_signal, SIGINT);
	if (!rc)
		rc = uv_signal_start(&shop->terminate, on_signal, SIGTERM);
	return rc ? complain("cannot wait for signals", rc) : 0;
}

static int work_begin(struct shop *shop)
{
	const struct options *options = &shop->options;
	uint64_t duration_ms = (uint64_t)options->duration_s * 1000u;
	uint64_t every_ms = (uint64_t)options->import_every_ms;
	int rc = 0;

	if (duration_ms)
		rc = uv_timer_start(&shop->end, on_end, duration_ms, 0);
	if (!rc && every_ms)
		rc = uv_timer_start(&shop->import, on_import, every_ms, every_ms);
	if (!rc && options->load)
		rc = load_open(&shop->load, http_server_port(shop->store.http),
			(uint64_t)options->load, STORE_PRODUCTS);
	return rc ? complain("cannot start", rc) : 0;
}

int main(int argc, char **argv)
{
	static struct shop shop;
	int status;
	int rc;

	options_parse(&shop.options, argc, argv);
	signal(SIGPIPE, SIG_IGN);
	rc = uv_loop_init(&shop.loop);
	if (rc)
		return complain("cannot make a loop", rc);
	status = actors_open(&shop);
	if (!shop.store.system) {
		uv_loop_close(&shop.loop);
		return status;
	}
	rc = handles_open(&shop);
	if (!status)
		status = rc;
	if (!status)
		status = server_open(&shop);
	if (!status)
		status = work_begin(&shop);
	if (status)
		shop_stop(&shop);
	uv_run(&shop.loop, UV_RUN_DEFAULT);
	rc = uv_loop_close(&shop.loop);
	return rc ? complain("something was left open", rc) : status;
}
