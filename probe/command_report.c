/* SPDX-License-Identifier: MIT */
/* `actorprobe report`: what a recording holds, as `hist` would have printed it. */
#include "probe/command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probe/hist_json.h"
#include "probe/hist_text.h"
#include "probe/replay.h"
#include "probe/timeline.h"

static void notes_print(const struct arguments *a, const struct replay_result *result)
{
	if (result->damaged)
		fprintf(stderr,
			"actorprobe: '%s' is damaged behind what is shown here; copy it again\n",
			a->file);
	else if (!result->complete)
		fprintf(stderr,
			"actorprobe: '%s' ends in the middle, its recorder was killed or its disk "
			"was full; all up to there is shown\n",
			a->file);
	if (result->end.folded)
		fprintf(stderr,
			"actorprobe: %" PRIu64
			" records came too fast for the file and are missing "
			"here; record with --sample\n",
			result->end.folded);
	if (result->end.cut)
		fprintf(stderr,
			"actorprobe: the file had reached its largest size; what came then is "
			"missing here\n");
}

static int print(const struct arguments *a, struct replay_result *result, struct error *error)
{
	struct text text = {0};
	int code;

	if (a->json)
		hist_json_render(&text, &result->aggregate, a->by,
			(double)(result->head.realtime_ns / 1000000) / 1e3);
	else
		hist_text_render(&text, &result->aggregate, a->by, a->verbose);
	code = text_write(&text, STDOUT_FILENO, error);
	text_fini(&text);
	return code;
}

/* The trace is written on the way; its file may be incomplete after an error. */
static int replay_traced(const struct arguments *a, struct replay_options *options,
	struct replay_result *result, struct error *error)
{
	FILE *file = fopen(a->chrome_trace, "we");
	struct timeline *timeline = file ? timeline_begin(file, &result->head) : NULL;
	int code, rc = 0;

	if (!timeline) {
		code = error_set(error, file ? EXIT_KERNEL : EXIT_USAGE,
			"the trace '%s' cannot be made (%s); give another file", a->chrome_trace,
			strerror(errno));
		if (file)
			fclose(file);
		return code;
	}
	options->batch = timeline_batch;
	options->data = timeline;
	code = replay(result, a->file, options, error);
	rc = timeline_end(timeline);
	if (fclose(file) != 0 || rc)
		code = error_set(error, EXIT_USAGE,
			"the trace '%s' cannot be written; keep its disk from filling up",
			a->chrome_trace);
	return code;
}

int command_report(const struct arguments *a, struct error *error)
{
	struct replay_options options = {
		.by_actor = a->by == GROUPING_ACTOR, .max_series = a->max_series};
	struct replay_result result = {0};
	int code = a->chrome_trace ? replay_traced(a, &options, &result, error)
				   : replay(&result, a->file, &options, error);

	if (!code)
		code = print(a, &result, error);
	if (!code)
		notes_print(a, &result);
	aggregate_fini(&result.aggregate);
	return code;
}
