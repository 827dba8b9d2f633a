/* SPDX-License-Identifier: MIT */
/* Takes a recording through the same stream as the ring's batches. */
#define _GNU_SOURCE
#include "probe/replay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/collection.h"
#include "probe/escape.h"

struct replaying {
	struct replay_names *names;
	struct stream stream;
	struct replay_result *result;
	const struct replay_options *options;
	size_t paths_room;
	uint64_t last_ns; /* CLOCK_MONOTONIC of the latest batch */
	bool failed;	  /* no memory */
};

/* ---- names ---- */

static bool table_room(struct directory_table *t, uint32_t id)
{
	struct directory_name *more;

	if (id < t->count)
		return true;
	more = realloc(t->names, (id + 1) * sizeof(*more));
	if (!more)
		return false;
	memset(more + t->count, 0, (id + 1 - t->count) * sizeof(*more));
	t->names = more;
	t->count = id + 1;
	return true;
}

static void name_take(struct replaying *r, const struct recording_chunk *chunk)
{
	struct directory *d = &r->names->directory;
	struct directory_table *const tables[] = {[RECORDING_CLASSES] = &d->classes,
		[RECORDING_TYPES] = &d->types,
		[RECORDING_DISPATCHERS] = &d->dispatchers};
	const struct recording_name *name = chunk->bytes;
	const char *text = (const char *)chunk->bytes + sizeof(*name);
	size_t bytes = chunk->count - sizeof(*name);

	if (name->table == RECORDING_LOOPS && name->id < ACTOR_ABI_LOOPS) {
		escape_text(r->names->systems[name->id], ACTOR_ABI_NAME_BYTES, text, bytes);
	} else if (name->table < RECORDING_LOOPS && name->id < DIRECTORY_NAMES_MAX) {
		struct directory_table *t = tables[name->table];
		char *copy = escape_copy(text, bytes);

		if (!copy || !table_room(t, name->id)) {
			free(copy);
			r->failed = true;
			return;
		}
		free(t->names[name->id].text);
		t->names[name->id] = (struct directory_name){copy, name->kind, 0};
	}
}

static void path_take(struct replaying *r, const struct recording_chunk *chunk)
{
	const struct recording_path *path = chunk->bytes;
	char *copy = escape_copy(
		(const char *)chunk->bytes + sizeof(*path), chunk->count - sizeof(*path));

	if (!copy ||
		pathbook_append(&r->names->paths, &r->paths_room, path->actor, copy) == -ENOMEM)
		r->failed = true;
}

/* ---- batches ---- */

static void batch_take(struct replaying *r, const struct recording_chunk *chunk)
{
	const struct ring_batch *b = chunk->bytes;

	if (b->loop >= ACTOR_ABI_LOOPS ||
		b->records > (chunk->count - sizeof(*b)) / sizeof(b->record[0]))
		return;
	stream_take(&r->stream, b, chunk->count);
	if (r->last_ns < b->head.monotonic_ns)
		r->last_ns = b->head.monotonic_ns;
	if (r->options->batch)
		r->options->batch(r->options->data, r->names, &r->stream.calibration, b);
}

static int chunks_take(struct replaying *r, struct recording_reader *reader)
{
	struct recording_chunk chunk;
	int rc;

	while (!r->failed && (rc = recording_next(reader, &chunk)) == 1) {
		switch (chunk.kind) {
		case RECORDING_NAME:
			name_take(r, &chunk);
			break;
		case RECORDING_PATH:
			path_take(r, &chunk);
			break;
		case RECORDING_BATCH:
			batch_take(r, &chunk);
			break;
		case RECORDING_END:
			memcpy(&r->result->end, chunk.bytes, sizeof(r->result->end));
			r->result->complete = true;
			break;
		default:
			break; /* a second head */
		}
	}
	if (r->failed)
		return -ENOMEM;
	r->result->damaged = rc == -EBADMSG;
	r->result->complete &= rc == 0;
	return rc == 0 || rc == -EPIPE || rc == -EBADMSG ? 0 : rc;
}

/* ---- the aggregate ---- */

static int aggregate_make(struct replaying *r)
{
	struct replay_result *result = r->result;
	struct aggregate *a = &result->aggregate;
	const struct collection_names names = {&r->names->directory, &r->names->paths};
	const struct collection_source source = {.stream = &r->stream, .final = true};
	uint64_t attached = result->head.attached_ns;

	*a = (struct aggregate){
		.pid = result->head.pid,
		.command = escape_copy(result->head.command, RECORDING_COMMAND),
		.by_actor = r->options->by_actor,
		.elapsed_ns = result->complete	      ? result->end.elapsed_ns
			      : r->last_ns > attached ? r->last_ns - attached
						      : 0,
		.sample_every = result->head.sample_every,
		.mode = strdup("ledger"),
	};
	pathbook_sort(&r->names->paths);
	if (!a->command || !a->mode)
		return -ENOMEM;
	return collection_fill(&source, &names, a);
}

static void names_fini(struct replay_names *names)
{
	struct directory *copy;

	if (!names)
		return;
	pathbook_fini(&names->paths);
	copy = malloc(sizeof(*copy));
	if (copy) { /* it frees itself too */
		*copy = names->directory;
		directory_free(copy);
	}
	free(names);
}

int replay(struct replay_result *result, const char *path, const struct replay_options *options,
	struct error *error)
{
	struct replaying r = {.result = result, .options = options};
	struct recording_reader *reader = NULL;
	struct stream_options stream = {
		.by_actor = options->by_actor, .max_series = options->max_series};
	int rc, code;

	*result = (struct replay_result){0};
	code = recording_open(&reader, path, &result->head, error);
	if (code)
		return code;
	stream.calibration = (struct calibration){result->head.mult, (uint32_t)result->head.shift};
	stream.origin = (struct calibration_pair){result->head.first_ticks, result->head.first_ns};
	r.names = calloc(1, sizeof(*r.names));
	rc = stream_init(&r.stream, &stream);
	if (!r.names)
		rc = -ENOMEM;
	if (rc == 0)
		rc = chunks_take(&r, reader);
	if (rc == 0)
		rc = aggregate_make(&r);
	stream_fini(&r.stream);
	names_fini(r.names);
	recording_close(reader);
	if (rc == 0)
		return 0;
	aggregate_fini(&result->aggregate);
	if (rc == -ENOMEM)
		return error_set(error, EXIT_KERNEL, "out of memory");
	return error_set(error, EXIT_USAGE,
		"the recording '%s' cannot be read (%s); copy it to another disk and try again",
		path, strerror(-rc));
}
