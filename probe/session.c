/* SPDX-License-Identifier: MIT */
/* One observation of one process, from finding it to leaving it without a trace.
 *
 * Order matters. The target is identified first, its root read, the clock's rate settled; only then
 * do probes go in, because BPF converts ticks by it. The probes come out first as well.
 */
#define _GNU_SOURCE
#include "probe/aggregate.h"

#include "probe/account.h"
#include "probe/calibration.h"
#include "probe/capability.h"
#include "probe/collection.h"
#include "probe/deepwatch.h"
#include "probe/directory.h"
#include "probe/error.h"
#include "probe/exchange.h"
#include "probe/fuse.h"
#include "probe/loopwatch.h"
#include "probe/pathbook.h"
#include "probe/remote.h"
#include "probe/ring.h"
#include "probe/target.h"
#include "probe/programs.h"
#include "probe/recording.h"
#include "probe/zeroes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define START_WAIT_NS 2000000000u /* for a program that has not made its first system yet */
#define START_STEP_NS 10000000u
#define LAST_LOOKS    25

struct session {
	struct target target;
	struct remote *remote;
	struct directory *directory; /* the newest that could be read */
	struct directory_pairs pairs; /* at the attach */
	uint32_t max_series;
	bool zeroes;
	struct pathbook paths;
	struct loopwatch watch;
	struct calibration calibration;
	struct exchange *exchange; /* NULL: all of these three are the session's own */
	struct programs *programs, own_programs;
	struct stream *stream, own_stream; /* ledger mode only, like the ring */
	struct ring *ring;
	struct recording *recording; /* the caller's; NULL = none */
	struct session_tap tap;
	enum aggregate_mode mode;
	_Atomic uint64_t sample_every;
	struct fuse fuse; /* of the thread that calls session_watch_cost() */
	_Atomic uint64_t overhead_ppm;
	_Atomic bool detached;
	uint64_t folded; /* at the last reading */
	bool by_actor;
	bool stopped;
	_Atomic bool moved; /* another program runs in the target */
	uint64_t attached_ns; /* CLOCK_MONOTONIC */
	uint64_t stopped_ns;
	uint64_t attach_ns;
};

static int directory_error(int r, const struct target *t, struct error *error)
{
	switch (-r) {
	case ETIMEDOUT:
		return error_set(error, EXIT_TARGET,
			"the memory of process %d does not answer within 200 ms; a page of it is "
			"held back by something else, try again",
			t->pid);
	case EPROTO:
		return error_set(error, EXIT_PROBES,
			"process %d carries a root that no libactor writes; its memory is damaged, "
			"or "
			"it imitates libactor",
			t->pid);
	case ENOMEM:
		return error_set(error, EXIT_KERNEL, "out of memory");
	default:
		if (!target_alive(t))
			return error_set(error, EXIT_TARGET, "process %d ended meanwhile", t->pid);
		return error_set(error, EXIT_TARGET,
			"the root of process %d cannot be read; it may have replaced its program "
			"since "
			"it started, try again",
			t->pid);
	}
}

static int version_error(const struct session *s, struct error *error)
{
	const struct directory *d = s->directory;

	if (d->major > ACTOR_ABI_MAJOR)
		return error_set(error, EXIT_PROBES,
			"process %d uses a newer libactor (ABI %u.%u) than this actorprobe knows "
			"(ABI %u); use a newer actorprobe",
			s->target.pid, d->major, d->minor, ACTOR_ABI_MAJOR);
	if (d->major < ACTOR_ABI_MAJOR)
		return error_set(error, EXIT_PROBES,
			"process %d uses an older libactor (ABI %u.%u) than this actorprobe reads "
			"(ABI %u); rebuild it with a newer libactor",
			s->target.pid, d->major, d->minor, ACTOR_ABI_MAJOR);
	return 0;
}

static uint64_t monotonic_ns(void)
{
	return calibration_now(ACTOR_ABI_CLOCK_MONOTONIC).ns;
}

/* Reads the root, and waits a little for a program that has only just started. */
static int root_read(struct session *s, struct error *error)
{
	uint64_t until = monotonic_ns() + START_WAIT_NS;
	const struct timespec step = {.tv_nsec = START_STEP_NS};
	int r;

	for (;;) {
		directory_free(s->directory);
		s->directory = NULL;
		r = directory_read(&s->directory, s->remote, s->target.root_address,
			s->zeroes ? DIRECTORY_PAIRS : 0);
		if (r < 0)
			return directory_error(r, &s->target, error);
		r = version_error(s, error);
		if (r != 0 || s->directory->first_monotonic_ns)
			return r;
		if (s->exchange || monotonic_ns() > until || !target_alive(&s->target))
			return error_set(error, EXIT_TARGET,
				"process %d carries libactor but has not started an actor system "
				"yet; "
				"try again once it has",
				s->target.pid);
		nanosleep(&step, NULL);
	}
}

