/* SPDX-License-Identifier: MIT */
/* Holds what observing costs the target below a share of one core.
 *
 * The cost is estimated: each trap FUSE_TRAP_NS (`actorprobe doctor` measures it), the time that
 * the BPF programs measured themselves, and FUSE_STAMP_NS per message for stamps and its record.
 * Beyond the limit for FUSE_PATIENCE steps in a row, copying is cut by sampling where that is
 * enough, else the probes come out.
 */
#ifndef PROBE_FUSE_H
#define PROBE_FUSE_H

#include <stdint.h>

#define FUSE_TRAP_NS	1000u
#define FUSE_STAMP_NS	26u
#define FUSE_PATIENCE	2u
#define FUSE_SAMPLE_MAX 1024u

enum fuse_action { FUSE_NOTHING, FUSE_SAMPLE, FUSE_DETACH };

/* Sums since the attach. */
struct fuse_reading {
	uint64_t at_ns;
	uint64_t hits;
	uint64_t spent_ns; /* in BPF */
	uint64_t messages; /* stamped */
};

struct fuse {
	double limit;	       /* share of a core; 0 = none */
	uint64_t sample_every; /* in: now; out: to be set on FUSE_SAMPLE; 0 = cannot sample */
	double share;	       /* out: estimate of the last step */
	unsigned int over;     /* steps in a row */
	struct fuse_reading last;
};

/* One step; about a second should lie between two. */
enum fuse_action fuse_step(struct fuse *f, const struct fuse_reading *now);

#endif
