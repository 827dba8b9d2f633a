/* SPDX-License-Identifier: MIT */
/* The one table of metric families: exporter, JSON, documentation and tests read it. */
#ifndef PROBE_METRIC_H
#define PROBE_METRIC_H

#include "probe/aggregate.h"

enum metric_type {
	METRIC_HISTOGRAM,
	METRIC_COUNTER,
	METRIC_GAUGE,
};

/* Where the value of a family comes from. */
enum metric_source {
	METRIC_SERIES,	  /* aggregate.series[] of metric `index` */
	METRIC_COUNTERS,  /* aggregate.counters[] of family `index` */
	METRIC_TURN_OPEN, /* aggregate.loops[] */
	METRIC_SIZE,	  /* aggregate.deep[] */
	METRIC_OLDEST,	  /* the same */
	METRIC_LOOP_BUSY, /* sums of the loop gaps */
	METRIC_ATTACHED,
	METRIC_ATTACH_TIME,
	METRIC_RECORDS,
	METRIC_UNSTAMPED,
	METRIC_LOST,
	METRIC_CLAMPED,
	METRIC_OVERFLOW,
	METRIC_GAPS,
	METRIC_FOLDED,
	METRIC_FOLDING,
	METRIC_SAMPLE,
	METRIC_OVERHEAD,
	METRIC_CPU,
	METRIC_MEMORY,
	METRIC_BUILD,
	METRIC_TARGETS,
	METRIC_TARGET,
};

struct metric {
	const char *name;
	const char *title; /* for people; histograms only */
	enum metric_type type;
	enum metric_source source;
	unsigned int index;
	const char *labels; /* comma-separated, "" = none; with several processes `process` too */
	const char *unit;
	const char *help;
};

extern const struct metric metrics[];
extern const size_t metric_count;

/* The row of a histogram metric. */
const struct metric *metric_of(enum aggregate_metric metric);

/* Whether its values are nanoseconds or billionths, and shown as seconds or shares. */
bool metric_is_nano(const struct metric *metric);

/* Whether it tells of actorprobe itself, and not of what it observes. */
bool metric_is_own(const struct metric *metric);

/* Length of its name without the "_total" of a counter and the "_info" of an info. */
size_t metric_base_bytes(const struct metric *metric);

/* Whether it has the value 1 and tells by its labels. */
bool metric_is_info(const struct metric *metric);

/* "histogram", "counter", "gauge". */
const char *metric_type_name(enum metric_type type);

/* Label value of a reason for lost records. */
const char *metric_lost_reason(enum aggregate_lost reason);

#endif