static uint32_t series_bounded(uint32_t wished)
{
	if (!wished)
		return PROGRAMS_SERIES_DEFAULT;
	return wished < PROGRAMS_SERIES_MOST ? wished : PROGRAMS_SERIES_MOST;
}

static void batch_show(void *data, const struct ring_batch *batch, size_t bytes)
{
	struct session *s = data;

	if (s->recording)
		recording_batch(s->recording, batch, bytes);
	if (s->tap.batch)
		s->tap.batch(s->tap.data, batch, bytes);
}

/* Before the first batch. */
static void recording_start(struct session *s)
{
	const struct directory *d = s->directory;
	struct recording_head head = {
		.clock = d->clock,
		.mult = s->calibration.mult,
		.shift = s->calibration.shift,
		.first_ticks = d->first_ticks,
		.first_ns = d->first_monotonic_ns,
		.attached_ns = s->attached_ns,
		.sample_every = s->sample_every,
		.pid = s->target.pid,
	};
	struct timespec now;

	if (!s->recording)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	head.realtime_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec -
			   (monotonic_ns() - s->attached_ns);
	snprintf(head.command, sizeof(head.command), "%s",
		s->target.command ? s->target.command : "?");
	recording_head(s->recording, &head);
	recording_names(s->recording, d);
}

static void take(void *stream, const struct ring_batch *batch, size_t bytes)
{
	stream_take(stream, batch, bytes);
}

/* What is in the ring already waits for its reader. */
static int ring_start(struct session *s, uint32_t max_series, struct error *error)
{
	const struct directory *d = s->directory;
	const struct stream_options options = {
		.by_actor = s->by_actor,
		.max_series = max_series,
		.calibration = s->calibration,
		.origin = {d->first_ticks, d->first_monotonic_ns},
		.tap = {s->recording || s->tap.batch ? batch_show : NULL, s},
	};
	int r = stream_init(s->stream, &options);

	if (r == 0)
		r = ring_open(&s->ring, programs_ring(s->programs), take, s->stream);
	if (r == 0)
		return 0;
	return error_set(error, EXIT_KERNEL,
		"the ring buffer cannot be read (%s); use --mode trace, which does without",
		strerror(-r));
}

/* The probes are in already, or will be: what comes from the target goes to this stream. */
static int attach_shared(struct session *s, struct error *error)
{
	const struct directory *d = s->directory;
	const struct calibration_pair origin = {d->first_ticks, d->first_monotonic_ns};
	uint64_t before = monotonic_ns();

	s->programs = exchange_programs(s->exchange);
	s->stream = exchange_enter(
		s->exchange, s->target.pid, d->clock, &origin, &s->calibration);
	if (!s->stream)
		return error_set(error, EXIT_KERNEL, "out of memory");
	s->ring = exchange_ring(s->exchange);
	s->attached_ns = monotonic_ns();
	s->attach_ns = s->attached_ns - before;
	/* Of a file that stays open for each process there would be too many. */
	close(s->target.object_fd);
	s->target.object_fd = -1;
	return 0;
}

static int attach(struct session *s, const struct session_options *options, struct error *error)
{
	const struct directory *d = s->directory;
	struct calibration_pair mine = calibration_now(d->clock);
	struct calibration_pair first = {d->first_ticks, d->first_monotonic_ns};
	struct programs_options wanted = {
		.mode = options->mode,
		.by_actor = options->by_actor,
		.force_perf = options->force_perf,
		.messages_given = d->minor >= 1,
		.sample_every = options->sample_every,
		.max_series = s->max_series,
		.verbose = options->verbose,
	};
	uint64_t before;
	int r;

	calibration_settle(&s->calibration, d->clock, &first, &mine);
	wanted.calibration = s->calibration;
	before = monotonic_ns();
	r = programs_open(s->programs, &s->target, &wanted, error);
	s->attached_ns = monotonic_ns();
	s->attach_ns = s->attached_ns - before;
	if (r == 0 && options->verbose)
		fprintf(stderr, "actorprobe: attached to %s by %s in %.1f ms\n",
			s->target.object_path,
			s->programs->how == ATTACH_MULTI ? "uprobe_multi links" : "perf events",
			(double)s->attach_ns / 1e6);
	if (r == 0)
		recording_start(s);
	if (r == 0 && s->tap.start)
		s->tap.start(s->tap.data, &s->calibration);
	if (r == 0 && s->mode == AGGREGATE_LEDGER)
		r = ring_start(s, wanted.max_series, error);
	return r;
}

