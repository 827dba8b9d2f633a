/* SPDX-License-Identifier: MIT */
/* Estimates what observing costs, and decides what to do about it. */
#include "probe/fuse.h"

static double share_of(uint64_t ns, uint64_t elapsed_ns)
{
	return (double)ns / (double)elapsed_ns;
}

enum fuse_action fuse_step(struct fuse *f, const struct fuse_reading *now)
{
	struct fuse_reading last = f->last;
	uint64_t elapsed = now->at_ns - last.at_ns;
	double fixed, copying;

	f->last = *now;
	if (!last.at_ns || now->at_ns <= last.at_ns)
		return FUSE_NOTHING;
	copying = share_of(now->spent_ns - last.spent_ns, elapsed);
	fixed = share_of((now->hits - last.hits) * FUSE_TRAP_NS +
				 (now->messages - last.messages) * FUSE_STAMP_NS,
		elapsed);
	f->share = fixed + copying;
	f->over = f->limit > 0 && f->share > f->limit ? f->over + 1 : 0;
	if (f->over < FUSE_PATIENCE)
		return FUSE_NOTHING;
	f->over = 0;
	if (fixed > f->limit || !f->sample_every || f->sample_every * 4 > FUSE_SAMPLE_MAX)
		return FUSE_DETACH;
	f->sample_every *= 4;
	return FUSE_SAMPLE;
}
