/* SPDX-License-Identifier: MIT */
/* What became of every message: adds up the accounts of all loops, those of the kernel side and
 * those of the stream. */
#ifndef PROBE_ACCOUNT_H
#define PROBE_ACCOUNT_H

#include "probe/aggregate.h"
#include "probe/fuse.h"
#include "probe/programs.h"
#include "probe/stream.h"

/* `target` is 0 where the programs have one target. What observing has cost so far; the stream may go on meanwhile. */
void account_cost(const struct programs *p, uint32_t target, const struct stream *s,
	struct fuse_reading *reading);

/* Batches and messages that the kernel side has accounted for itself: changes with its maps. */
uint64_t account_mark(const struct programs *p, uint32_t target);

/* Fills the account of `a`: delivered, recorded, unstamped, lost, gaps, folded and so on. The
 * stream is NULL in trace mode, `p` with a stream out of a recording. `final`: nothing is added any more, so that also what went missing
 * behind the last batch of the ring can be told. */
void account_fill(const struct programs *p, uint32_t target, const struct stream *s, bool final,
	struct aggregate *a);

#endif
