/* SPDX-License-Identifier: MIT */
/* Opens, follows and reads the processes of an exporter. */
#define _GNU_SOURCE
#include "probe/fleet.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "probe/finder.h"
#include "probe/member.h"
#include "probe/merge.h"
#include "probe/signals.h"

#define SECOND_NS 1000000000ull

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

/* ---- opening and waiting ---- */

int fleet_open(struct fleet **out, const struct arguments *a, struct error *error)
{
	struct fleet *f = calloc(1, sizeof(*f));
	int code;

	*out = NULL;
	if (!f)
		return member_no_memory(error);
	f->arguments = a;
	f->signal_fd = -1;
	f->crews.ttl_ns = a->ttl_ns;
	pthread_mutex_init(&f->lock, NULL);
	code = signals_open(&f->signal_fd, error);
	if (!code && (a->all || a->exe))
		code = finder_begin(f, error);
	for (size_t i = 0; i < a->pid_count && !code; i++)
		code = member_open(f, a->pids[i], error);
	if (code) {
		fleet_close(f);
		return code;
	}
	/* Each session asks anew whether its maps can be read without. */
	for (size_t i = 0; i < f->count && !f->host; i++)
		session_confine(f->members[i]->session);
	*out = f;
	return 0;
}

/* Waits for a signal, the end of a process or a new one until `until_ns`. True: stop. */
static bool wait_for_events(struct fleet *f, struct pollfd *set, uint64_t until_ns)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t left = until_ns > now_ns ? until_ns - now_ns : 0;
	struct timespec timeout = {
		.tv_sec = (time_t)(left / SECOND_NS), .tv_nsec = (long)(left % SECOND_NS)};
	struct pollfd *of_members = set + 2;

	set[0] = (struct pollfd){.fd = f->signal_fd, .events = POLLIN};
	set[1] = (struct pollfd){
		.fd = f->exchange ? exchange_fd(f->exchange) : -1, .events = POLLIN};
	for (size_t i = 0; i < f->count; i++)
		of_members[i] = (struct pollfd){
			.fd = session_exit_fd(f->members[i]->session), .events = POLLIN};
	if (ppoll(set, f->count + 2, &timeout, NULL) <= 0)
		return false;
	/* From the end on: the last one takes the place of one that has ended. */
	for (size_t i = f->count; i-- > 0;)
		if (of_members[i].revents)
			member_end(f, i);
	if (set[1].revents)
		finder_news(f);
	return set[0].revents && signals_read(f->signal_fd) & SIGNALS_STOP;
}

static void each_second(struct fleet *f)
{
	if (f->host)
		finder_look(f);
	pthread_mutex_lock(&f->lock);
	for (size_t i = 0; i < f->count; i++)
		session_watch_cost(f->members[i]->session);
	crews_expire(&f->crews, clock_ns(CLOCK_MONOTONIC));
	pthread_mutex_unlock(&f->lock);
}

static bool set_room(const struct fleet *f, struct pollfd **set)
{
	struct pollfd *more = realloc(*set, (f->count + 2) * sizeof(*more));

	*set = more ? more : *set;
	return more != NULL;
}

void fleet_wait(struct fleet *f)
{
	uint64_t start_ns = clock_ns(CLOCK_MONOTONIC), next_ns = start_ns + SECOND_NS;
	uint64_t end_ns =
		f->arguments->duration_ns ? start_ns + f->arguments->duration_ns : UINT64_MAX;
	struct pollfd *set = NULL;

	while (set_room(f, &set) && clock_ns(CLOCK_MONOTONIC) < end_ns) {
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
		return member_no_memory(error);
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
		code = member_no_memory(error);
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
	if (f->host)
		snprintf(text, bytes, "%s, %zu now",
			f->arguments->all ? "every process" : "each process of the program",
			f->count);
	else if (f->count == 1)
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
	host_close(f->host);
	exchange_close(f->exchange);
	crews_fini(&f->crews);
	if (f->signal_fd >= 0)
		close(f->signal_fd);
	pthread_mutex_destroy(&f->lock);
	free(f);
}
