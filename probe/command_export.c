/* SPDX-License-Identifier: MIT */
/* `actorprobe export`: serves what is observed to Prometheus until it is told to end.
 *
 * The server's thread looks at the fleet once per request; the main thread follows the processes.
 */
#include "probe/command.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "probe/fleet.h"
#include "probe/format.h"
#include "probe/hist_json.h"
#include "probe/server.h"

static uint64_t nanoseconds(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_usec * 1000;
}

static uint64_t resident_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long long pages = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%*u %llu", &pages) != 1)
		pages = 0;
	fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static struct snapshot_self observe_self(void)
{
	struct rusage usage = {0};

	getrusage(RUSAGE_SELF, &usage);
	return (struct snapshot_self){
		.version = ACTORPROBE_VERSION,
		.cpu_ns = nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime),
		.resident_bytes = resident_bytes(),
	};
}

static int page_metrics(void *context, const struct server_request *request,
	struct server_answer *answer, struct error *error)
{
	enum format format = format_negotiate(request->accept);
	struct snapshot_self self = observe_self();
	struct snapshot snapshot = {0};
	struct fleet_view view = {0};
	int code = fleet_look(context, &view, error);

	if (!code && snapshot_build(&snapshot, view.parts, view.count, &self) < 0)
		code = error_set(error, EXIT_KERNEL, "out of memory");
	answer->content_type = format_content_type(format);
	if (!code)
		format_render(format, &answer->body, &snapshot);
	snapshot_fini(&snapshot);
	fleet_view_fini(&view);
	return code;
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

int command_export(const struct arguments *a, struct error *error)
{
	struct fleet *fleet = NULL;
	struct server *server;
	char what[64];
	/* The address first: a wrong one must not disturb the target. */
	int code = server_open(&server, &a->listen, error);

	if (!code)
		code = fleet_open(&fleet, a, error);
	if (!code)
		code = server_start(
			server, routes, sizeof(routes) / sizeof(routes[0]), fleet, error);
	if (!code) {
		fleet_describe(fleet, what, sizeof(what));
		fprintf(stderr, "actorprobe: serving %s on %s/metrics\n", what,
			server_url(server));
		fleet_wait(fleet);
	}
	server_close(server);
	fleet_close(fleet);
	return code;
}
