/* SPDX-License-Identifier: MIT */
/* Finds actors in the target's tables and spells their paths by following their parents. */
#define _GNU_SOURCE
#include "probe/directory.h"

#include "probe/escape.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX      64 /* of a chain of parents; a cycle ends here too */
#define NAME_BYTES_MAX 256
#define PATH_BYTES_MAX 1024

struct request {
	struct actor_abi_table tables[ACTOR_ABI_LOOPS]; /* of actors, by number of the loop */
	struct directory_wish *wishes;
	size_t count;
};

static void request_free(void *argument)
{
	struct request *request = argument;

	for (size_t i = 0; i < request->count; i++)
		free(request->wishes[i].path);
	free(request->wishes);
	free(request);
}

static int entry_read(const struct remote *remote, const struct actor_abi_table *t, uint32_t index,
	struct actor_abi_actor *entry, uint64_t *address)
{
	uint64_t segment;

	if (t->entry_bytes < sizeof(*entry) || t->segment_entries == 0 ||
		index / t->segment_entries >= t->segment_max)
		return -EFAULT;
	if (remote_copy(remote, t->segments + 8ull * (index / t->segment_entries), &segment,
		    sizeof(segment)) < 0 ||
		!segment)
		return -EFAULT;
	*address = segment + (uint64_t)(index % t->segment_entries) * t->entry_bytes;
	return remote_copy(remote, *address, entry, sizeof(*entry));
}

/* Copies entry and name of an actor; its generation must fit before and after. */
static int actor_read(const struct remote *remote, const struct request *request, uint64_t actor,
	uint64_t mask, struct actor_abi_actor *entry, char *name)
{
	const struct actor_abi_table *t = &request->tables[actor_abi_ref_loop(actor)];
	uint32_t wanted = actor_abi_ref_generation(actor), again;
	uint64_t address;
	char raw[NAME_BYTES_MAX];

	if (entry_read(remote, t, actor_abi_ref_index(actor), entry, &address) < 0 ||
		entry->generation == 0 || ((entry->generation ^ wanted) & mask) != 0)
		return -ESRCH;
	if (!entry->name)
		snprintf(name, NAME_BYTES_MAX, "$%u.%u", actor_abi_ref_index(actor),
			entry->generation);
	else if (remote_string(remote, entry->name, raw, sizeof(raw)) < 0)
		snprintf(name, NAME_BYTES_MAX, "#%u", actor_abi_ref_index(actor));
	else
		escape_text(name, NAME_BYTES_MAX, raw, sizeof(raw));
	if (remote_copy(remote, address, &again, sizeof(again)) < 0 || again != entry->generation)
		return -ESRCH;
	return 0;
}

/* Puts "/name" before the path, which ends at the end of its buffer. */
static char *path_prepend(char *path, const char *start, const char *name)
{
	size_t bytes = strlen(name) + 1;

	if ((size_t)(path - start) < bytes)
		return NULL;
	path -= bytes;
	path[0] = '/';
	memcpy(path + 1, name, bytes - 1);
	return path;
}

static void wish_grant(
	const struct remote *remote, const struct request *request, struct directory_wish *wish)
{
	char buffer[PATH_BYTES_MAX], name[NAME_BYTES_MAX];
	char *path = buffer + sizeof(buffer) - 1, *longer;
	struct actor_abi_actor entry;
	uint64_t actor = wish->actor, mask = wish->mask;

	*path = '\0';
	if (!actor)
		return;
	for (int depth = 0; actor; depth++) {
		if (actor_read(remote, request, actor, mask, &entry, name) < 0) {
			if (depth == 0)
				return;
			snprintf(name, sizeof(name), "#%u", actor_abi_ref_index(actor));
			entry.parent = 0;
		}
		if (depth == 0) {
			wish->full = (actor & ~0xffffffffull) | entry.generation;
			wish->class_id = entry.class_id;
			wish->dispatcher = entry.dispatcher;
		}
		longer = depth < DEPTH_MAX ? path_prepend(path, buffer + 16, name) : NULL;
		if (!longer) { /* too long to be true */
			path = path_prepend(path, buffer, "...");
			break;
		}
		path = longer;
		actor = entry.parent;
		mask = UINT32_MAX;
	}
	path = path ? path_prepend(path, buffer, "user") : NULL; /* 16 bytes were kept for both */
	wish->path = path ? strdup(path) : NULL;
}

static int resolve_job(struct remote *remote, void *argument)
{
	struct request *request = argument;

	for (size_t i = 0; i < request->count; i++)
		wish_grant(remote, request, &request->wishes[i]);
	return 0;
}

int directory_resolve(const struct directory *d, struct remote *remote,
	struct directory_wish *wishes, size_t count)
{
	struct request *request;
	int r = -ENOMEM;

	if (count == 0)
		return 0;
	request = calloc(1, sizeof(*request));
	if (!request)
		return r;
	for (size_t i = 0; i < d->loop_count; i++)
		request->tables[d->loops[i].loop] = d->loops[i].actors;
	request->wishes = calloc(count, sizeof(*wishes));
	if (request->wishes) {
		memcpy(request->wishes, wishes, count * sizeof(*wishes));
		for (size_t i = 0; i < count; i++)
			request->wishes[i].path = NULL;
		request->count = count;
		r = remote_run(remote, resolve_job, request, request_free);
	}
	if (r == -ETIMEDOUT)
		return r;
	if (r == 0) {
		memcpy(wishes, request->wishes, count * sizeof(*wishes));
		request->count = 0; /* the paths went to the caller */
	}
	request_free(request);
	return r;
}
