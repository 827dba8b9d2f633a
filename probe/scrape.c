/* SPDX-License-Identifier: MIT */
/* One look at everything that is exported, for whichever way it goes out. */
#include "probe/scrape.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

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

int scrape_open(struct scrape *s, struct fleet *fleet, struct error *error)
{
	int code;

	*s = (struct scrape){.self = observe_self()};
	code = fleet_look(fleet, &s->view, error);
	if (code)
		return code;
	if (snapshot_build(&s->snapshot, s->view.parts, s->view.count, &s->self) < 0) {
		fleet_view_fini(&s->view);
		return error_set(error, EXIT_KERNEL, "out of memory");
	}
	return 0;
}

void scrape_close(struct scrape *s)
{
	snapshot_fini(&s->snapshot);
	fleet_view_fini(&s->view);
}
