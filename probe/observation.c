/* SPDX-License-Identifier: MIT */
/* One observed process and the moments at which a face has something to print. */
#define _GNU_SOURCE

#include "probe/observation.h"

#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "probe/signals.h"

#define SECOND_NS 1000000000ull

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

static uint64_t after(uint64_t start_ns, uint64_t ns)
{
	return ns > UINT64_MAX - start_ns ? UINT64_MAX : start_ns + ns;
}

static uint64_t next_tick(const struct observation_plan *plan)
{
	return plan->interval_ns ? after(plan->start_ns, plan->interval_ns * (plan->ticks + 1))
				 : UINT64_MAX;
}

static uint64_t deadline(const struct observation_plan *plan)
{
	return plan->duration_ns ? after(plan->start_ns, plan->duration_ns) : UINT64_MAX;
}

uint64_t observation_plan_next(const struct observation_plan *plan)
{
	uint64_t tick = next_tick(plan);
	uint64_t end = deadline(plan);

	return tick < end ? tick : end;
}

unsigned int observation_plan_due(struct observation_plan *plan, uint64_t now_ns)
{
	unsigned int events = 0;

	if (next_tick(plan) <= now_ns) {
		plan->ticks = (now_ns - plan->start_ns) / plan->interval_ns;
		events |= OBSERVATION_TICK;
		/* A count is of printed blocks: one tick, one block. */
		if (plan->count && --plan->count == 0)
			events |= OBSERVATION_ENOUGH;
	}
	if (deadline(plan) <= now_ns)
		events |= OBSERVATION_ENOUGH;
	return events;
}

static int open_with(struct observation *o, const struct arguments *a,
	struct recording *recording, const struct session_tap *tap, struct error *error)
{
	const struct session_options options = {
		.pid = a->pid,
		.mode = a->mode,
		.sample_every = a->sample_every,
		.max_overhead = a->max_overhead,
		.by_actor = a->by == GROUPING_ACTOR,
		.force_perf = a->force_perf,
		.max_series = a->max_series,
		.verbose = a->verbose,
		.recording = recording,
		.tap = tap ? *tap : (struct session_tap){0},
	};
	struct aggregate first = {0};
	int code;

	memset(o, 0, sizeof(*o));
	o->signal_fd = -1;
	code = signals_open(&o->signal_fd, error);
	if (!code)
		code = session_open(&o->session, &options, error);
	/* A turn that is open already is known to be so from now on. */
	if (!code)
		code = session_read(o->session, &first, error);
	aggregate_fini(&first);
	if (code) {
		observation_close(o);
		return code;
	}
	if (!tap)
		session_confine(o->session);
	o->watch_ns = now();
	o->watch_output = a->command != OPTION_RECORD;
	o->plan = (struct observation_plan){
		.start_ns = now(),
		.interval_ns = a->interval_ns,
		.count = a->count,
		.duration_ns = a->duration_ns,
	};
	return 0;
}

int observation_open(struct observation *o, const struct arguments *a, struct error *error)
{
	return open_with(o, a, NULL, NULL, error);
}

int observation_record(struct observation *o, const struct arguments *a,
	struct recording *recording, struct error *error)
{
	return open_with(o, a, recording, NULL, error);
}

int observation_tap(struct observation *o, const struct arguments *a, const struct session_tap *tap,
	struct error *error)
{
	return open_with(o, a, NULL, tap, error);
}

static unsigned int read_signals(int fd)
{
	unsigned int signals = signals_read(fd);

	return (signals & SIGNALS_STOP ? OBSERVATION_STOPPED : 0) |
	       (signals & SIGNALS_RESIZE ? OBSERVATION_RESIZED : 0);
}

static void wait_until(struct pollfd *set, nfds_t count, uint64_t until_ns)
{
	uint64_t now_ns = now();
	uint64_t left = until_ns > now_ns ? until_ns - now_ns : 0;
	struct timespec timeout = {
		.tv_sec = (time_t)(left / SECOND_NS), .tv_nsec = (long)(left % SECOND_NS)};

	if (ppoll(set, count, until_ns == UINT64_MAX ? NULL : &timeout, NULL) < 0)
		for (nfds_t i = 0; i < count; i++)
			set[i].revents = 0;
}

unsigned int observation_wait(struct observation *o)
{
	struct pollfd set[] = {
		{.fd = o->signal_fd, .events = POLLIN},
		{.fd = o->gone ? -1 : session_exit_fd(o->session), .events = POLLIN},
		{.fd = o->watch_output ? STDOUT_FILENO : -1}, /* errors are always reported */
	};
	unsigned int events = 0;

	while (!events) {
		uint64_t next = observation_plan_next(&o->plan);

		wait_until(set, 3, next < o->watch_ns ? next : o->watch_ns);
		if (now() >= o->watch_ns) {
			session_watch_cost(o->session);
			o->watch_ns = now() + SECOND_NS;
		}
		events = observation_plan_due(&o->plan, now());
		if (set[0].revents)
			events |= read_signals(o->signal_fd);
		o->gone |= set[1].revents != 0;
		if (set[1].revents)
			events |= OBSERVATION_GONE;
		if (set[2].revents & POLLERR)
			events |= OBSERVATION_UNREAD;
	}
	return events;
}

void observation_close(struct observation *o)
{
	session_close(o->session);
	if (o->signal_fd > 0)
		close(o->signal_fd);
	o->session = NULL;
	o->signal_fd = -1;
}
