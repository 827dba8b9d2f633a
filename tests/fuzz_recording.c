/* SPDX-License-Identifier: MIT */
/* libFuzzer: any bytes as a recording, as they are or as the content of a sound zstd frame behind a
 * sound head, reported and written as a trace. */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "probe/recordingchunk.h"
#include "probe/replay.h"
#include "probe/timeline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void framed_write(int fd, const uint8_t *data, size_t bytes)
{
	static char raw[1 << 16], frame[1 << 17];
	const struct recording_chunk_head chunk = {RECORDING_HEAD, sizeof(struct recording_head)};
	const struct recording_head head = {.magic = RECORDING_MAGIC,
		.version = RECORDING_VERSION,
		.mult = 1u << 24,
		.shift = 24};
	size_t at = sizeof(chunk) + sizeof(head), n;

	if (bytes > sizeof(raw) - at)
		bytes = sizeof(raw) - at;
	memcpy(raw, &chunk, sizeof(chunk));
	memcpy(raw + sizeof(chunk), &head, sizeof(head));
	memcpy(raw + at, data, bytes);
	n = ZSTD_compress(frame, sizeof(frame), raw, at + bytes, 1);
	if (ZSTD_isError(n) || write(fd, frame, n) != (ssize_t)n)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct replay_result result = {0};
	struct replay_options options = {.max_series = 100, .batch = timeline_batch};
	struct error error = {0};
	char path[64];
	int fd;
	FILE *out;

	if (bytes < 1)
		return 0;
	fd = memfd_create("recording", MFD_CLOEXEC);
	out = fopen("/dev/null", "w");
	if (fd < 0 || !out)
		abort();
	if (data[0] & 1)
		framed_write(fd, data + 1, bytes - 1);
	else if (write(fd, data + 1, bytes - 1) != (ssize_t)bytes - 1)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	options.by_actor = data[0] & 2;
	options.data = timeline_begin(out, &result.head);
	if (!options.data)
		abort();
	if (replay(&result, path, &options, &error) == 0)
		aggregate_fini(&result.aggregate);
	timeline_end(options.data);
	fclose(out);
	close(fd);
	return 0;
}
