/* SPDX-License-Identifier: MIT */
/* Trace mode in the kernel: the loaded programs, their maps, and their places in one target. */
#ifndef PROBE_TRACE_H
#define PROBE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/attach.h"
#include "probe/calibration.h"
#include "probe/error.h"
#include "probe/target.h"

struct actorprobe; /* the skeleton */

struct trace {
	struct actorprobe *skeleton;
	struct attachment attachment;
	enum attach_how how;
};

struct trace_options {
	bool by_actor;
	bool force_perf;
	uint32_t max_series;
	int verbose;
	struct calibration calibration;
};

/* Loads the programs and attaches them, by uprobe_multi links if the kernel can, else by perf
 * events. Returns 0 or an error; then nothing stays. */
int trace_open(struct trace *t, const struct target *target, const struct trace_options *options,
	struct error *error);

/* The sentence for what the kernel answered (-errno) when it was to load or attach. Returns the exit
 * code. */
int trace_explain(int r, enum attach_how how, pid_t pid, struct error *error);

/* Takes the probes away; the maps stay. From its return on the maps do not change any more. */
void trace_detach(struct trace *t);

/* A zeroed one is fine. */
void trace_close(struct trace *t);

#endif
