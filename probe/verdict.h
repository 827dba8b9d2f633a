/* SPDX-License-Identifier: MIT */
/* One verdict of a diagnosis: which rule, about whom, on which numbers, and what to do. */
#ifndef PROBE_VERDICT_H
#define PROBE_VERDICT_H

#include <stddef.h>
#include <stdint.h>

#define VERDICT_FACTS	   8
#define VERDICT_TEXT_BYTES 320

enum verdict_severity {
	VERDICT_FINE,
	VERDICT_NOTE,
	VERDICT_WARNING,
	VERDICT_CRITICAL,
};

enum verdict_unit {
	VERDICT_NS,
	VERDICT_COUNT,
	VERDICT_SHARE, /* 0 ... 1 */
	VERDICT_RATE,  /* per second */
};

/* One number that the verdict rests on; `what` is also its key in JSON, with blanks as '_'. */
struct verdict_fact {
	const char *what;
	enum verdict_unit unit;
	double value;
};

struct rule;

/* Its strings are of the evidence, or static. */
struct verdict {
	const struct rule *rule;
	enum verdict_severity severity;
	const char *dispatcher; /* NULL: it is about none */
	const char *class_name;
	const char *actor;
	double confidence; /* 0 ... 1 */
	struct verdict_fact facts[VERDICT_FACTS];
	size_t fact_count;
	const char *knob;		 /* NULL: no setting helps */
	uint64_t value;			 /* for the knob; 0: none computed */
	char advice[VERDICT_TEXT_BYTES]; /* a sentence */
	char remark[VERDICT_TEXT_BYTES]; /* what else to know; "" none */
};

/* "fine", "note", "warning", "critical". */
const char *verdict_severity_name(enum verdict_severity severity);

/* Adds a fact; one too many is left out. */
void verdict_add(struct verdict *v, const char *what, enum verdict_unit unit, double value);

#endif
