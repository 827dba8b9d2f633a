/* SPDX-License-Identifier: MIT */
/* What the observing commands share: two states, the interval between them, times, last words. */
#include "probe/report.h"

#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* The live view on a terminal shows by itself that it has begun. */
static bool paints(const struct arguments *a)
{
	return a->command == OPTION_LIVE && isatty(STDOUT_FILENO);
}

int report_open(struct report *r, const struct arguments *a, struct error *error)
{
	int code = observation_open(&r->observation, a, error);

	if (code)
		return code;
	if (a->verbose || (isatty(STDERR_FILENO) && !paints(a)))
		fprintf(stderr, "actorprobe: observing process %d; ^C ends it\n", (int)a->pid);
	return 0;
}

int report_read(struct report *r, unsigned int events, struct error *error)
{
	struct aggregate next = {0};
	int code;

	if (events & OBSERVATION_LAST)
		session_stop(r->observation.session);
	code = session_read(r->observation.session, &next, error);
	if (code) {
		aggregate_fini(&next);
		return code;
	}
	aggregate_fini(&r->before);
	r->before = r->now;
	r->now = next;
	return 0;
}

int report_recent(const struct report *r, struct aggregate *recent, struct error *error)
{
	if (grouping_subtract(recent, &r->now, &r->before))
		return error_set(error, EXIT_USAGE, "out of memory; lower --max-series");
	return 0;
}

int report_print(struct report *r, struct error *error)
{
	int code = text_write(&r->text, STDOUT_FILENO, error);

	text_clear(&r->text);
	return code;
}

int report_end(const struct report *r, unsigned int events, struct error *error)
{
	if (events & OBSERVATION_UNREAD)
		return error_set(error, EXIT_USAGE,
			"the output pipe was closed by its reader; keep the reader open, or end "
			"the run with -d or a count");
	if (events & OBSERVATION_GONE)
		fprintf(stderr, "actorprobe: process %d has ended; all that was seen is printed\n",
			(int)r->now.pid);
	return 0;
}

void report_close(struct report *r)
{
	aggregate_fini(&r->now);
	aggregate_fini(&r->before);
	text_fini(&r->text);
	observation_close(&r->observation);
}

void report_add_clock(struct text *t)
{
	time_t now = time(NULL);
	struct tm parts;
	char clock[16] = "";

	if (localtime_r(&now, &parts))
		strftime(clock, sizeof(clock), "%H:%M:%S", &parts);
	text_add(t, "%s\n", clock);
}

double report_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (double)t.tv_sec + floor((double)t.tv_nsec / 1e6) / 1e3;
}
