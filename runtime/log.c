/* SPDX-License-Identifier: MIT */
/* Hands lines of log to the sinks of a system. */
#include "log.h"

#include "fork.h"
#include "options.h"
#include "path.h"
#include "sinks.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The loggers whose sinks the calling thread is in, the innermost first. */
struct inside {
	const struct actor__logger *logger;
	const struct inside *outer;
};
static _Thread_local const struct inside *inside;

static bool is_inside(const struct actor__logger *logger)
{
	for (const struct inside *i = inside; i; i = i->outer)
		if (i->logger == logger)
			return true;
	return false;
}

static int plain_write(void *data, const struct actor_log_record *record)
{
	const struct actor__logger *logger = data;

	logger->plain(logger->plain_data, record->level, record->text);
	return 0;
}

static int sink_check(struct actor_log_sink *sink, const struct actor_log_sink *given)
{
	if (!given || !actor__options_read(sink, sizeof(*sink), given, sizeof(*sink)) ||
		!sink->write || (uint32_t)sink->level > ACTOR_LOG_OFF)
		return ACTOR_EOPTIONS;
	return 0;
}

/* The lock is held, or nobody else knows the logger. The sink's id, or -ENOMEM. */
static int sink_add(struct actor__logger *logger, const struct actor_log_sink *sink)
{
	struct actor__sink *added = actor__heap_zero(sizeof(*added));
	struct actor__sink **last = &logger->sinks;

	if (!added)
		return -ENOMEM;
	added->sink = *sink;
	do
		added->id = ++logger->last_id;
	while (added->id <= 0);
	while (*last)
		last = &(*last)->next;
	*last = added;
	return added->id;
}

int actor__logger_init(struct actor__logger *logger, const struct actor_system_options *options)
{
	struct actor_log_sink plain = {.size = sizeof(plain), .write = plain_write, .data = logger};
	struct actor_log_sink sink;
	int rc = options->log_sink ? sink_check(&sink, options->log_sink) : 0;

	if ((uint32_t)options->log_level > ACTOR_LOG_OFF)
		rc = ACTOR_EOPTIONS;
	if (rc)
		return rc;
	memset(logger, 0, sizeof(*logger));
	atomic_init(&logger->level, options->log_level ? options->log_level : ACTOR_LOG_INFO);
	logger->plain = options->log;
	logger->plain_data = options->log_data;
	/* The one without a close first: nothing is to be undone when memory is out. */
	if (options->log)
		rc = sink_add(logger, &plain);
	if (rc >= 0 && options->log_sink)
		rc = sink_add(logger, &sink);
	if (rc < 0) {
		actor__heap_free(logger->sinks); /* one at most */
		return rc;
	}
	pthread_mutex_init(&logger->lock, NULL);
	return 0;
}

static void sink_free(struct actor__sink *sink, bool closes)
{
	if (closes && sink->sink.close)
		sink->sink.close(sink->sink.data);
	actor__heap_free(sink);
}

void actor__logger_fini(struct actor__logger *logger, bool closes)
{
	while (logger->sinks) {
		struct actor__sink *sink = logger->sinks;

		logger->sinks = sink->next;
		sink_free(sink, closes);
	}
	pthread_mutex_destroy(&logger->lock);
}

int actor_system_log_add(struct actor_system *system, const struct actor_log_sink *given)
{
	struct actor_log_sink sink;
	struct actor__logger *logger;
	int rc = actor__forked(system) ? actor__refusal(system) : sink_check(&sink, given);

	if (!rc && is_inside(&system->logger))
		rc = -EDEADLK;
	if (rc)
		return rc;
	logger = &system->logger;
	pthread_mutex_lock(&logger->lock);
	rc = sink_add(logger, &sink);
	pthread_mutex_unlock(&logger->lock);
	return rc;
}

int actor_system_log_remove(struct actor_system *system, int id)
{
	struct actor__sink **place;
	struct actor__sink *sink;
	struct actor__logger *logger;

	if (actor__forked(system))
		return actor__refusal(system);
	logger = &system->logger;
	if (is_inside(logger))
		return -EDEADLK;
	pthread_mutex_lock(&logger->lock);
	for (place = &logger->sinks; *place && (*place)->id != id; place = &(*place)->next)
		;
	sink = *place;
	if (sink)
		*place = sink->next;
	pthread_mutex_unlock(&logger->lock);
	if (!sink)
		return -ENOENT;
	sink_free(sink, true);
	return 0;
}

