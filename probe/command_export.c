/* SPDX-License-Identifier: MIT */
/* `actorprobe export`: serves what is observed to Prometheus until it is told to end.
 *
 * The server's thread looks at the fleet once per request; the main thread follows the processes.
 */
#include "probe/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "probe/beat.h"
#include "probe/escape.h"
#include "probe/exposition.h"
#include "probe/fleet.h"
#include "probe/format.h"
#include "probe/hist_json.h"
#include "probe/otlp.h"
#include "probe/push.h"
#include "probe/scrape.h"
#include "probe/server.h"
#include "probe/textfile.h"

static int page_metrics(void *context, const struct server_request *request,
	struct server_answer *answer, struct error *error)
{
	enum format format = format_negotiate(request->accept);
	struct scrape scrape;
	int code = scrape_open(&scrape, context, error);

	if (code)
		return code;
	answer->content_type = format_content_type(format);
	format_render(format, &answer->body, &scrape.snapshot);
	scrape_close(&scrape);
	return 0;
}

/* What `actorprobe hist -j` prints, of each process that is told apart. */
static int page_snapshot(void *context, const struct server_request *request,
	struct server_answer *answer, struct error *error)
{
	struct fleet_view view = {0};
	int code = fleet_look(context, &view, error);

	answer->content_type = "application/x-ndjson";
	for (size_t i = 0; i < view.count && !code; i++)
		if (!view.parts[i].name_only)
			hist_json_render_process(&answer->body, &view.aggregates[i], GROUPING_FULL,
				view.parts[i].process);
	fleet_view_fini(&view);
	return code;
}

static int page_healthy(void *context, const struct server_request *request,
	struct server_answer *answer, struct error *error)
{
	text_add(&answer->body, "healthy\n");
	return 0;
}

static int page_ready(void *context, const struct server_request *request,
	struct server_answer *answer, struct error *error)
{
	if (!fleet_ready(context))
		return error_set(error, EXIT_TARGET, "not ready: the host is still looked through");
	text_add(&answer->body, "ready\n");
	return 0;
}

static const struct server_route routes[] = {
	{"/metrics", page_metrics},
	{"/api/v1/snapshot", page_snapshot},
	{"/-/healthy", page_healthy},
	{"/-/ready", page_ready},
};

/* ---- one exposition ---- */

static int render_text(struct fleet *fleet, struct text *page, struct error *error)
{
	struct scrape scrape;
	int code = scrape_open(&scrape, fleet, error);

	if (code)
		return code;
	exposition_render(page, &scrape.snapshot);
	scrape_close(&scrape);
	return 0;
}

static int print_once(const struct arguments *a, struct error *error)
{
	struct fleet *fleet = NULL;
	struct text page = {0};
	int code = fleet_open(&fleet, a, error);

	if (!code) {
		fleet_wait(fleet);
		code = render_text(fleet, &page, error);
	}
	if (!code)
		code = text_write(&page, STDOUT_FILENO, error);
	text_fini(&page);
	fleet_close(fleet);
	return code;
}

/* ---- as a service ---- */

/* All ways that the metrics go out; NULL = not this one. */
struct outlets {
	const struct arguments *arguments;
	struct fleet *fleet;
	struct server *server;
	struct textfile *file;
	struct beat *file_beat;
	bool file_failed; /* the last time */
	struct push *push;
	struct otlp_source source; /* of what is pushed; `service` belongs to it */
	char host[256];
};

static int write_file(struct outlets *o, struct error *error)
{
	struct text page = {0};
	int code = render_text(o->fleet, &page, error);

	if (!code)
		code = textfile_write(o->file, &page, error);
	text_fini(&page);
	return code;
}

/* A disk that is full for an hour is told once. */
static uint64_t write_file_again(void *context)
{
	struct outlets *o = context;
	struct error error = {0};
	bool failed = write_file(o, &error) != 0;

	if (failed && !o->file_failed)
		error_report(&error);
	o->file_failed = failed;
	return o->arguments->every_ns;
}

/* ---- pushing ---- */

static uint64_t unix_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Kept for good: a resource whose attributes change is another one to its receiver. */
static int source_open(struct outlets *o, struct error *error)
{
	struct fleet_view view = {0};
	char host[64] = "?", *service = NULL;
	int code = fleet_look(o->fleet, &view, error);

	gethostname(host, sizeof(host) - 1);
	escape_text(o->host, sizeof(o->host), host, sizeof(host));
	if (!code && view.count == 1 && !view.parts[0].process) {
		o->source.pid = view.aggregates[0].pid;
		service = strdup(view.aggregates[0].command ? view.aggregates[0].command : "?");
	} else if (!code) {
		service = strdup("actorprobe");
	}
	fleet_view_fini(&view);
	if (!code && !service)
		code = error_set(error, EXIT_KERNEL, "out of memory");
	o->source.service = service;
	o->source.host = o->host;
	o->source.version = ACTORPROBE_VERSION;
	o->source.start_unix_ns = unix_ns();
	return code;
}

static int render_push(void *context, struct text *body, struct error *error)
{
	struct outlets *o = context;
	struct scrape scrape;
	int code = scrape_open(&scrape, o->fleet, error);

	if (code)
		return code;
	o->source.now_unix_ns = unix_ns();
	otlp_render(body, &scrape.snapshot, &o->source);
	scrape_close(&scrape);
	return 0;
}

static int push_start(struct outlets *o, struct error *error)
{
	int code = source_open(o, error);

	if (code)
		return code;
	return push_open(
		&o->push, o->arguments->otlp, o->arguments->every_ns, render_push, o, error);
}

/* ---- all of them ---- */

/* What can be refused without a look at the target: a wrong address must not disturb it. */
static int outlets_open(struct outlets *o, struct error *error)
{
	const struct arguments *a = o->arguments;
	int code = 0;

	if (a->serve)
		code = server_open(&o->server, &a->listen, error);
	if (!code && a->textfile)
		code = textfile_open(&o->file, a->textfile, error);
	return code;
}

static int outlets_start(struct outlets *o, struct error *error)
{
	const struct arguments *a = o->arguments;
	char what[64];
	int code = 0;

	fleet_describe(o->fleet, what, sizeof(what));
	if (o->server)
		code = server_start(
			o->server, routes, sizeof(routes) / sizeof(routes[0]), o->fleet, error);
	if (!code && o->file)
		code = write_file(o, error);
	if (!code && o->file)
		code = beat_open(&o->file_beat, write_file_again, o, a->every_ns, error);
	if (!code && a->otlp)
		code = push_start(o, error);
	if (code)
		return code;
	if (o->server)
		fprintf(stderr, "actorprobe: serving %s on %s/metrics\n", what,
			server_url(o->server));
	if (o->file)
		fprintf(stderr, "actorprobe: writing %s to %s/" TEXTFILE_NAME "\n", what,
			a->textfile);
	if (o->push)
		fprintf(stderr, "actorprobe: pushing %s to %s\n", what, a->otlp);
	return 0;
}

static void outlets_close(struct outlets *o)
{
	server_close(o->server);
	beat_close(o->file_beat);
	textfile_close(o->file);
	push_close(o->push);
	free((void *)o->source.service);
}

int command_export(const struct arguments *a, struct error *error)
{
	struct outlets o = {.arguments = a};
	int code;

	if (a->once)
		return print_once(a, error);
	code = outlets_open(&o, error);
	if (!code)
		code = fleet_open(&o.fleet, a, error);
	if (!code)
		code = outlets_start(&o, error);
	if (!code)
		fleet_wait(o.fleet);
	outlets_close(&o);
	fleet_close(o.fleet);
	return code;
}
