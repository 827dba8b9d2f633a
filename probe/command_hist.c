/* SPDX-License-Identifier: MIT */
/* `actorprobe hist`: histograms of a run, or of each interval of it.
 *
 * Without an interval everything since the attach is printed once, at the end. With one, each block
 * holds what happened in its interval alone and the last block the rest, so that the blocks add up.
 */
#include "probe/command.h"

#include "probe/hist_json.h"
#include "probe/hist_text.h"
#include "probe/report.h"

static void render(struct report *r, const struct arguments *a, const struct aggregate *shown)
{
	if (a->json) {
		hist_json_render(&r->text, shown, a->by,
			a->interval_ns || a->timestamps ? report_time() : -1);
		return;
	}
	if (a->timestamps)
		report_add_clock(&r->text);
	hist_text_render(&r->text, shown, a->by, a->verbose);
	if (a->interval_ns)
		text_add(&r->text, "\n");
}

static int print_block(
	struct report *r, const struct arguments *a, unsigned int events, struct error *error)
{
	struct aggregate recent = {0};
	int code = report_read(r, events, error);

	if (code)
		return code;
	if (a->interval_ns) {
		code = report_recent(r, &recent, error);
		if (!code)
			render(r, a, &recent);
		aggregate_fini(&recent);
	} else {
		render(r, a, &r->now);
	}
	return code ? code : report_print(r, error);
}

int command_hist(const struct arguments *a, struct error *error)
{
	struct report r = {0};
	unsigned int events = 0;
	int code = report_open(&r, a, error);

	if (code)
		return code;
	while (!code && !(events & OBSERVATION_LAST)) {
		events = observation_wait(&r.observation);
		if (events & ~(unsigned int)(OBSERVATION_RESIZED | OBSERVATION_UNREAD))
			code = print_block(&r, a, events, error);
	}
	if (!code)
		code = report_end(&r, events, error);
	report_close(&r);
	return code;
}
