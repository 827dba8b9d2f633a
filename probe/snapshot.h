/* SPDX-License-Identifier: MIT */
/* One moment of everything that is exported, as plain structs: families, their samples, labels.
 *
 * Every format is a writer that walks a snapshot; none of them looks at an aggregate. Families come
 * in the order of the table `metrics`, each of them has at least one sample, and no two samples of
 * a family have the same labels. A snapshot is used by one thread at a time.
 */
#ifndef PROBE_SNAPSHOT_H
#define PROBE_SNAPSHOT_H

#include "probe/aggregate.h"
#include "probe/metric.h"

#define SNAPSHOT_LABELS_MAX 6

struct snapshot_label {
	const char *name;
	const char *value; /* valid, escaped UTF-8; borrowed */
};

struct snapshot_sample {
	struct snapshot_label labels[SNAPSHOT_LABELS_MAX];
	size_t label_count;
	uint64_t start_unix_ns; /* since when a counter or histogram counts; 0 = unknown */
	uint64_t value;		/* of counters and gauges, in 1/scale of the family */
	struct aggregate_histogram *histogram; /* of histograms, else NULL; borrowed */
};

struct snapshot_family {
	const struct metric *metric;
	uint64_t scale; /* 1, or 1 000 000 000 where `value`, sum and bounds are nanoseconds */
	struct snapshot_sample *samples;
	size_t count;
	size_t room;
};

struct snapshot {
	struct snapshot_family *families;
	size_t family_count;
	bool failed; /* memory was gone while it was built */
};

/* What is told of an observed process beside its numbers; strings may be NULL. */
struct snapshot_target {
	char pid[16];
	const char *command;
	const char *exe;
	const char *cgroup;
	const char *container; /* id of its container */
};

/* What is counted together: one process, or all that are told apart by one label. */
struct snapshot_part {
	const char *process; /* value of the label `process`; NULL: the label is not used */
	struct aggregate *aggregate;
	const struct snapshot_target *targets; /* those that run */
	size_t target_count;
	uint64_t start_unix_ns;
	bool name_only; /* it ended long ago: all that is told is that it is not attached */
};

/* What actorprobe says about itself. */
struct snapshot_self {
	const char *version;
	uint64_t cpu_ns;
	uint64_t resident_bytes;
};

/* Fills `s`, which borrows parts and self until snapshot_fini(). Samples with equal labels become
 * one, of counters the sum and of gauges the largest; histograms are added up in the aggregates
 * themselves. 0 or -ENOMEM, then `s` is empty. */
int snapshot_build(struct snapshot *s, const struct snapshot_part *parts, size_t count,
	const struct snapshot_self *self);

/* NULL and a zeroed one are fine. */
void snapshot_fini(struct snapshot *s);

#endif
