/* SPDX-License-Identifier: MIT */
/* "/user/parent/name" from a ref, and back. An anonymous actor's part is "$index.generation". */
#include "path.h"

#include "fork.h"
#include "slots.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DEPTH_MAX 64

/* One part of a path; the names' lock is held, so that a name that belongs to this generation
 * cannot go away. Returns the parent, or -1 if the actor is gone. */
static int part_of(actor_ref ref, char part[ACTOR_NAME_BYTES + 1], actor_ref *parent)
{
	struct actor__slots *slots = actor__slots_of(actor__ref_loop(ref));
	struct actor_abi_actor *entry = slots ? actor__slot_entry(slots, ref) : NULL;
	uint64_t name;

	if (!entry)
		return -ENOENT;
	*parent = __atomic_load_n(&entry->parent, __ATOMIC_RELAXED);
	name = __atomic_load_n(&entry->name, __ATOMIC_RELAXED);
	if (!actor__slot_entry(slots, ref))
		return -ENOENT;
	if (name)
		snprintf(part, ACTOR_NAME_BYTES + 1, "%s", (const char *)(uintptr_t)name);
	else
		snprintf(part, ACTOR_NAME_BYTES + 1, "$%" PRIu32 ".%" PRIu32,
			actor_abi_ref_index(ref), actor_abi_ref_generation(ref));
	return 0;
}

int actor_path(struct actor_system *system, actor_ref ref, char *buffer, size_t bytes)
{
	char parts[DEPTH_MAX][ACTOR_NAME_BYTES + 1];
	int depth = 0;
	int rc = 0;
	int used;

	if (actor__forked(system))
		return actor__refusal(system);
	if (!buffer && bytes)
		return -EINVAL;
	if (!actor__loop_of(system, ref))
		return -ENOENT;
	pthread_mutex_lock(&system->names.lock);
	do
		rc = part_of(ref, parts[depth], &ref);
	while (!rc && ++depth < DEPTH_MAX && ref);
	pthread_mutex_unlock(&system->names.lock);
	if (rc || !bytes)
		return rc;
	used = snprintf(buffer, bytes, "/user");
	while (depth-- && used >= 0 && (size_t)used < bytes)
		used += snprintf(buffer + used, bytes - (size_t)used, "/%s", parts[depth]);
	return (size_t)used < bytes ? used : (int)bytes - 1;
}

int actor__path_text(struct actor_system *system, actor_ref ref, char *buffer, size_t bytes)
{
	int rc = actor_path(system, ref, buffer, bytes);

	return rc >= 0 ? rc : snprintf(buffer, bytes, "#%" PRIx64, ref);
}

actor_ref actor_lookup(struct actor_system *system, const char *path)
{
	actor_ref ref = 0;

	if (!path || strncmp(path, "/user/", 6) != 0 || actor__forked(system))
		return 0;
	path += 5;
	while (*path == '/') {
		size_t bytes = strcspn(++path, "/");

		ref = actor__names_find(&system->names, ref, path, bytes);
		if (!ref)
			return 0;
		path += bytes;
	}
	return ref;
}
