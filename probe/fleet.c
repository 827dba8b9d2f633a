/* SPDX-License-Identifier: MIT */
/* Opens, follows and reads the processes of an exporter. */
#define _GNU_SOURCE
#include "probe/fleet.h"

#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/capability.h"
#include "probe/collection.h"
#include "probe/exchange.h"
#include "probe/facts.h"
#include "probe/host.h"
#include "probe/merge.h"
#include "probe/signals.h"
#include "probe/target.h"

#define SECOND_NS   1000000000ull
#define RETRIES_MAX 64u /* processes */
#define TRIES_MAX   10u
#define NEWS_MAX    256u
#define COMMAND_BYTES 15 /* of a name, as the kernel keeps it */
#define LINGER_NS   (60 * SECOND_NS) /* of a link that nobody uses */

#define HOST_PID_NAMESPACE 0xEFFFFFFCu /* its number in every kernel */

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
	pthread_mutex_t lock; /* of all below */
	struct member **members;
	size_t count;
	struct crews crews;
	struct exchange *exchange; /* these two only where processes are found */
	struct host *host;
	struct retry retries[RETRIES_MAX];
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
		.exchange = f->exchange,
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

/* The process has ended, or runs another program: what it counted becomes its crew's past. */
static void member_end(struct fleet *f, size_t i)
{
	struct member *m = f->members[i];
	struct aggregate last = {0};
	struct error ignored = {0};

	pthread_mutex_lock(&f->lock);
	session_stop(m->session);
	session_read(m->session, &last, &ignored);
	crew_leave(m->crew, &last, clock_ns(CLOCK_MONOTONIC));
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

/* ---- processes that are found ---- */

static size_t member_find(const struct fleet *f, pid_t pid)
{
	size_t i = 0;

	while (i < f->count && f->members[i]->facts.pid != pid)
		i++;
	return i;
}

static bool member_try(void *context, pid_t pid)
{
	struct fleet *f = context;
	struct error error = {0};

	if (member_find(f, pid) < f->count)
		return true;
	if (member_open(f, pid, &error) == 0)
		return true;
	if (f->arguments->verbose)
		fprintf(stderr, "actorprobe: %s\n", error.text);
	return false;
}

/* Only its short name tells whether it ran the program that is asked for. */
static bool orphan_wanted(const struct fleet *f, const struct facts *facts)
{
	const char *exe = f->arguments->exe;
	const char *name = exe ? strrchr(exe, '/') : NULL;

	name = name ? name + 1 : exe;
	return !name || (facts->command && strncmp(name, facts->command, COMMAND_BYTES) == 0);
}

/* It handed over and ended before anybody could look: its counts stay, names are numbers. */
static void orphan_end(struct fleet *f, pid_t pid)
{
	struct directory nameless = {0};
	struct pathbook paths = {0};
	const struct collection_names names = {&nameless, &paths};
	struct facts facts = {.pid = pid, .command = exchange_command(f->exchange, pid)};
	struct collection_source source = {.programs = exchange_programs(f->exchange),
		.target = (uint32_t)pid,
		.final = true};
	struct calibration_pair origin = {0};
	struct calibration calibration;
	struct aggregate last = {.mode = strdup("ledger")};
	char *name = member_name(f, &facts);
	struct stream *stream = exchange_enter(
		f->exchange, pid, ACTOR_ABI_CLOCK_TSC, &origin, &calibration);
	struct crew *crew;

	source.stream = stream;
	if (stream && !orphan_wanted(f, &facts)) {
		exchange_leave(f->exchange, pid, stream);
	} else if (stream) {
		ring_lock(exchange_ring(f->exchange));
		collection_fill(&source, &names, &last);
		ring_unlock(exchange_ring(f->exchange));
		pthread_mutex_lock(&f->lock);
		crew = crews_join(&f->crews, name, clock_ns(CLOCK_REALTIME));
		if (crew)
			crew_leave(crew, &last, clock_ns(CLOCK_MONOTONIC));
		pthread_mutex_unlock(&f->lock);
		exchange_leave(f->exchange, pid, stream);
	}
	aggregate_fini(&last);
	facts_fini(&facts);
	free(name);
}

/* Is it to be tried again? With no place to count, it is. */
static bool retry_again(struct fleet *f, pid_t pid)
{
	struct retry *place = NULL;

	for (size_t i = 0; i < RETRIES_MAX; i++) {
		if (f->retries[i].pid == pid)
			return ++f->retries[i].times < TRIES_MAX;
		if (!f->retries[i].pid)
			place = &f->retries[i];
	}
	if (place)
		*place = (struct retry){pid, 1};
	return true;
}

static void retry_end(struct fleet *f, pid_t pid)
{
	for (size_t i = 0; i < RETRIES_MAX; i++)
		if (f->retries[i].pid == pid)
			f->retries[i].pid = 0;
}

/* A process hands over that nobody observes yet, or that begins anew. */
static void news_take(struct fleet *f, pid_t pid)
{
	size_t i = member_find(f, pid);
	enum host_want want;

	if (i < f->count) {
		session_retire(f->members[i]->session);
		member_end(f, i);
	}
	want = host_wants(f->host, pid);
	if (want == HOST_WANTS && member_try(f, pid))
		host_accept(f->host, pid);
	else if (!target_task(pid))
		orphan_end(f, pid);
	else if (want == HOST_WANTS_NOT)
		exchange_ignore(f->exchange, pid);
	else if (retry_again(f, pid))
		return;
	else
		exchange_ignore(f->exchange, pid);
	retry_end(f, pid);
}

static void news_read(struct fleet *f)
{
	pid_t pids[NEWS_MAX];
	size_t count = exchange_news(f->exchange, pids, NEWS_MAX);

	for (size_t i = 0; i < count; i++)
		news_take(f, pids[i]);
}

/* The id of one that has ended may come again. */
static void ignored_forget(struct fleet *f)
{
	pid_t pids[NEWS_MAX];
	size_t count = exchange_ignored(f->exchange, pids, NEWS_MAX);

	for (size_t i = 0; i < count; i++)
		if (!target_task(pids[i]))
			exchange_leave(f->exchange, pids[i], NULL);
}

static void host_look(struct fleet *f)
{
	for (size_t i = f->count; i-- > 0;)
		if (session_moved(f->members[i]->session))
			member_end(f, i);
	host_scan(f->host, member_try, f);
	news_read(f);
	ignored_forget(f);
}

static int check_namespace(struct error *error)
{
	struct stat st;

	if (stat("/proc/self/ns/pid", &st) == 0 && st.st_ino == HOST_PID_NAMESPACE)
		return 0;
	return error_set(error, EXIT_KERNEL,
		"processes are found in the host's own PID namespace only; start the container "
		"with it (hostPID: true, --pid=host), or give -p PID");
}

/* Many processes need many descriptors. */
static void raise_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static int host_begin(struct fleet *f, struct error *error)
{
	static const int kept[] = {CAPABILITY_BPF, CAPABILITY_PERFMON, CAPABILITY_SYS_PTRACE, -1};
	const struct arguments *a = f->arguments;
	const struct exchange_options options = {.max_series = a->max_series,
		.sample_every = a->sample_every,
		.verbose = a->verbose};
	int code = check_namespace(error);

	raise_files();
	/* Threads come and go with processes; each would leave an arena behind. */
	mallopt(M_ARENA_MAX, 2);
	if (!code)
		code = exchange_open(&f->exchange, &options, error);
	if (code)
		return code;
	f->host = host_open(f->exchange, a->exe, LINGER_NS);
	if (!f->host)
		return no_memory(error);
	/* New processes are attached to and read as long as this runs. */
	capability_keep(kept);
	host_look(f);
	return 0;
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
	if (!code && (a->all || a->exe))
		code = host_begin(f, error);
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
		news_read(f);
	return set[0].revents && signals_read(f->signal_fd) & SIGNALS_STOP;
}

static void each_second(struct fleet *f)
{
	if (f->host)
		host_look(f);
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
