/* SPDX-License-Identifier: MIT */
/* A file that keeps the ledger stream of one process, to be looked at later.
 *
 * One zstd frame of chunks: kind and length, 32 bits each, then so many bytes. The first chunk is
 * the head. Names and paths come when they are known, batches as they came through the ring, and
 * the last chunk is the end; a file without it was cut, and what there is of it is still good. All
 * numbers are those of a little-endian machine with 64 bits. A reader takes every byte as hostile.
 */
#ifndef PROBE_RECORDING_H
#define PROBE_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/maps.h"
#include "probe/calibration.h"
#include "probe/directory.h"
#include "probe/error.h"
#include "probe/pathbook.h"

#define RECORDING_VERSION 1u
#define RECORDING_COMMAND 64u

enum recording_kind {
	RECORDING_HEAD = 1,
	RECORDING_NAME,	 /* struct recording_name and its text */
	RECORDING_PATH,	 /* struct recording_path and its text */
	RECORDING_BATCH, /* struct ring_batch */
	RECORDING_END,
};

struct recording_head {
	uint64_t magic;
	uint32_t version;
	uint32_t clock; /* enum actor_abi_clock */
	uint64_t mult;	/* the clock's rate, as struct calibration */
	uint64_t shift;
	uint64_t first_ticks; /* a pair that the target took */
	uint64_t first_ns;
	uint64_t attached_ns; /* CLOCK_MONOTONIC */
	uint64_t realtime_ns; /* since 1970, at the same moment */
	uint64_t sample_every;
	int32_t pid;
	uint32_t spare;
	char command[RECORDING_COMMAND]; /* cut, with a NUL */
};

enum recording_table { RECORDING_CLASSES, RECORDING_TYPES, RECORDING_DISPATCHERS, RECORDING_LOOPS };

struct recording_name {
	uint32_t table; /* enum recording_table */
	uint32_t id;
	uint32_t kind; /* of a dispatcher */
};

struct recording_path {
	uint64_t actor; /* as in struct pathbook_row */
};

struct recording_end {
	uint64_t elapsed_ns;
	uint64_t delivered; /* as far as observed, whether they are in the file or not */
	uint64_t folded;    /* records that are not in the file, as they came too fast */
	uint64_t batches;   /* in the file */
	uint64_t cut;	    /* 1: the file reached its largest size, more came and is not in it */
};

/* ---- writing ---- */

struct recording;

/* Makes the file, readable for its owner alone; one that is there is replaced. `most`: bytes that
 * it may have. 0 or an error. */
int recording_create(struct recording **out, const char *path, uint64_t most, struct error *error);

/* The calls below may come from several threads, but not at once. What cannot be written is
 * remembered for recording_finish(). */
void recording_head(struct recording *r, const struct recording_head *head);

/* Those that are new since the last call. */
void recording_names(struct recording *r, const struct directory *d);
void recording_paths(struct recording *r, struct pathbook *paths);

void recording_batch(struct recording *r, const struct ring_batch *batch, size_t bytes);

/* Brings everything so far to the file. */
void recording_flush(struct recording *r);

/* Whether it has reached its largest size, and takes no batches any more. */
bool recording_full(const struct recording *r);
uint64_t recording_bytes(const struct recording *r);

/* Writes the end and closes. 0 or the first error of all. Without `end` the file is only closed. */
int recording_finish(struct recording *r, const struct recording_end *end, struct error *error);

/* ---- reading ---- */

struct recording_reader;

struct recording_chunk {
	enum recording_kind kind;
	const void *bytes; /* valid until the next call; 8-byte aligned */
	size_t count;
};

/* Opens the file and checks its head. 0 or an error. */
int recording_open(struct recording_reader **out, const char *path, struct recording_head *head,
	struct error *error);

/* The next chunk, whole and of a sane length for its kind. 1, 0 at the end of the file, -EPIPE if
 * the file was cut there, -EBADMSG if it is damaged there. */
int recording_next(struct recording_reader *r, struct recording_chunk *chunk);

/* NULL is fine. */
void recording_close(struct recording_reader *r);

#endif
