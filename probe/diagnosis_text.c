/* SPDX-License-Identifier: MIT */
/* Spells verdicts: facts with their units, who it is about, what to do. */
#include "probe/diagnosis_text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

#include "probe/json.h"

static void value_add(struct text *t, const struct verdict_fact *f)
{
	switch (f->unit) {
	case VERDICT_NS:
		text_add_ns(t, f->value);
		break;
	case VERDICT_COUNT:
		if (f->value < 100 && f->value != floor(f->value))
			text_add(t, "%.1f", f->value);
		else
			text_add_number(t, f->value);
		break;
	case VERDICT_SHARE:
		text_add(t, "%.1f %%", 100 * f->value);
		break;
	case VERDICT_RATE:
		text_add_number(t, floor(f->value));
		text_add(t, "/s");
		break;
	}
}

static void facts_add(struct text *t, const struct verdict *v)
{
	for (size_t i = 0; i < v->fact_count; i++) {
		text_add(t, "%s%s ", i ? ", " : "", v->facts[i].what);
		value_add(t, &v->facts[i]);
	}
}

static void subject_add(struct text *t, const struct verdict *v)
{
	const struct {
		const char *what, *value;
	} parts[] = {{"class", v->class_name}, {"dispatcher", v->dispatcher}, {"actor", v->actor}};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i].value)
			text_add(t, ", %s %s", parts[i].what, parts[i].value);
}

static void advice_add(struct text *t, const struct verdict *v)
{
	text_add(t, "%s", v->advice);
	if (v->knob && v->value)
		text_add(t, " (%s = %llu)", v->knob, (unsigned long long)v->value);
	else if (v->knob)
		text_add(t, " (%s)", v->knob);
}

static void verdict_render(struct text *t, const struct verdict *v)
{
	text_add(t, "%s: %s", verdict_severity_name(v->severity), v->rule->title);
	subject_add(t, v);
	text_add(t, "\n  sure to    %.0f %%\n  because    ", 100 * v->confidence);
	facts_add(t, v);
	if (v->remark[0])
		text_add(t, "\n  and        %s", v->remark);
	text_add(t, "\n  not        %s\n  do         ", v->rule->unlike);
	advice_add(t, v);
	text_add(t, "\n  refuted if %s\n", v->rule->refute);
}

/* What the verdicts could not rest on. */
static void missing_render(struct text *t, const struct evidence *e)
{
	if (!e->scheduled)
		text_add(t, "not seen: when threads ran, waited and blocked (%s)\n",
			e->unscheduled ? e->unscheduled : "unknown");
	if (e->unseen)
		text_add(t, "not seen one by one: %llu records\n", (unsigned long long)e->unseen);
}

void diagnosis_text_render(
	struct text *t, const struct evidence *e, const struct verdict *verdicts, size_t count)
{
	text_add(t, "process %d (%s), %.1f s, ", e->pid, e->command ? e->command : "?",
		(double)e->elapsed_ns / 1e9);
	text_add_number(t, (double)e->delivered);
	text_add(t, " messages\n\n");
	for (size_t i = 0; i < count; i++) {
		verdict_render(t, &verdicts[i]);
		text_add(t, "\n");
	}
	missing_render(t, e);
}

static json_t *facts_json(const struct verdict *v)
{
	json_t *facts = json_object();

	for (size_t i = 0; i < v->fact_count; i++) {
		static const char *const suffixes[] = {"_ns", "", "_share", "_per_second"};
		char key[64];

		snprintf(key, sizeof(key), "%s%s", v->facts[i].what, suffixes[v->facts[i].unit]);
		for (char *c = key; *c; c++)
			if (!isalnum((unsigned char)*c))
				*c = '_';
		json_object_set_new(facts, key, json_real(v->facts[i].value));
	}
	return facts;
}

static json_t *advice_json(const struct verdict *v)
{
	json_t *advice = json_object();

	json_put_text(advice, "knob", v->knob);
	if (v->knob && v->value)
		json_put_count(advice, "value", v->value);
	else
		json_object_set_new(advice, "value", json_null());
	json_put_text(advice, "text", v->advice);
	return advice;
}

static void sentence_put(json_t *object, const struct verdict *v)
{
	struct text t = {0};

	text_add(&t, "%s", v->rule->title);
	subject_add(&t, v);
	text_add(&t, ": ");
	facts_add(&t, v);
	if (v->remark[0])
		text_add(&t, "; %s", v->remark);
	json_put_text(object, "text", t.failed ? NULL : t.bytes);
	text_fini(&t);
}

void diagnosis_json_render(
	struct text *t, const struct evidence *e, const struct verdict *verdicts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct verdict *v = &verdicts[i];
		json_t *o = json_object();

		json_put_text(o, "rule", v->rule->name);
		json_put_text(o, "severity", verdict_severity_name(v->severity));
		json_put_text(o, "dispatcher", v->dispatcher);
		json_put_text(o, "class", v->class_name);
		json_put_text(o, "actor", v->actor);
		json_object_set_new(o, "confidence", json_real(v->confidence));
		json_object_set_new(o, "evidence", facts_json(v));
		json_object_set_new(o, "advice", advice_json(v));
		json_put_text(o, "excluded", v->rule->unlike);
		json_put_text(o, "refute", v->rule->refute);
		json_object_set_new(o, "scheduled", json_boolean(e->scheduled));
		json_put_text(o, "not_seen", e->scheduled ? NULL : e->unscheduled);
		sentence_put(o, v);
		json_add_line(t, o);
	}
}