int actor_system_log_level(struct actor_system *system, enum actor_log_level level)
{
	if (!system)
		return -EINVAL;
	if ((uint32_t)level > ACTOR_LOG_OFF)
		return ACTOR_EOPTIONS;
	if (!level)
		return (int)atomic_load_explicit(&system->logger.level, memory_order_relaxed);
	return (int)atomic_exchange_explicit(
		&system->logger.level, (uint32_t)level, memory_order_relaxed);
}

void actor__log_format(char *text, const char *format, va_list arguments)
{
	int bytes = vsnprintf(text, ACTOR__LOG_BYTES, format, arguments);

	if (bytes < 0)
		snprintf(text, ACTOR__LOG_BYTES, "(a line with an invalid format)");
	else if (bytes >= ACTOR__LOG_BYTES)
		memcpy(text + ACTOR__LOG_BYTES - 4, "...", 4);
}

void actor__log_last_resort(const struct actor_log_record *record)
{
	actor__sink_text((void *)(intptr_t)STDERR_FILENO, record);
}

/* The line goes to stderr first, then why it did not go where it should. */
static void sink_failed(const struct actor_log_record *record, int rc)
{
	struct actor_log_record failure = *record;
	char text[128];

	actor__log_last_resort(record);
	snprintf(text, sizeof(text), "a log sink failed too: %s", actor_strerror(rc));
	failure.level = ACTOR_LOG_ERROR;
	failure.path = "";
	failure.text = text;
	failure.field_count = 0;
	actor__log_last_resort(&failure);
}

/* The lock is held. */
static int sinks_write(struct actor__logger *logger, const struct actor_log_record *record)
{
	struct inside here = {logger, inside};
	int first = 0;

	inside = &here;
	if (!logger->sinks)
		first = actor__sink_text((void *)(intptr_t)STDERR_FILENO, record);
	for (struct actor__sink *s = logger->sinks; s; s = s->next) {
		int rc = 0;

		if (record->level >= s->sink.level)
			rc = s->sink.write(s->sink.data, record);
		if (rc < 0)
			sink_failed(record, rc);
		if (rc < 0 && !first)
			first = rc;
	}
	inside = here.outer;
	return first;
}

void actor__log_now(struct actor_log_record *record)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	record->time_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int actor__log_record(struct actor_system *system, struct actor_log_record *record)
{
	struct actor__logger *logger = &system->logger;
	char path[ACTOR__PATH_BYTES] = "";
	int rc;

	actor__log_now(record);
	record->system = system->name;
	record->path = path;
	if (record->actor)
		actor__path_text(system, record->actor, path, sizeof(path));
	if (is_inside(logger)) {
		actor__log_last_resort(record);
		return -EDEADLK;
	}
	pthread_mutex_lock(&logger->lock);
	rc = sinks_write(logger, record);
	pthread_mutex_unlock(&logger->lock);
	return rc;
}

static int log_text(struct actor_system *system, actor_ref actor, enum actor_log_level level,
	const char *format, va_list arguments)
{
	char text[ACTOR__LOG_BYTES];
	struct actor_log_record record = {.level = level, .text = text, .actor = actor};

	if (!actor__log_enabled(&system->logger, level))
		return 0;
	actor__log_format(text, format, arguments);
	return actor__log_record(system, &record);
}

int actor__log(struct actor_system *system, enum actor_log_level level, const char *format, ...)
{
	va_list arguments;
	int rc;

	va_start(arguments, format);
	rc = log_text(system, 0, level, format, arguments);
	va_end(arguments);
	return rc;
}

int actor__log_about(struct actor_system *system, enum actor_log_level level, actor_ref actor,
	const char *format, ...)
{
	va_list arguments;
	int rc;

	va_start(arguments, format);
	rc = log_text(system, actor, level, format, arguments);
	va_end(arguments);
	return rc;
}
