/* SPDX-License-Identifier: MIT */
/* Drains the ring of the BPF programs into streams, by a thread of its own.
 *
 * The thread sleeps up to RING_PAUSE_MS, less when BPF says that much is waiting; whoever wants to
 * read the stream drains the ring first. Nothing depends on the thread's speed but how much BPF has
 * to fold itself.
 */
#ifndef PROBE_RING_H
#define PROBE_RING_H

#include "probe/stream.h"

#define RING_PAUSE_MS 40

struct ring;

/* Gets one batch, on the thread that drains. */
typedef void ring_taker(void *context, const struct ring_batch *batch, size_t bytes);

/* Starts to drain the map. 0 or -errno. */
int ring_open(struct ring **out, int map_fd, ring_taker *taker, void *context);

/* Takes what is in the ring now and holds the streams still until ring_unlock(). */
void ring_lock(struct ring *r);
void ring_unlock(struct ring *r);

/* NULL is fine. */
void ring_close(struct ring *r);

#endif
