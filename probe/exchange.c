/* SPDX-License-Identifier: MIT */
/* Hands the batches of the common ring to the streams of their processes. */
#include "probe/exchange.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "probe/escape.h"

#define ROUTE_CHAINS 256u /* a power of two */
#define SECOND_NS    1000000000u

static const struct calibration identity = {.mult = 1u << 31, .shift = 31};

/* Guarded by the ring's lock. */
struct route {
	struct route *next;
	pid_t pid;
	struct stream *stream; /* the newest one */
	bool entered;	       /* somebody has it */
	bool ignored;
};

struct exchange {
	struct programs programs;
	struct ring *ring;
	struct calibration host; /* of the clock that all processes of this host share */
	uint32_t max_series;
	int event;
	struct route *chains[ROUTE_CHAINS];
};

static struct route **route_place(struct exchange *x, pid_t pid)
{
	struct route **place = &x->chains[(uint32_t)pid & (ROUTE_CHAINS - 1)];

	while (*place && (*place)->pid != pid)
		place = &(*place)->next;
	return place;
}

static struct route *route_of(struct exchange *x, pid_t pid)
{
	struct route **place = route_place(x, pid);

	if (!*place) {
		*place = calloc(1, sizeof(**place));
		if (*place)
			(*place)->pid = pid;
	}
	return *place;
}

static struct stream *stream_new(const struct exchange *x, const struct calibration *calibration,
	const struct calibration_pair *origin)
{
	const struct stream_options options = {
		.max_series = x->max_series,
		.calibration = *calibration,
		.origin = *origin,
	};
	struct stream *stream = calloc(1, sizeof(*stream));

	if (!stream || stream_init(stream, &options) == 0)
		return stream;
	stream_fini(stream);
	free(stream);
	return NULL;
}

/* A clock that shows what CLOCK_MONOTONIC shows is that one. */
static const struct calibration *rate_of(
	const struct exchange *x, const struct actor_abi_handover *head)
{
	uint64_t apart = head->ticks > head->monotonic_ns ? head->ticks - head->monotonic_ns
							  : head->monotonic_ns - head->ticks;

	return apart < SECOND_NS ? &identity : &x->host;
}

static void stream_begin(
	struct exchange *x, struct route *route, const struct actor_abi_handover *head)
{
	const struct calibration_pair origin = {head->ticks, head->monotonic_ns};

	route->stream = stream_new(x, rate_of(x, head), &origin);
	route->entered = false;
	eventfd_write(x->event, 1);
}

/* Each batch of a loop has a higher number than the one before it, but after exec. */
static bool begins_anew(const struct stream *stream, const struct ring_batch *batch)
{
	const struct stream_loop *loop = &stream->loops[batch->loop];

	return loop->known && batch->head.sequence < loop->sequence;
}

static void take(void *context, const struct ring_batch *batch, size_t bytes)
{
	struct exchange *x = context;
	struct route *route;

	if (bytes < sizeof(*batch) || batch->loop >= ACTOR_ABI_LOOPS)
		return;
	route = route_of(x, (pid_t)batch->head.spare);
	if (!route || route->ignored)
		return;
	/* One that nobody has entered yet takes it all, however often it begins anew. */
	if (!route->stream || (route->entered && begins_anew(route->stream, batch)))
		stream_begin(x, route, &batch->head);
	if (route->stream)
		stream_take(route->stream, batch, bytes);
}

int exchange_open(
	struct exchange **out, const struct exchange_options *options, struct error *error)
{
	struct exchange *x = calloc(1, sizeof(*x));
	struct calibration_pair now = calibration_now(ACTOR_ABI_CLOCK_TSC);
	struct programs_options wanted = {
		.many = true,
		.messages_given = true,
		.sample_every = options->sample_every,
		.max_series = options->max_series,
		.verbose = options->verbose,
	};
	int code, r = 0;

	if (!x)
		return error_set(error, EXIT_KERNEL, "out of memory");
	x->max_series = options->max_series;
	x->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	calibration_settle(&x->host, ACTOR_ABI_CLOCK_TSC, &now, &now);
	wanted.calibration = x->host;
	code = programs_load(&x->programs, &wanted, error);
	if (code == 0)
		r = ring_open(&x->ring, programs_ring(&x->programs), take, x);
	if (r < 0 || x->event < 0)
		code = error_set(error, EXIT_KERNEL, "the ring buffer cannot be read (%s)",
			strerror(r < 0 ? -r : EMFILE));
	if (code == 0)
		*out = x;
	else
		exchange_close(x);
	return code;
}

