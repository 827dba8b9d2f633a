/* SPDX-License-Identifier: MIT */
/* Opens and ends the members of a fleet. */
#define _GNU_SOURCE
#include "probe/member.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

int member_no_memory(struct error *error)
{
	return error_set(error, EXIT_KERNEL, "out of memory; free some");
}

void member_free(struct member *m)
{
	if (!m)
		return;
	session_close(m->session);
	facts_fini(&m->facts);
	free(m);
}

char *member_name(const struct fleet *f, const struct facts *facts)
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
		m->crew = crews_join(&f->crews, name, now_ns(CLOCK_REALTIME));
	if (m->crew)
		f->members[f->count++] = m;
	else
		code = member_no_memory(error);
	pthread_mutex_unlock(&f->lock);
	free(name);
	return code;
}

int member_open(struct fleet *f, pid_t pid, struct error *error)
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
		.exchange = f->exchange,
		.zeroes = true,
	};
	struct member *m = calloc(1, sizeof(*m));
	struct aggregate first = {0};
	int code = m ? session_open(&m->session, &options, error) : member_no_memory(error);

	/* A turn that is open already is known to be so from now on. */
	if (!code)
		code = session_read(m->session, &first, error);
	if (!code) {
		facts_read(&m->facts, first.pid, first.pid);
		/* It may have ended since. */
		if (!m->facts.command && first.command)
			m->facts.command = strdup(first.command);
		code = member_join(f, m, error);
	}
	aggregate_fini(&first);
	if (code)
		member_free(m);
	return code;
}

void member_end(struct fleet *f, size_t i)
{
	struct member *m = f->members[i];
	struct aggregate last = {0};
	struct error ignored = {0};

	pthread_mutex_lock(&f->lock);
	session_stop(m->session);
	session_read(m->session, &last, &ignored);
	crew_leave(m->crew, &last, now_ns(CLOCK_MONOTONIC));
	f->members[i] = f->members[--f->count];
	pthread_mutex_unlock(&f->lock);
	if (f->host)
		host_forget(f->host, m->facts.pid);
	else
		fprintf(stderr,
			"actorprobe: process %d has ended; its last state is served for %.9g s\n",
			(int)m->facts.pid, (double)f->crews.ttl_ns / 1e9);
	member_free(m);
}

size_t member_find(const struct fleet *f, pid_t pid)
{
	size_t i = 0;

	while (i < f->count && f->members[i]->facts.pid != pid)
		i++;
	return i;
}
