/* SPDX-License-Identifier: MIT */
/* A snapshot as the request of an OTLP push, in protobuf.
 *
 * One resource per value of the label `process`, whose name is the service's, and one for what has
 * no such label. Sums and histograms are cumulative. Times are exponential histograms of scale 3,
 * messages are histograms with the bounds of the ladder; both are exact.
 */
#ifndef PROBE_OTLP_H
#define PROBE_OTLP_H

#include "probe/snapshot.h"
#include "probe/text.h"

struct otlp_source {
	const char *service;	/* name of what has no label `process` */
	const char *host;	/* its name */
	const char *version;	/* of actorprobe */
	int64_t pid;		/* of the one process that is observed; 0: there are several */
	uint64_t start_unix_ns; /* for what does not know since when it counts */
	uint64_t now_unix_ns;
};

/* Appends the request. */
void otlp_render(struct text *t, const struct snapshot *s, const struct otlp_source *source);

/* Reads the answer to a request that was taken. Returns how many points were refused all the same,
 * and puts the receiver's reason, as valid UTF-8, into `why`. An answer that cannot be read refused
 * nothing. */
int64_t otlp_refused(const struct text *answer, char *why, size_t why_bytes);

#endif
