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

static struct exposition_self observe_self(void)
{
	struct rusage usage = {0};

	getrusage(RUSAGE_SELF, &usage);
	return (struct exposition_self){
		.version = ACTORPROBE_VERSION,
		.cpu_ns = nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime),
		.resident_bytes = resident_bytes(),
	};
}

static int page(void *context, struct text *text, struct error *error)
{
	struct observation *o = context;
	struct exposition_self self = observe_self();
	struct aggregate a = {0};
	int code = session_read(o->session, &a, error);

	if (!code)
		exposition_render(text, &a, &self);
	aggregate_fini(&a);
	return code;
}

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
		code = server_start(server, page, &observation, EXPOSITION_CONTENT_TYPE, error);
	if (!code) {
		fprintf(stderr, "actorprobe: serving process %d on http://%s/metrics\n",
			(int)a->pid, server_address(server));
		wait_for_end(&observation, a);
	}
	server_close(server);
	observation_close(&observation);
	return code;
}
