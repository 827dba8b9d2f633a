/* SPDX-License-Identifier: MIT */
/* Opens, follows and reads the processes of an exporter. */
#define _GNU_SOURCE
#include "probe/fleet.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "probe/facts.h"
#include "probe/merge.h"
#include "probe/signals.h"

#define SECOND_NS 1000000000ull

struct member {
	struct session *session;
	struct crew *crew;
	struct facts facts;
};

struct fleet {
	const struct arguments *arguments;
	int signal_fd;
	pthread_mutex_t lock; /* of all below */
	struct member **members;
	size_t count;
	struct crews crews;
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

static int no_memory(struct error *error)
{
	return error_set(error, EXIT_KERNEL, "out of memory; free some");
}

/* ---- members ---- */

static void member_free(struct member *m)
{
	if (!m)
		return;
	session_close(m->session);
	facts_fini(&m->facts);
	free(m);
}

/* The value of the label `process`; NULL = no label. */
static char *member_name(const struct fleet *f, const struct facts *facts)
{
	const char *command = facts->command ? facts->command : "?";
	char *name = NULL;

	switch (f->arguments->process_label) {
	case ARGUMENTS_BY_NOTHING:
		return NULL;
	case ARGUMENTS_BY_COMMAND:
		return strdup(command);
	case ARGUMENTS_BY_EXE:
		return strdup(facts->exe ? facts->exe : command);
	case ARGUMENTS_BY_PID:
		return asprintf(&name, "%s[%d]", command, (int)facts->pid) < 0 ? NULL : name;
	}
	return NULL;
}

static int member_join(struct fleet *f, struct member *m, struct error *error)
{
	char *name = member_name(f, &m->facts);
	struct member **more;
	int code = 0;

	pthread_mutex_lock(&f->lock);
	more = realloc(f->members, (f->count + 1) * sizeof(*more));
	if (more)
		f->members = more;
	if (more && (name || f->arguments->process_label == ARGUMENTS_BY_NOTHING))
		m->crew = crews_join(&f->crews, name, clock_ns(CLOCK_REALTIME));
	if (m->crew)
		f->members[f->count++] = m;
	else
		code = no_memory(error);
	pthread_mutex_unlock(&f->lock);
	free(name);
	return code;
}

static int member_open(struct fleet *f, pid_t pid, struct error *error)
{
	const struct arguments *a = f->arguments;
	const struct session_options options = {
		.pid = pid,
		.mode = a->mode,
		.sample_every = a->sample_every,
		.max_overhead = a->max_overhead,
		.force_perf = a->force_perf,
		.max_series = a->max_series,
		.verbose = a->verbose,
		.zeroes = true,
	};
	struct member *m = calloc(1, sizeof(*m));
	struct aggregate first = {0};
	int code = m ? session_open(&m->session, &options, error) : no_memory(error);

	/* A turn that is open already is known to be so from now on. */
	if (!code)
		code = session_read(m->session, &first, error);
	if (!code) {
		facts_read(&m->facts, first.pid, first.pid);
		code = member_join(f, m, error);
	}
	aggregate_fini(&first);
	if (code)
		member_free(m);
	return code;
}

/* The process has ended: what it counted becomes its crew's past. */
static void member_end(struct fleet *f, size_t i)
{
	struct member *m = f->members[i];
	struct aggregate last = {0};
	struct error ignored = {0};

	session_stop(m->session);
	pthread_mutex_lock(&f->lock);
	session_read(m->session, &last, &ignored);
	crew_leave(m->crew, &last, clock_ns(CLOCK_MONOTONIC));
	f->members[i] = f->members[--f->count];
	pthread_mutex_unlock(&f->lock);
	fprintf(stderr, "actorprobe: process %d has ended; its last state is served for %.9g s\n",
		(int)m->facts.pid, (double)f->crews.ttl_ns / 1e9);
	member_free(m);
}

/* ---- opening and waiting ---- */

int fleet_open(struct fleet **out, const struct arguments *a, struct error *error)
{
	struct fleet *f = calloc(1, sizeof(*f));
	int code;

	*out = NULL;
	if (!f)
		return no_memory(error);
	f->arguments = a;
	f->signal_fd = -1;
	f->crews.ttl_ns = a->ttl_ns;
	pthread_mutex_init(&f->lock, NULL);
	code = signals_open(&f->signal_fd, error);
	for (size_t i = 0; i < a->pid_count && !code; i++)
		code = member_open(f, a->pids[i], error);
	if (code) {
		fleet_close(f);
		return code;
	}
	/* Each session asks anew whether its maps can be read without. */
	for (size_t i = 0; i < f->count; i++)
		session_confine(f->members[i]->session);
	*out = f;
	return 0;
}

/* Waits for a signal or the end of a process until `until_ns`. True: a signal to stop. */
static bool wait_for_events(struct fleet *f, struct pollfd *set, uint64_t until_ns)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t left = until_ns > now_ns ? until_ns - now_ns : 0;
	struct timespec timeout = {
		.tv_sec = (time_t)(left / SECOND_NS), .tv_nsec = (long)(left % SECOND_NS)};

