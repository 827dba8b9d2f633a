/* SPDX-License-Identifier: MIT */
/* The inside of a fleet: its members, and how one joins and ends. Only fleet.c, finder.c and member.c
 * see it. */
#ifndef PROBE_MEMBER_H
#define PROBE_MEMBER_H

#include <pthread.h>

#include "probe/arguments.h"
#include "probe/crew.h"
#include "probe/exchange.h"
#include "probe/facts.h"
#include "probe/host.h"

#define MEMBER_RETRIES_MAX 64u

struct member {
	struct session *session;
	struct crew *crew;
	struct facts facts;
};

/* A process that handed over and could not be looked into, and how often that was tried. */
struct retry {
	pid_t pid;
	unsigned int times;
};

struct fleet {
	const struct arguments *arguments;
	int signal_fd;
	pthread_mutex_t lock; /* of members and crews; only the thread that waits changes them */
	struct member **members;
	size_t count;
	struct crews crews;
	struct exchange *exchange; /* these three only where processes are found */
	struct host *host;
	struct retry retries[MEMBER_RETRIES_MAX];
};

/* The sentence for missing memory. */
int member_no_memory(struct error *error);

/* The value of the label `process` as a heap copy; NULL = no label, or no memory. */
char *member_name(const struct fleet *f, const struct facts *facts);

/* Attaches to a process and lets it join its crew. 0 or an error. */
int member_open(struct fleet *f, pid_t pid, struct error *error);

/* Its place, or `count` for one that is none. */
size_t member_find(const struct fleet *f, pid_t pid);

/* The process has ended, or runs another program: what it counted becomes its crew's past. The last
 * member takes its place. */
void member_end(struct fleet *f, size_t i);

/* NULL is fine. */
void member_free(struct member *m);

#endif
