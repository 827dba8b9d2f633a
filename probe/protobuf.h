/* SPDX-License-Identifier: MIT */
/* A snapshot as the delimited protobuf messages that a Prometheus with native histograms asks for.
 */
#ifndef PROBE_PROTOBUF_H
#define PROBE_PROTOBUF_H

#include "probe/snapshot.h"
#include "probe/text.h"

#define PROTOBUF_CONTENT_TYPE                                                                      \
	"application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; "               \
	"encoding=delimited"

/* Appends every family. Histograms have the classic buckets of the text format; those of times have
 * native buckets, too, of schema 3. Counters and histograms tell since when they count. */
void protobuf_render(struct text *t, const struct snapshot *s);

#endif
