/* SPDX-License-Identifier: MIT */
/* A snapshot in the Prometheus text format 0.0.4 and in OpenMetrics 1.0.0. */
#ifndef PROBE_EXPOSITION_H
#define PROBE_EXPOSITION_H

#include "probe/snapshot.h"
#include "probe/text.h"

#define EXPOSITION_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

#define EXPOSITION_OPENMETRICS_CONTENT_TYPE                                                        \
	"application/openmetrics-text; version=1.0.0; charset=utf-8"

/* Appends every family. Histograms have the classic buckets of the 1-2-5 ladder; `le` is spelled
 * the same way in each format: the shortest decimal, with a point or an exponent ("1e-06", "1.0").
 */
void exposition_render(struct text *t, const struct snapshot *s);

/* The same with units, and with the mark of the end. Since when something counts is not told: a
 * Prometheus would keep it as a series more of each counter. */
void exposition_render_openmetrics(struct text *t, const struct snapshot *s);

#endif
