/* SPDX-License-Identifier: MIT */
/* A snapshot in the Prometheus text format 0.0.4. */
#ifndef PROBE_EXPOSITION_H
#define PROBE_EXPOSITION_H

#include "probe/snapshot.h"
#include "probe/text.h"

#define EXPOSITION_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Appends every family. Histograms have the classic buckets of the 1-2-5 ladder; `le` is spelled as
 * the shortest decimal, always the same. */
void exposition_render(struct text *t, const struct snapshot *s);

#endif
