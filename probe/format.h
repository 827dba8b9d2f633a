/* SPDX-License-Identifier: MIT */
/* The formats that a scrape can have, and which of them a request is answered in. */
#ifndef PROBE_FORMAT_H
#define PROBE_FORMAT_H

#include "probe/snapshot.h"
#include "probe/text.h"

/* In the order in which they are preferred where a request likes several equally. */
enum format {
	FORMAT_TEXT,	    /* Prometheus text 0.0.4 */
	FORMAT_OPENMETRICS, /* OpenMetrics 1.0.0 */
	FORMAT_PROTOBUF,    /* delimited protobuf, with native histograms */
	FORMAT_COUNT
};

/* The format that the value of a header Accept likes best; text where it likes none of them or is
 * NULL. */
enum format format_negotiate(const char *accept);

const char *format_content_type(enum format format);

/* Appends the whole snapshot. */
void format_render(enum format format, struct text *t, const struct snapshot *s);

#endif
