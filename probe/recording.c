/* SPDX-License-Identifier: MIT */
/* Writes the chunks of a recording through zstd into its file. */
#define _GNU_SOURCE
#include "probe/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "probe/recordingchunk.h"

#define LEVEL 1 /* as fast as it comes: a few hundred MB per second */
#define NAMES 4

struct recording {
	int fd;
	int error; /* the first that happened, < 0 */
	_Atomic bool full; /* looked at by others while batches come */
	uint64_t most;
	uint64_t written;
	uint64_t batches;
	size_t names[NAMES]; /* so many of each table are in the file */
	ZSTD_CCtx *zstd;
	char *out;
	size_t out_bytes;
};

int recording_create(struct recording **out, const char *path, uint64_t most, struct error *error)
{
	struct recording *r = calloc(1, sizeof(*r));

	if (!r)
		return error_set(error, EXIT_KERNEL, "out of memory");
	r->most = most;
	r->out_bytes = ZSTD_CStreamOutSize();
	r->out = malloc(r->out_bytes);
	r->zstd = ZSTD_createCCtx();
	r->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (r->fd < 0)
		error_set(error, EXIT_USAGE,
			"the recording '%s' cannot be made (%s); give another file with -o", path,
			strerror(errno));
	else if (!r->out || !r->zstd ||
		 ZSTD_isError(ZSTD_CCtx_setParameter(r->zstd, ZSTD_c_compressionLevel, LEVEL)) ||
		 ZSTD_isError(ZSTD_CCtx_setParameter(r->zstd, ZSTD_c_checksumFlag, 1)))
		error_set(error, EXIT_KERNEL, "out of memory");
	if (error->text[0]) {
		recording_finish(r, NULL, &(struct error){0});
		return error->exit;
	}
	*out = r;
	return 0;
}

static void write_out(struct recording *r, size_t bytes)
{
	size_t at = 0;

	while (at < bytes && !r->error) {
		ssize_t n = write(r->fd, r->out + at, bytes - at);

		if (n < 0 && errno != EINTR)
			r->error = -errno;
		else if (n > 0)
			at += (size_t)n;
	}
	r->written += at;
}

static void compress(struct recording *r, const void *bytes, size_t count, ZSTD_EndDirective how)
{
	ZSTD_inBuffer in = {bytes, count, 0};
	size_t left = 1;

	while (!r->error && (in.pos < in.size || (how != ZSTD_e_continue && left))) {
		ZSTD_outBuffer out = {r->out, r->out_bytes, 0};

		left = ZSTD_compressStream2(r->zstd, &out, &in, how);
		if (ZSTD_isError(left)) {
			r->error = -ENOMEM;
			return;
		}
		write_out(r, out.pos);
	}
}

static void chunk_write(struct recording *r, enum recording_kind kind, const void *first,
	size_t first_bytes, const void *second, size_t second_bytes)
{
	const struct recording_chunk_head head = {
		(uint32_t)kind, (uint32_t)(first_bytes + second_bytes)};

	compress(r, &head, sizeof(head), ZSTD_e_continue);
	compress(r, first, first_bytes, ZSTD_e_continue);
	compress(r, second, second_bytes, ZSTD_e_continue);
}

void recording_head(struct recording *r, const struct recording_head *head)
{
	struct recording_head complete = *head;

	complete.magic = RECORDING_MAGIC;
	complete.version = RECORDING_VERSION;
	chunk_write(r, RECORDING_HEAD, &complete, sizeof(complete), NULL, 0);
}

static void name_write(struct recording *r, enum recording_table table, uint32_t id, uint32_t kind,
	const char *text)
{
	const struct recording_name name = {(uint32_t)table, id, kind};

	if (text)
		chunk_write(r, RECORDING_NAME, &name, sizeof(name), text, strlen(text));
}

void recording_names(struct recording *r, const struct directory *d)
{
	const struct directory_table *tables[] = {[RECORDING_CLASSES] = &d->classes,
		[RECORDING_TYPES] = &d->types,
		[RECORDING_DISPATCHERS] = &d->dispatchers};

	for (uint32_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
		for (; r->names[t] < tables[t]->count; r->names[t]++)
			name_write(r, t, (uint32_t)r->names[t], tables[t]->names[r->names[t]].kind,
				tables[t]->names[r->names[t]].text);
	/* A new one may stand before those that are known. */
	for (size_t n = 0; d->loop_count != r->names[RECORDING_LOOPS] && n < d->loop_count; n++)
		name_write(r, RECORDING_LOOPS, d->loops[n].loop, 0, d->loops[n].system);
	r->names[RECORDING_LOOPS] = d->loop_count;
}

void recording_paths(struct recording *r, struct pathbook *paths)
{
	for (size_t i = 0; i < paths->count; i++) {
		struct pathbook_row *row = &paths->rows[i];
		const struct recording_path path = {row->actor};

		if (row->path && !row->recorded)
			chunk_write(r, RECORDING_PATH, &path, sizeof(path), row->path,
				strlen(row->path));
		row->recorded = true;
	}
}

void recording_batch(struct recording *r, const struct ring_batch *batch, size_t bytes)
{
	size_t used = sizeof(*batch) + batch->records * sizeof(batch->record[0]);

	if (r->full || r->error || bytes < sizeof(*batch) || batch->records > LEDGER_RECORDS_MAX)
		return;
	/* What zstd holds back is not written yet, and the end must fit as well. */
	if (r->written + RECORDING_SLACK > r->most) {
		r->full = true;
		return;
	}
	chunk_write(r, RECORDING_BATCH, batch, used < bytes ? used : bytes, NULL, 0);
	r->batches++;
}

void recording_flush(struct recording *r)
{
	compress(r, NULL, 0, ZSTD_e_flush);
}

bool recording_full(const struct recording *r)
{
	return r->full;
}

uint64_t recording_bytes(const struct recording *r)
{
	return r->written;
}

int recording_finish(struct recording *r, const struct recording_end *end, struct error *error)
{
	int rc;

	if (!r)
		return 0;
	if (end) {
		struct recording_end complete = *end;

		complete.batches = r->batches;
		complete.cut = r->full;
		chunk_write(r, RECORDING_END, &complete, sizeof(complete), NULL, 0);
		compress(r, NULL, 0, ZSTD_e_end);
	}
	if (r->fd >= 0 && close(r->fd) < 0 && !r->error)
		r->error = -errno;
	rc = r->error;
	ZSTD_freeCCtx(r->zstd);
	free(r->out);
	free(r);
	if (!rc)
		return 0;
	return error_set(error, EXIT_USAGE,
		"the recording cannot be written (%s); what is in the file so far can be reported",
		strerror(-rc));
}