int session_open(struct session **out, const struct session_options *options, struct error *error)
{
	struct session *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return error_set(error, EXIT_KERNEL, "out of memory");
	s->exchange = options->exchange;
	s->programs = &s->own_programs;
	s->stream = &s->own_stream;
	s->by_actor = options->by_actor;
	s->zeroes = options->zeroes;
	s->max_series = series_bounded(options->max_series);
	s->mode = options->mode;
	s->recording = options->recording;
	s->tap = options->tap;
	s->sample_every = options->sample_every ? options->sample_every : 1;
	s->fuse.limit = options->max_overhead;
	r = target_open(&s->target, options->pid, error);
	if (r == 0) {
		int failed = remote_open(&s->remote, s->target.pid, s->target.task);

		if (failed == -EACCES || failed == -EPERM)
			r = target_permission_error(s->target.pid, error);
		else if (failed < 0)
			r = directory_error(failed, &s->target, error);
	}
	if (r == 0)
		r = root_read(s, error);
	if (r == 0) {
		s->pairs = s->directory->pairs; /* moved */
		s->directory->pairs = (struct directory_pairs){0};
		r = s->exchange ? attach_shared(s, error) : attach(s, options, error);
	}
	if (r != 0) {
		session_close(s);
		return r;
	}
	*out = s;
	return 0;
}

/* After exec the same process has other memory: its root is looked for anew. The probes follow by
 * themselves, as they belong to the file. */
static void root_renew(struct session *s)
{
	struct remote *remote = NULL;
	struct error ignored = {0};

	if (target_renew(&s->target, &ignored) != 0 ||
		remote_open(&remote, s->target.pid, s->target.task) < 0)
		return;
	remote_close(s->remote);
	s->remote = remote;
}

/* What is known now; in ledger mode the stream holds still until source_unlock(). */
static void source_lock(struct session *s, struct collection_source *source)
{
	*source = (struct collection_source){.programs = s->programs, .final = s->stopped,
		.target = s->exchange ? (uint32_t)s->target.pid : 0};
	if (!s->ring)
		return;
	ring_lock(s->ring);
	source->stream = s->stream;
	if (!s->exchange)
		programs_set_rate(s->programs, s->stream->calibration.mult);
}

/* While the stream holds still. */
static void recording_renew(struct session *s)
{
	if (!s->recording)
		return;
	recording_names(s->recording, s->directory);
	recording_paths(s->recording, &s->paths);
	recording_flush(s->recording);
}

static void source_unlock(struct session *s)
{
	if (s->ring)
		ring_unlock(s->ring);
}

/* The root as it is now. A busy host may keep the reader from it; the last time, when nothing comes
 * after it, is worth some patience. */
static int root_look(struct session *s, struct directory **newer)
{
	const struct timespec step = {.tv_nsec = START_STEP_NS};
	int r = directory_read(newer, s->remote, s->target.root_address, 0);

	for (int i = 0; i < LAST_LOOKS && s->stopped && (r == -ETIMEDOUT || r == -EBUSY); i++) {
		nanosleep(&step, NULL);
		r = directory_read(newer, s->remote, s->target.root_address, 0);
	}
	/* Who shares programs leaves it to another session to follow. */
	if (s->exchange)
		s->moved |= r == -EFAULT || r == -EPROTO ||
			    (r == 0 && (*newer)->first_ticks != s->directory->first_ticks);
	if (r != -EFAULT || s->exchange)
		return r;
	root_renew(s);
	return directory_read(newer, s->remote, s->target.root_address, 0);
}

/* Refreshes names while the target can be read; what was known before stays known. Actors that are
 * not found are taken for gone, so they are looked for in what was read just now only. */
static void refresh(struct session *s)
{
	struct directory *newer = NULL;
	uint64_t *actors = NULL;
	size_t count = 0;
	struct collection_source source;
	bool learn;

	if (root_look(s, &newer) || s->moved || newer->major != ACTOR_ABI_MAJOR ||
		!newer->first_monotonic_ns) {
		directory_free(newer);
		return;
	}
	directory_free(s->directory);
	s->directory = newer;
	if (!s->by_actor)
		return;
	source_lock(s, &source);
	learn = collection_actors(&source, &actors, &count) == 0;
	source_unlock(s);
	if (learn)
		pathbook_learn(&s->paths, s->directory, s->remote, actors, count);
	free(actors);
}