int exchange_link(struct exchange *x, const struct notes *notes, int file_fd)
{
	return programs_link(&x->programs, notes, file_fd);
}

struct stream *exchange_enter(struct exchange *x, pid_t pid, uint32_t clock,
	const struct calibration_pair *origin, struct calibration *calibration)
{
	struct target_entry entry = {0};
	struct route *route;
	struct stream *stream = NULL;

	*calibration = clock == ACTOR_ABI_CLOCK_MONOTONIC ? identity : x->host;
	programs_entry(&x->programs, pid, &entry);
	entry.mult = calibration->mult;
	entry.shift = calibration->shift;
	entry.ignored = 0;
	programs_enter(&x->programs, pid, &entry);
	ring_lock(x->ring);
	route = route_of(x, pid);
	if (route) {
		route->ignored = false;
		if (!route->stream || route->entered)
			route->stream = stream_new(x, calibration, origin);
		route->entered = true;
		stream = route->stream;
	}
	ring_unlock(x->ring);
	return stream;
}

static void stream_free(struct stream *stream)
{
	if (stream)
		stream_fini(stream);
	free(stream);
}

void exchange_leave(struct exchange *x, pid_t pid, struct stream *stream)
{
	struct route **place, *route;
	bool last = false;

	ring_lock(x->ring);
	place = route_place(x, pid);
	route = *place;
	if (route && (route->stream == stream || !stream)) {
		*place = route->next;
		stream = route->stream;
		free(route);
		last = true;
	}
	ring_unlock(x->ring);
	stream_free(stream);
	if (last)
		programs_forget(&x->programs, pid);
}

void exchange_ignore(struct exchange *x, pid_t pid)
{
	struct target_entry entry = {0};
	struct route *route;

	programs_entry(&x->programs, pid, &entry);
	entry.ignored = 1;
	programs_enter(&x->programs, pid, &entry);
	ring_lock(x->ring);
	route = route_of(x, pid);
	if (route && !route->entered) {
		stream_free(route->stream);
		route->stream = NULL;
		route->ignored = true;
	}
	ring_unlock(x->ring);
}

int exchange_fd(const struct exchange *x)
{
	return x->event;
}

/* Those that nobody has entered, and are ignored or not. */
static size_t routes_left(struct exchange *x, bool ignored, pid_t *pids, size_t most)
{
	size_t count = 0;

	ring_lock(x->ring);
	for (size_t i = 0; i < ROUTE_CHAINS; i++)
		for (const struct route *r = x->chains[i]; r && count < most; r = r->next)
			if (!r->entered && r->ignored == ignored)
				pids[count++] = r->pid;
	ring_unlock(x->ring);
	return count;
}

size_t exchange_news(struct exchange *x, pid_t *pids, size_t most)
{
	eventfd_t times;

	eventfd_read(x->event, &times);
	return routes_left(x, false, pids, most);
}

size_t exchange_ignored(struct exchange *x, pid_t *pids, size_t most)
{
	return routes_left(x, true, pids, most);
}

char *exchange_command(const struct exchange *x, pid_t pid)
{
	struct target_entry entry = {0};

	if (programs_entry(&x->programs, pid, &entry) < 0 || !*entry.command)
		return NULL;
	return escape_copy(entry.command, strnlen(entry.command, sizeof(entry.command)));
}

struct ring *exchange_ring(struct exchange *x)
{
	return x->ring;
}

struct programs *exchange_programs(struct exchange *x)
{
	return &x->programs;
}

void exchange_close(struct exchange *x)
{
	if (!x)
		return;
	ring_close(x->ring);
	for (size_t i = 0; i < ROUTE_CHAINS; i++) {
		for (struct route *r = x->chains[i], *next; r; r = next) {
			next = r->next;
			stream_free(r->stream);
			free(r);
		}
	}
	if (x->programs.skeleton)
		programs_close(&x->programs);
	if (x->event >= 0)
		close(x->event);
	free(x);
}
