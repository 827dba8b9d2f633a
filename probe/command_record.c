/* SPDX-License-Identifier: MIT */
/* `actorprobe record`: keeps the ledger stream of a process in a file. */
#include "probe/command.h"

#include <inttypes.h>
#include <stdio.h>

#include "probe/observation.h"
#include "probe/recording.h"
#include "probe/text.h"

#define FLUSH_NS 1000000000u /* names are renewed and the file is brought up to date so often */

static int finish(const struct arguments *a, struct recording *recording,
	const struct aggregate *last, struct error *error)
{
	const struct recording_end end = {
		.elapsed_ns = last->elapsed_ns,
		.delivered = last->delivered,
		.folded = last->folded,
	};
	uint64_t bytes = recording_bytes(recording);
	bool full = recording_full(recording);
	struct text count = {0};
	int code = recording_finish(recording, &end, error);

	if (code)
		return code;
	text_add_number(&count, (double)last->delivered);
	fprintf(stderr, "actorprobe: %s messages in %.1f s, %.1f MB in %s\n",
		count.failed ? "?" : count.bytes, (double)last->elapsed_ns / 1e9,
		(double)bytes / 1e6, a->output);
	if (last->folded)
		fprintf(stderr,
			"actorprobe: %" PRIu64
			" records came too fast and are not in it; record with "
			"--sample\n",
			last->folded);
	if (full)
		fprintf(stderr, "actorprobe: the file has reached its largest size; give a larger "
				"--max-size, "
				"or record with --sample\n");
	text_fini(&count);
	return 0;
}

int command_record(const struct arguments *a, struct error *error)
{
	struct arguments plan = *a;
	struct observation o = {0};
	struct recording *recording;
	struct aggregate now = {0};
	unsigned int events = 0;
	int code = recording_create(&recording, a->output, a->max_size, error);

	if (code)
		return code;
	plan.interval_ns = FLUSH_NS;
	code = observation_record(&o, &plan, recording, error);
	while (!code && !(events & OBSERVATION_LAST)) {
		events = observation_wait(&o);
		if (events & OBSERVATION_LAST)
			session_stop(o.session);
		aggregate_fini(&now);
		code = session_read(o.session, &now, error);
		if (!code && recording_full(recording)) {
			session_stop(o.session);
			break;
		}
	}
	if (!code && events & OBSERVATION_GONE)
		fprintf(stderr, "actorprobe: process %d has ended\n", (int)a->pid);
	observation_close(&o);
	if (code)
		recording_finish(recording, NULL, error);
	else
		code = finish(a, recording, &now, error);
	aggregate_fini(&now);
	return code;
}
