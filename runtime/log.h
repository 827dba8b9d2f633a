/* SPDX-License-Identifier: MIT */
/* The log of a system: who wants lines of which level, and how a line gets to them.
 *
 * Sinks are called one at a time, whatever threads log: `lock` is held meanwhile. A line that a
 * sink logs itself, or that a sink fails to write, goes to stderr. Any thread. */
#ifndef ACTOR_LOG_H
#define ACTOR_LOG_H

#include "core.h"

#include <stdarg.h>

#define ACTOR__LOG_BYTES 1024 /* longest text of a line, with its NUL */

/* Takes the log's part of the options, which are checked here. 0, ACTOR_EOPTIONS, -ENOMEM. After
 * an error nothing is left to be undone. */
int actor__logger_init(struct actor__logger *logger, const struct actor_system_options *options);

/* Gives up all sinks; `closes`: not after a failed open, they are the caller's again. */
void actor__logger_fini(struct actor__logger *logger, bool closes);

static inline bool actor__log_enabled(const struct actor__logger *logger, enum actor_log_level level)
{
	return (uint32_t)level >= atomic_load_explicit(&logger->level, memory_order_relaxed);
}

/* A line of the runtime's own. 0, or the first error of a sink, after stderr has got the line. Not
 * with a lock of the system held: a sink may call whatever it likes. */
int actor__log(struct actor_system *system, enum actor_log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same of an actor; 0: of none. */
int actor__log_about(struct actor_system *system, enum actor_log_level level, actor_ref actor,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Formats into a buffer of ACTOR__LOG_BYTES; a text that is cut ends in "...". */
void actor__log_format(char *text, const char *format, va_list arguments);

/* Fills in the time. */
void actor__log_now(struct actor_log_record *record);

/* Fills in time, system and path, and hands the record to all sinks; result as above. */
int actor__log_record(struct actor_system *system, struct actor_log_record *record);

/* To stderr, whatever becomes of it. */
void actor__log_last_resort(const struct actor_log_record *record);

#endif
