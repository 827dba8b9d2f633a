/* SPDX-License-Identifier: MIT */
/* Putting a verdict together. */
#include "probe/verdict.h"

const char *verdict_severity_name(enum verdict_severity severity)
{
	static const char *const names[] = {"fine", "note", "warning", "critical"};

	return names[severity];
}

void verdict_add(struct verdict *v, const char *what, enum verdict_unit unit, double value)
{
	if (v->fact_count < VERDICT_FACTS)
		v->facts[v->fact_count++] = (struct verdict_fact){what, unit, value};
}
