/* SPDX-License-Identifier: MIT */
/* Keeps the first error of a command and reports it in one line. */
#include "probe/error.h"

#include <stdarg.h>
#include <stdio.h>

int error_set(struct error *e, enum error_exit exit, const char *format, ...)
{
	va_list list;

	if (e->exit != EXIT_FINE)
		return (int)e->exit;
	e->exit = exit;
	va_start(list, format);
	vsnprintf(e->text, sizeof(e->text), format, list);
	va_end(list);
	for (char *c = e->text; *c; c++)
		if (*c == '\n')
			*c = ' ';
	return (int)exit;
}

int error_report(const struct error *e)
{
	if (e->exit != EXIT_FINE)
		fprintf(stderr, "actorprobe: %s\n", e->text);
	return (int)e->exit;
}
