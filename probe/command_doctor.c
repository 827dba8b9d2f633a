/* SPDX-License-Identifier: MIT */
/* `actorprobe doctor`: what this host allows, what is missing, how to get it. */
#include "probe/command.h"

#include <unistd.h>

#include "probe/doctor.h"
#include "probe/json.h"

static const char *state_name(enum doctor_state state)
{
	static const char *const names[] = {
		[DOCTOR_OK] = "ok", [DOCTOR_WARN] = "warn", [DOCTOR_FAIL] = "fail"};

	return names[state];
}

static void add_object(struct text *t, const struct doctor_check *c)
{
	json_t *object = json_object();

	json_put_text(object, "check", c->check);
	json_put_text(object, "state", state_name(c->state));
	json_put_text(object, "text", c->text);
	json_put_text(object, "way_out", c->way_out[0] ? c->way_out : NULL);
	json_add_line(t, object);
}

static void add_row(struct text *t, const struct doctor_check *c)
{
	text_add(t, "%-4s  ", state_name(c->state));
	text_add_left(t, c->check, 20);
	text_add(t, " %s\n", c->text);
	if (c->way_out[0])
		text_add(t, "%27s%s\n", "", c->way_out);
}

int command_doctor(const struct arguments *a, struct error *error)
{
	static struct doctor_report report;
	struct text text = {0};
	int code;

	doctor_run(&report);
	for (size_t i = 0; i < report.count; i++) {
		if (a->json)
			add_object(&text, &report.checks[i]);
		else
			add_row(&text, &report.checks[i]);
	}
	code = text_write(&text, STDOUT_FILENO, error);
	text_fini(&text);
	return code ? code : doctor_exit(&report);
}
