/* SPDX-License-Identifier: MIT */
/* Verdicts for people, and one JSON object per verdict for programs. */
#ifndef PROBE_DIAGNOSIS_TEXT_H
#define PROBE_DIAGNOSIS_TEXT_H

#include "probe/evidence.h"
#include "probe/rule.h"
#include "probe/text.h"

void diagnosis_text_render(
	struct text *t, const struct evidence *e, const struct verdict *verdicts, size_t count);

/* Keys: rule, severity, dispatcher, class, actor, confidence, evidence, advice {knob, value, text},
 * excluded, refute, text. */
void diagnosis_json_render(
	struct text *t, const struct evidence *e, const struct verdict *verdicts, size_t count);

#endif
