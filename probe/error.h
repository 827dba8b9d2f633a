/* SPDX-License-Identifier: MIT */
/* One cause, one sentence, one way out, one exit code: every failure an operator can meet. */
#ifndef PROBE_ERROR_H
#define PROBE_ERROR_H

enum error_exit {
	EXIT_FINE = 0,
	EXIT_USAGE = 1,      /* unknown option, bad interval, address in use */
	EXIT_TARGET = 2,     /* gone, not ours, replaced */
	EXIT_PERMISSION = 3, /* the sentence names the capability */
	EXIT_KERNEL = 4,     /* the kernel cannot do it */
	EXIT_PROBES = 5,     /* no probes of ours in the target, or of a newer ABI */
};

struct error {
	enum error_exit exit;
	char text[512]; /* cause and way out, no newline */
};

/* Fills `e` if it is still empty (the first error wins). Returns the exit code. */
int error_set(struct error *e, enum error_exit exit, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Prints "actorprobe: text" to stderr and returns the exit code. */
int error_report(const struct error *e);

#endif
