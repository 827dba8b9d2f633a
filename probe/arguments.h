/* SPDX-License-Identifier: MIT */
/* The command line: what an operator asked for. */
#ifndef PROBE_ARGUMENTS_H
#define PROBE_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "probe/error.h"
#include "probe/grouping.h"
#include "probe/number.h"
#include "probe/option.h"

#define ARGUMENTS_PIDS_MAX 64

/* What the exporter tells processes apart by. */
enum arguments_process {
	ARGUMENTS_BY_NOTHING, /* no label: there is one process */
	ARGUMENTS_BY_COMMAND,
	ARGUMENTS_BY_EXE,
	ARGUMENTS_BY_PID,
};

struct arguments {
	enum option_command command;
	pid_t pid; /* the first one */
	pid_t pids[ARGUMENTS_PIDS_MAX];
	size_t pid_count;
	bool all;	 /* every process of this host ... */
	const char *exe; /* ... or each that runs this program */
	enum arguments_process process_label;
	uint64_t ttl_ns;      /* of what ended processes counted */
	uint64_t interval_ns; /* 0 = none given */
	uint64_t count;	      /* 0 = without end */
	uint64_t duration_ns; /* 0 = until the target's end or a signal */
	bool json;
	bool timestamps;
	bool verbose;
	bool force_perf;
	enum aggregate_mode mode;
	uint64_t sample_every; /* 0 = none given */
	double max_overhead;   /* share of a core, 0 = none given */
	uint32_t max_series;
	enum grouping by; /* GROUPING_FULL = none given */
	struct number_address listen;
	bool serve;	      /* export: over HTTP */
	bool once;	      /* export: print one exposition and end */
	const char *textfile; /* export: the directory; of argv; NULL = none wanted */
	const char *otlp;     /* export: where to push to; likewise */
	uint64_t every_ns;    /* export: between two files, and two pushes */
	const char *output;	  /* record: the file; of argv, like the next two */
	const char *file;	  /* report: the file */
	const char *chrome_trace; /* report: NULL = none wanted */
	uint64_t max_size;	  /* record: bytes */
};

/* Reads the command line. 0, or EXIT_USAGE with one sentence in `error`. */
int arguments_parse(struct arguments *a, int argc, char **argv, struct error *error);

/* Prints what --help prints. */
void arguments_help(void);

#endif
