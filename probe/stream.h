/* SPDX-License-Identifier: MIT */
/* Takes hand-overs out of the ring apart: records into series, headers into the loops' accounts.
 *
 * The same sums as BPF's fold() makes, with the same keys and values, so that what was folded there
 * and what was added here is one observation. About 10 to 20 ns per record. One thread at a time.
 */
#ifndef PROBE_STREAM_H
#define PROBE_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/maps.h"
#include "probe/calibration.h"
#include "probe/table.h"

/* Class id of a sender that is nobody, and of one that nothing is known of. */
#define STREAM_NOBODY  (MAPS_OVERFLOW - 1)
#define STREAM_UNKNOWN (MAPS_OVERFLOW - 2)

/* Families of plain counters: yields, then life events by their number, then all others. */
#define STREAM_YIELDS  0
#define STREAM_TALLIES (ACTOR_ABI_LIFE_RESUME + 2)

/* The batches of one loop that came through the ring. */
struct stream_loop {
	bool known;
	uint64_t first; /* the loop's own counter before the first of them */
	uint64_t first_elsewhere;
	uint64_t first_sequence;
	uint64_t end; /* and after the last one */
	uint64_t elsewhere;
	uint64_t elsewhere_batches;
	uint64_t sequence;
	uint64_t missed; /* messages that the loop's own counter has, and nobody handed over */
	uint64_t gaps;	 /* times that a sequence or counter did not continue */
};

struct stream_sender;

/* Sees each batch as it comes. */
struct stream_tap {
	void (*batch)(void *data, const struct ring_batch *batch, size_t bytes);
	void *data;
};

struct stream {
	struct stream_tap tap; /* may be empty */
	bool by_actor;
	struct calibration calibration;
	struct calibration_pair origin; /* the rate is measured from here */
	/* struct mail_series, turn_series, delay_series, gap_series by struct series_key */
	struct table mails, turns, delays, gaps;
	/* uint64_t; actor: reason, class_id: id. Each family has its own cap. */
	struct table tallies[STREAM_TALLIES];
	struct table
		flows; /* uint64_t; dispatcher: class of the sender, class_id: of the receiver */
	struct stream_sender *senders; /* classes of actors by a hash of their slots */
	struct stream_loop loops[ACTOR_ABI_LOOPS];
	struct batch total;
	uint64_t batches;
	uint64_t records;
};

struct stream_options {
	bool by_actor;
	uint32_t max_series;
	struct calibration calibration;
	struct calibration_pair origin; /* of the target's clock */
	struct stream_tap tap;
};

/* 0 or -ENOMEM. */
int stream_init(struct stream *s, const struct stream_options *options);

void stream_fini(struct stream *s);

/* Takes one batch of `bytes` bytes. */
void stream_take(struct stream *s, const struct ring_batch *batch, size_t bytes);

#endif
