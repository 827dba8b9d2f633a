/* SPDX-License-Identifier: MIT */
/* One set of programs and one ring for many targets, and the stream that each batch goes to.
 *
 * A link on a file makes every process that runs it hand over, also one that nobody has looked at
 * yet: its batches go to a stream of its own from the first one on, and whoever follows processes is
 * told that there is one. A process that executes a program anew begins its counters anew; then it
 * gets another stream, and is told of again.
 */
#ifndef PROBE_EXCHANGE_H
#define PROBE_EXCHANGE_H

#include <sys/types.h>

#include "probe/calibration.h"
#include "probe/error.h"
#include "probe/notes.h"
#include "probe/programs.h"
#include "probe/ring.h"

struct exchange;

struct exchange_options {
	uint32_t max_series; /* of each target */
	uint64_t sample_every;
	int verbose;
};

/* Loads the programs and starts to drain their ring. 0 or an error. */
int exchange_open(
	struct exchange **out, const struct exchange_options *options, struct error *error);

/* Observes every process that runs the file behind `file_fd`. Returns a descriptor, which ends it
 * when it is closed, or -errno. */
int exchange_link(struct exchange *x, const struct notes *notes, int file_fd);

/* The newest stream of a process, made if it has none; it is the caller's to end by
 * exchange_leave(), and holds still under ring_lock(). NULL without memory. */
struct stream *exchange_enter(struct exchange *x, pid_t pid, uint32_t clock,
	const struct calibration_pair *origin, struct calibration *calibration);

/* Frees a stream (NULL: the newest one). If it is the newest one of its process, nothing is known of that any more. */
void exchange_leave(struct exchange *x, pid_t pid, struct stream *stream);

/* Nothing of the process is observed until exchange_leave() or exchange_enter(). */
void exchange_ignore(struct exchange *x, pid_t pid);

/* Becomes readable when a stream begins that nobody has entered. */
int exchange_fd(const struct exchange *x);

/* Processes whose newest stream nobody has entered, at most so many. */
size_t exchange_news(struct exchange *x, pid_t *pids, size_t most);

/* Processes that are ignored, at most so many. One that has ended is to be left with
 * exchange_leave() and no stream, for its id may come again. */
size_t exchange_ignored(struct exchange *x, pid_t *pids, size_t most);

/* The short name that a process had when it was met first, escaped, as a heap copy, or NULL. */
char *exchange_command(const struct exchange *x, pid_t pid);

struct ring *exchange_ring(struct exchange *x);
struct programs *exchange_programs(struct exchange *x);

/* Links must be closed before. NULL is fine. */
void exchange_close(struct exchange *x);

#endif