/* What all of the aggregate has beside the numbers. */
static void fill_head(struct session *s, struct aggregate *a)
{
	*a = (struct aggregate){
		.pid = s->target.pid,
		.command = strdup(s->target.command ? s->target.command : "?"),
		.by_actor = s->by_actor,
		.alive = target_alive(&s->target),
		.elapsed_ns = (s->stopped ? s->stopped_ns : monotonic_ns()) - s->attached_ns,
		.attach_ns = s->attach_ns,
		.sample_every = s->sample_every,
		.detached = s->detached,
		.overhead = (double)s->overhead_ppm / 1e6,
		.mode = strdup(s->mode == AGGREGATE_LEDGER ? "ledger" : "trace"),
	};
}

int session_read(struct session *s, struct aggregate *a, struct error *error)
{
	struct collection_names names;
	struct collection_source source;
	int r;

	fill_head(s, a);
	if (a->alive && !s->moved)
		refresh(s);
	a->alive &= !s->moved;
	names = (struct collection_names){.directory = s->directory, .paths = &s->paths};
	source_lock(s, &source);
	r = collection_fill(&source, &names, a);
	recording_renew(s);
	source_unlock(s);
	if (r == 0 && s->zeroes)
		r = zeroes_fill(s->directory, &s->pairs, s->max_series, a);
	a->folding = a->folded != s->folded;
	s->folded = a->folded;
	if (r == 0 && a->alive)
		r = loopwatch_fill(&s->watch, s->directory, s->remote, &s->calibration, a);
	if (r == 0 && a->alive)
		r = deepwatch_fill(s->directory, s->remote, &s->calibration, a);
	if (r == 0)
		return 0;
	aggregate_fini(a);
	return error_set(error, EXIT_KERNEL, "out of memory");
}

static void cost_reduce(struct session *s, enum fuse_action action)
{
	double percent = s->fuse.share * 100, limit = s->fuse.limit * 100;

	if (action == FUSE_SAMPLE) {
		programs_set_sampling(s->programs, s->fuse.sample_every);
		s->sample_every = s->fuse.sample_every;
		fprintf(stderr,
			"actorprobe: observing costs about %.2g %% of a core, more than %.2g %%; "
			"from now on each %luth batch is taken\n",
			percent, limit, (unsigned long)s->fuse.sample_every);
	} else if (action == FUSE_DETACH) {
		s->detached = true;
		session_stop(s);
		fprintf(stderr,
			"actorprobe: observing costs about %.2g %% of a core, more than %.2g %%; "
			"the probes are taken away, what was seen so far stays\n",
			percent, limit);
	}
}

void session_watch_cost(struct session *s)
{
	struct fuse_reading now = {.at_ns = monotonic_ns()};
	enum fuse_action action;

	if (s->stopped)
		return;
	account_cost(s->programs, s->exchange ? (uint32_t)s->target.pid : 0,
		s->ring ? s->stream : NULL, &now);
	s->fuse.sample_every = s->ring ? s->sample_every : 0;
	action = fuse_step(&s->fuse, &now);
	s->overhead_ppm = (uint64_t)(s->fuse.share * 1e6);
	cost_reduce(s, action);
}

void session_confine(struct session *s)
{
	if (capability_rest() < 0)
		return;
	if (programs_readable(s->programs))
		capability_drop_all();
	else
		capability_resume();
}

const struct directory *session_directory(const struct session *s)
{
	return s->directory;
}

int session_resolve(struct session *s, struct directory_wish *wishes, size_t count)
{
	return directory_resolve(s->directory, s->remote, wishes, count);
}

int session_exit_fd(const struct session *s)
{
	return s->target.pid_fd;
}

void session_stop(struct session *s)
{
	if (s->stopped)
		return;
	/* Detaching takes long, and counts nothing for the most part of it. */
	s->stopped_ns = monotonic_ns();
	if (!s->exchange)
		programs_detach(s->programs);
	s->stopped = true;
}

bool session_moved(const struct session *s)
{
	return s->moved;
}

void session_retire(struct session *s)
{
	s->moved = true;
}

static void detach(struct session *s)
{
	if (s->exchange) {
		if (s->ring)
			exchange_leave(s->exchange, s->target.pid, s->stream);
		return;
	}
	programs_detach(s->programs);
	ring_close(s->ring);
	stream_fini(s->stream);
	if (s->programs->skeleton)
		programs_close(s->programs);
}

void session_close(struct session *s)
{
	if (!s)
		return;
	detach(s);
	remote_close(s->remote);
	directory_free(s->directory);
	pathbook_fini(&s->paths);
	free(s->pairs.pairs);
	target_close(&s->target);
	free(s);
}
