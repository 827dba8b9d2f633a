/* SPDX-License-Identifier: MIT */
/* What this kernel and these capabilities allow, tried for real, for the command `doctor`. */
#ifndef PROBE_DOCTOR_H
#define PROBE_DOCTOR_H

#include <stddef.h>

enum doctor_state {
	DOCTOR_OK,
	DOCTOR_WARN, /* works, but with a restriction */
	DOCTOR_FAIL, /* attaching is not possible */
};

struct doctor_check {
	const char *check; /* short name, constant: "kernel", "uprobes", "capabilities", ... */
	enum doctor_state state;
	char text[256];	   /* one sentence: what is the case */
	char way_out[256]; /* how to get what is missing; "" where nothing is */
};

#define DOCTOR_CHECKS_MAX 24

struct doctor_report {
	struct doctor_check checks[DOCTOR_CHECKS_MAX];
	size_t count;
	enum doctor_state worst;
};

/* Runs all checks on this host. Loads and attaches a small program to the caller's own executable,
 * leaves nothing behind, and takes well under a second. */
void doctor_run(struct doctor_report *report);

/* The exit code that goes with a report: 0, EXIT_PERMISSION or EXIT_KERNEL. */
int doctor_exit(const struct doctor_report *report);

#endif
