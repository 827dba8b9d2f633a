/* SPDX-License-Identifier: MIT */
/* `actorprobe export`: serves what is observed to Prometheus until it is told to end.
 *
 * The session is read by the server's thread only, once per request; the main thread waits. After
 * the target's end the last state stays, with actorprobe_attached at 0.
 */
#include "probe/command.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "probe/exposition.h"
#include "probe/observation.h"
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

static int render(struct text *text, struct aggregate *a, struct error *error)
{
	struct snapshot_target target = {.command = a->command};
	struct snapshot_part part = {.aggregate = a, .targets = &target, .target_count = 1};
	struct snapshot_self self = observe_self();
	struct snapshot snapshot;

	snprintf(target.pid, sizeof(target.pid), "%d", (int)a->pid);
	if (snapshot_build(&snapshot, &part, 1, &self) < 0)
		return error_set(error, EXIT_KERNEL, "out of memory");
	exposition_render(text, &snapshot);
	snapshot_fini(&snapshot);
	return 0;
}

static int page_metrics(void *context, const struct server_request *request,
	struct server_answer *answer, struct error *error)
{
	struct observation *o = context;
	struct aggregate a = {0};
	int code = session_read(o->session, &a, error);

	answer->content_type = EXPOSITION_CONTENT_TYPE;
	if (!code)
		code = render(&answer->body, &a, error);
	aggregate_fini(&a);
	return code;
}

static int page_healthy(void *context, const struct server_request *request,
	struct server_answer *answer, struct error *error)
{
	text_add(&answer->body, "healthy\n");
	return 0;
}

static const struct server_route routes[] = {
	{"/metrics", page_metrics},
	{"/-/healthy", page_healthy},
};

static void wait_for_end(struct observation *o, const struct arguments *a)
{
	unsigned int events = 0;

	while (!(events & (OBSERVATION_ENOUGH | OBSERVATION_STOPPED))) {
		events = observation_wait(o);
		if (events & OBSERVATION_GONE)
			fprintf(stderr,
				"actorprobe: process %d has ended; its last state is served until "
				"^C\n",
				(int)a->pid);
	}
}

int command_export(const struct arguments *a, struct error *error)
{
	struct observation observation = {.signal_fd = -1};
	struct server *server;
	/* The address first: a wrong one must not disturb the target. */
	int code = server_open(&server, &a->listen, error);

	if (!code)
		code = observation_open(&observation, a, error);
	if (!code)
		code = server_start(server, routes, sizeof(routes) / sizeof(routes[0]), &observation,
			error);
	if (!code) {
		fprintf(stderr, "actorprobe: serving process %d on http://%s/metrics\n",
			(int)a->pid, server_address(server));
		wait_for_end(&observation, a);
	}
	server_close(server);
	observation_close(&observation);
	return code;
}
