/* SPDX-License-Identifier: MIT */
/* What runs in the kernel: the loaded programs, their maps, and their places in one target. */
#ifndef PROBE_PROGRAMS_H
#define PROBE_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/aggregate.h"
#include "probe/attach.h"
#include "probe/calibration.h"
#include "probe/error.h"
#include "probe/target.h"

struct actorprobe; /* the skeleton */
struct target_entry; /* of bpf/maps.h */

#define PROGRAMS_SERIES_DEFAULT 1000u
#define PROGRAMS_SERIES_MOST	100000u

struct programs {
	struct actorprobe *skeleton;
	struct attachment attachment;
	enum attach_how how;
	enum aggregate_mode mode;
};

struct programs_options {
	enum aggregate_mode mode;
	bool by_actor;
	bool force_perf;
	bool many; /* one set for all processes of a file; programs_load() only */
	bool messages_given;   /* the target's ABI is 1.1 or later */
	uint64_t sample_every; /* ledger mode; 0 and 1: all */
	uint32_t max_series;
	int verbose;
	struct calibration calibration;
};

/* Loads the programs and attaches them, by uprobe_multi links if the kernel can, else by perf
 * events. Returns 0 or an error; then nothing stays. */
int programs_open(struct programs *p, const struct target *target,
	const struct programs_options *options, struct error *error);

/* Loads the programs for many targets, which get them by programs_link(). 0 or an error. */
int programs_load(struct programs *p, const struct programs_options *options, struct error *error);

/* Puts them on the sites of a file, in every process that runs it, now or later. Returns the link's
 * descriptor or -errno. */
int programs_link(const struct programs *p, const struct notes *notes, int file_fd);

/* Has the kernel side kept anything itself? Only that is in the maps of mode ledger. */
bool programs_elsewhere(const struct programs *p);

/* Tells the kernel side of a target, where there are many. 0 or -errno. */
int programs_enter(const struct programs *p, pid_t pid, const struct target_entry *entry);

/* What it knows of one. 0 or -errno. */
int programs_entry(const struct programs *p, pid_t pid, struct target_entry *entry);

/* Removes all that it has of one. */
void programs_forget(const struct programs *p, pid_t pid);

/* The sentence for what the kernel answered (-errno) when it was to load or attach. Returns the
 * exit code. */
int programs_explain(int r, enum attach_how how, pid_t pid, struct error *error);

/* Can the maps be read with the rights of this moment? */
bool programs_readable(const struct programs *p);

/* The map of the ring; only in ledger mode. */
int programs_ring(const struct programs *p);

/* Corrects the multiplier of the clock's rate. */
void programs_set_rate(struct programs *p, uint64_t mult);

/* Changes how many hand-overs are passed over: each `every`th one is taken. */
void programs_set_sampling(struct programs *p, uint64_t every);

/* Takes the probes away; the maps stay. From its return on the maps do not change any more. */
void programs_detach(struct programs *p);

/* A zeroed one is fine. */
void programs_close(struct programs *p);

#endif