	set[0] = (struct pollfd){.fd = f->signal_fd, .events = POLLIN};
	for (size_t i = 0; i < f->count; i++)
		set[i + 1] = (struct pollfd){
			.fd = session_exit_fd(f->members[i]->session), .events = POLLIN};
	if (ppoll(set, f->count + 1, &timeout, NULL) <= 0)
		return false;
	/* From the end on: the last one takes the place of one that has ended. */
	for (size_t i = f->count; i-- > 0;)
		if (set[i + 1].revents)
			member_end(f, i);
	return set[0].revents && signals_read(f->signal_fd) & SIGNALS_STOP;
}

static void each_second(struct fleet *f)
{
	for (size_t i = 0; i < f->count; i++)
		session_watch_cost(f->members[i]->session);
	pthread_mutex_lock(&f->lock);
	crews_expire(&f->crews, clock_ns(CLOCK_MONOTONIC));
	pthread_mutex_unlock(&f->lock);
}

void fleet_wait(struct fleet *f)
{
	uint64_t start_ns = clock_ns(CLOCK_MONOTONIC), next_ns = start_ns + SECOND_NS;
	uint64_t end_ns =
		f->arguments->duration_ns ? start_ns + f->arguments->duration_ns : UINT64_MAX;
	struct pollfd *set = calloc(f->count + 1, sizeof(*set));

	while (set && clock_ns(CLOCK_MONOTONIC) < end_ns) {
		if (wait_for_events(f, set, next_ns < end_ns ? next_ns : end_ns))
			break;
		if (clock_ns(CLOCK_MONOTONIC) < next_ns)
			continue;
		each_second(f);
		next_ns = clock_ns(CLOCK_MONOTONIC) + SECOND_NS;
	}
	free(set);
}

/* ---- looking ---- */

static void target_tell(struct snapshot_target *t, const struct facts *facts)
{
	*t = (struct snapshot_target){
		.command = facts->command ? strdup(facts->command) : NULL,
		.exe = facts->exe ? strdup(facts->exe) : NULL,
		.cgroup = facts->cgroup ? strdup(facts->cgroup) : NULL,
		.container = facts->container ? strdup(facts->container) : NULL,
	};
	snprintf(t->pid, sizeof(t->pid), "%d", (int)facts->pid);
}

/* Fills one part with a crew's past and its living members. */
static int crew_look(struct fleet *f, const struct crew *crew, struct snapshot_part *part,
	struct aggregate *total, struct error *error)
{
	struct snapshot_target *targets = calloc(crew->living + 1, sizeof(*targets));
	int r = targets ? crew_total(crew, total) : -1, code = 0;

	part->aggregate = total;
	part->targets = targets;
	part->process = crew->name ? strdup(crew->name) : NULL;
	part->start_unix_ns = crew->start_unix_ns;
	part->name_only = crew->expired;
	for (size_t i = 0; i < f->count && !r && !code; i++) {
		const struct member *m = f->members[i];
		struct aggregate one = {0};

		if (m->crew != crew)
			continue;
		code = session_read(m->session, &one, error);
		if (code)
			break;
		target_tell(&targets[part->target_count++], &m->facts);
		r = merge_add(total, &one);
	}
	if (r || (crew->name && !part->process))
		return no_memory(error);
	return code;
}

static int part_compare(const void *a, const void *b)
{
	const struct crew *const *x = a, *const *y = b;

	return strcmp((*x)->name ? (*x)->name : "", (*y)->name ? (*y)->name : "");
}

int fleet_look(struct fleet *f, struct fleet_view *view, struct error *error)
{
	int code = 0;

	memset(view, 0, sizeof(*view));
	pthread_mutex_lock(&f->lock);
	if (f->crews.count)
		qsort(f->crews.list, f->crews.count, sizeof(*f->crews.list), part_compare);
	view->parts = calloc(f->crews.count + 1, sizeof(*view->parts));
	view->aggregates = calloc(f->crews.count + 1, sizeof(*view->aggregates));
	if (!view->parts || !view->aggregates)
		code = no_memory(error);
	for (size_t i = 0; i < f->crews.count && !code; i++) {
		view->count++;
		code = crew_look(f, f->crews.list[i], &view->parts[i], &view->aggregates[i], error);
	}
	pthread_mutex_unlock(&f->lock);
	if (code)
		fleet_view_fini(view);
	return code;
}

void fleet_view_fini(struct fleet_view *view)
{
	for (size_t i = 0; i < view->count; i++) {
		struct snapshot_part *part = &view->parts[i];

		for (size_t k = 0; part->targets && k < part->target_count; k++) {
			free((void *)part->targets[k].command);
			free((void *)part->targets[k].exe);
			free((void *)part->targets[k].cgroup);
			free((void *)part->targets[k].container);
		}
		free((void *)part->targets);
		free((void *)part->process);
		aggregate_fini(&view->aggregates[i]);
	}
	free(view->parts);
	free(view->aggregates);
	memset(view, 0, sizeof(*view));
}

bool fleet_ready(struct fleet *f)
{
	return f != NULL;
}

void fleet_describe(struct fleet *f, char *text, size_t bytes)
{
	pthread_mutex_lock(&f->lock);
	if (f->count == 1)
		snprintf(text, bytes, "process %d", (int)f->members[0]->facts.pid);
	else
		snprintf(text, bytes, "%zu processes", f->count);
	pthread_mutex_unlock(&f->lock);
}

void fleet_close(struct fleet *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->count; i++)
		member_free(f->members[i]);
	free(f->members);
	crews_fini(&f->crews);
	if (f->signal_fd >= 0)
		close(f->signal_fd);
	pthread_mutex_destroy(&f->lock);
	free(f);
}
