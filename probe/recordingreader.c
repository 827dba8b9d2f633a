/* SPDX-License-Identifier: MIT */
/* Reads a recording chunk by chunk. */
#define _GNU_SOURCE
#include "probe/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "probe/recordingchunk.h"

#define WINDOW_LOG 27 /* of zstd: at most 128 MiB, whatever the file says; ours need 1 */
#define LARGEST	   (sizeof(struct ring_batch) + LEDGER_RECORDS_MAX * sizeof(struct actor_abi_record))

struct recording_reader {
	int fd;
	bool ended; /* of the file */
	bool open;  /* a frame of zstd has begun and not ended */
	ZSTD_DCtx *zstd;
	ZSTD_inBuffer in;
	size_t in_bytes;
	char *raw;
	uint64_t chunk[(LARGEST + RECORDING_TEXT) / sizeof(uint64_t) + 1];
};

/* 1: something was read, 0: the file has ended. */
static int refill(struct recording_reader *r)
{
	ssize_t n;

	do
		n = read(r->fd, r->raw, r->in_bytes);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	r->in = (ZSTD_inBuffer){r->raw, (size_t)n, 0};
	r->ended = n == 0;
	return n > 0;
}

/* All of the bytes, or none: 1, 0 at the end of the file, -EPIPE in the middle, -EBADMSG. */
static int bytes_read(struct recording_reader *r, void *to, size_t bytes)
{
	ZSTD_outBuffer out = {to, bytes, 0};

	while (out.pos < out.size) {
		size_t before = out.pos, left, had = r->in.pos;

		left = ZSTD_decompressStream(r->zstd, &out, &r->in);
		if (ZSTD_isError(left))
			return -EBADMSG;
		if (out.pos != before || r->in.pos != had) {
			r->open = left != 0;
		} else {
			int rc = r->ended ? 0 : refill(r);

			if (rc < 0)
				return rc;
			if (rc == 0)
				return out.pos || r->open ? -EPIPE : 0;
		}
	}
	return 1;
}

static bool length_sane(uint32_t kind, uint32_t bytes)
{
	switch (kind) {
	case RECORDING_HEAD:
		return bytes == sizeof(struct recording_head);
	case RECORDING_NAME:
		return bytes >= sizeof(struct recording_name) &&
		       bytes <= sizeof(struct recording_name) + RECORDING_TEXT;
	case RECORDING_PATH:
		return bytes >= sizeof(struct recording_path) &&
		       bytes <= sizeof(struct recording_path) + RECORDING_TEXT;
	case RECORDING_BATCH:
		return bytes >= sizeof(struct ring_batch) && bytes <= LARGEST;
	case RECORDING_END:
		return bytes == sizeof(struct recording_end);
	default:
		return false;
	}
}

int recording_next(struct recording_reader *r, struct recording_chunk *chunk)
{
	struct recording_chunk_head head;
	int rc = bytes_read(r, &head, sizeof(head));

	if (rc <= 0)
		return rc;
	if (!length_sane(head.kind, head.bytes))
		return -EBADMSG;
	rc = bytes_read(r, r->chunk, head.bytes);
	if (rc <= 0)
		return rc < 0 ? rc : -EPIPE;
	((char *)r->chunk)[head.bytes] = '\0'; /* a name's end */
	*chunk = (struct recording_chunk){head.kind, r->chunk, head.bytes};
	return 1;
}

static int head_check(struct recording_reader *r, struct recording_head *head, const char *path,
	struct error *error)
{
	struct recording_chunk chunk;
	int rc = recording_next(r, &chunk);

	if (rc == 1 && chunk.kind == RECORDING_HEAD) {
		memcpy(head, chunk.bytes, sizeof(*head));
		head->command[RECORDING_COMMAND - 1] = '\0';
		if (head->magic == RECORDING_MAGIC && head->version > RECORDING_VERSION)
			return error_set(error, EXIT_USAGE,
				"the recording '%s' is of a newer actorprobe (version %u); report "
				"it with that one",
				path, head->version);
		/* mult < 2^32 and shift of 24 to 63 is what a calibration can be. */
		if (head->magic == RECORDING_MAGIC && head->mult && head->mult >> 32 == 0 &&
			head->shift >= 24 && head->shift < 64)
			return 0;
	}
	return error_set(error, EXIT_USAGE,
		"'%s' is no recording of actorprobe, or its beginning is damaged; make one with "
		"`actorprobe record`",
		path);
}

int recording_open(struct recording_reader **out, const char *path, struct recording_head *head,
	struct error *error)
{
	struct recording_reader *r = calloc(1, sizeof(*r));
	int code = 0;

	if (!r)
		return error_set(error, EXIT_KERNEL, "out of memory");
	r->in_bytes = ZSTD_DStreamInSize();
	r->raw = malloc(r->in_bytes);
	r->zstd = ZSTD_createDCtx();
	r->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (r->fd < 0)
		code = error_set(error, EXIT_USAGE,
			"the recording '%s' cannot be opened (%s); give the file of `actorprobe "
			"record`",
			path, strerror(errno));
	else if (!r->raw || !r->zstd ||
		 ZSTD_isError(ZSTD_DCtx_setParameter(r->zstd, ZSTD_d_windowLogMax, WINDOW_LOG)))
		code = error_set(error, EXIT_KERNEL, "out of memory");
	if (!code)
		code = head_check(r, head, path, error);
	if (code)
		recording_close(r);
	else
		*out = r;
	return code;
}

void recording_close(struct recording_reader *r)
{
	if (!r)
		return;
	if (r->fd >= 0)
		close(r->fd);
	ZSTD_freeDCtx(r->zstd);
	free(r->raw);
	free(r);
}
