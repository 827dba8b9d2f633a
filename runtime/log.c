/* SPDX-License-Identifier: MIT */
/* The default log: warnings and errors to stderr. */
#include "log.h"

#include "core.h"

#include <stdarg.h>
#include <stdio.h>

void actor__log(struct actor_system *system, enum actor_log_level level, const char *format, ...)
{
	static const char *const names[] = {"debug", "info", "warning", "error"};
	char line[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (system->log)
		system->log(system->log_data, level, line);
	else if (level >= ACTOR_LOG_WARN)
		fprintf(stderr, "%s: %s: %s\n", system->name, names[level], line);
}
