/* SPDX-License-Identifier: MIT */
/* `actorprobe diagnose`: looks for a while, then says who starves whom, why, and what to do. */
#include "probe/command.h"

#include <stdio.h>
#include <unistd.h>

#include "probe/diagnosis.h"
#include "probe/diagnosis_text.h"
#include "probe/observation.h"

#define LOOK_NS 200000000u

static int print(const struct arguments *a, const struct evidence *e, struct error *error)
{
	struct verdict verdicts[RULES];
	struct text text = {0};
	size_t count = rule_judge(e, verdicts, RULES);
	int code;

	if (a->json)
		diagnosis_json_render(&text, e, verdicts, count);
	else
		diagnosis_text_render(&text, e, verdicts, count);
	code = text_write(&text, STDOUT_FILENO, error);
	text_fini(&text);
	return code;
}

int command_diagnose(const struct arguments *a, struct error *error)
{
	struct diagnosis *d = diagnosis_new();
	struct observation o = {0};
	struct evidence e = {0};
	struct arguments plan = *a;
	struct session_tap tap;
	unsigned int events = 0;
	int code;

	if (!d)
		return error_set(error, EXIT_KERNEL, "out of memory");
	tap = diagnosis_tap(d);
	plan.interval_ns = LOOK_NS;
	code = observation_tap(&o, &plan, &tap, error);
	if (!code)
		code = diagnosis_begin(d, o.session, a->pid, error);
	while (!code && !(events & OBSERVATION_LAST)) {
		events = observation_wait(&o);
		diagnosis_look(d);
	}
	if (!code)
		code = diagnosis_end(d, o.session, &e, error);
	if (!code)
		code = print(a, &e, error);
	if (!code && events & OBSERVATION_GONE)
		fprintf(stderr, "actorprobe: process %d has ended\n", (int)a->pid);
	observation_close(&o);
	diagnosis_free(d);
	evidence_fini(&e);
	return code;
}
