/* SPDX-License-Identifier: MIT */
/* An aggregate in the Prometheus text format 0.0.4. */
#ifndef PROBE_EXPOSITION_H
#define PROBE_EXPOSITION_H

#include "probe/aggregate.h"
#include "probe/text.h"

#define EXPOSITION_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* What actorprobe says about itself. */
struct exposition_self {
	const char *version;
	uint64_t cpu_ns;
	uint64_t resident_bytes;
};

/* Appends every family of the table `metrics` that has a sample. Histograms have the classic
 * buckets of the 1-2-5 ladder; `le` is spelled as the shortest decimal, always the same. */
void exposition_render(
	struct text *t, const struct aggregate *a, const struct exposition_self *self);

#endif
