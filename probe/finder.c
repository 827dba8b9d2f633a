/* SPDX-License-Identifier: MIT */
/* Lets processes that are found join the fleet, and keeps the counts of those that end too early. */
#include "probe/finder.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "probe/capability.h"
#include "probe/collection.h"
#include "probe/target.h"

#define TRIES_MAX     10u
#define NEWS_MAX      256u
#define COMMAND_BYTES 15 /* of a name, as the kernel keeps it */
#define LINGER_NS     60000000000ull /* of a link that nobody uses */

#define HOST_PID_NAMESPACE 0xEFFFFFFCu /* its number in every kernel */

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
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
		crew = crews_join(&f->crews, name, now_ns(CLOCK_REALTIME));
		if (crew)
			crew_leave(crew, &last, now_ns(CLOCK_MONOTONIC));
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

	for (size_t i = 0; i < MEMBER_RETRIES_MAX; i++) {
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
	for (size_t i = 0; i < MEMBER_RETRIES_MAX; i++)
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

void finder_news(struct fleet *f)
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

void finder_look(struct fleet *f)
{
	for (size_t i = f->count; i-- > 0;)
		if (session_moved(f->members[i]->session))
			member_end(f, i);
	host_scan(f->host, member_try, f);
	finder_news(f);
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

int finder_begin(struct fleet *f, struct error *error)
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
		return member_no_memory(error);
	/* New processes are attached to and read as long as this runs. */
	capability_keep(kept);
	finder_look(f);
	return 0;
}
