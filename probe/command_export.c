/* SPDX-License-Identifier: MIT */
/* `actorprobe export`: serves what is observed to Prometheus until it is told to end.
 *
 * The server's thread looks at the fleet once per request; the main thread follows the processes.
 */
#include "probe/command.h"

#include <stdio.h>
#include <unistd.h>

#include "probe/beat.h"
#include "probe/exposition.h"
#include "probe/fleet.h"
#include "probe/format.h"
#include "probe/hist_json.h"
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
	if (code)
		return code;
	if (o->server)
		fprintf(stderr, "actorprobe: serving %s on %s/metrics\n", what,
			server_url(o->server));
	if (o->file)
		fprintf(stderr, "actorprobe: writing %s to %s/" TEXTFILE_NAME "\n", what,
			a->textfile);
	return 0;
}

static void outlets_close(struct outlets *o)
{
	server_close(o->server);
	beat_close(o->file_beat);
	textfile_close(o->file);
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
