/* SPDX-License-Identifier: MIT */
/* Parses the running files of a process, one after the other, until one has a root. */
#include "probe/carrier.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

static int error_of(enum notes_result result)
{
	switch (result) {
	case NOTES_32_BIT:
		return -ENOEXEC;
	case NOTES_FOREIGN:
		return -EXDEV;
	default:
		return -ENOENT;
	}
}

static bool others_have(const struct carrier_others *others, const struct object *object)
{
	for (size_t i = 0; others && i < others->count; i++)
		if (others->files[i].inode == object->inode &&
			others->files[i].device == object->device)
			return true;
	return false;
}

static void others_add(struct carrier_others *others, const struct object *object)
{
	size_t room = others && others->room ? 2 * others->room : 64;
	void *more;

	if (!others)
		return;
	if (others->count == others->room) {
		more = realloc(others->files, room * sizeof(*others->files));
		if (!more)
			return; /* then it is parsed again */
		others->files = more;
		others->room = room;
	}
	others->files[others->count].device = object->device;
	others->files[others->count++].inode = object->inode;
}

/* Is this the first of the executable mappings of its object? */
static bool first_of_object(const struct objects *o, size_t mapping)
{
	const struct objects_mapping *m = &o->mappings[mapping];

	for (size_t i = 0; i < mapping; i++)
		if (o->mappings[i].object == m->object && o->mappings[i].executable)
			return false;
	return m->executable;
}

ssize_t carrier_find(
	const struct objects *o, struct notes *notes, int *fd, struct carrier_others *others)
{
	ssize_t result = -ENOENT;

	for (size_t i = 0; i < o->mapping_count; i++) {
		size_t object = o->mappings[i].object;
		enum notes_result parsed;

		if (!first_of_object(o, i) || others_have(others, &o->objects[object]))
			continue;
		*fd = objects_open(o, object);
		if (*fd < 0) {
			if (result == -ENOENT)
				result = *fd;
			continue;
		}
		parsed = notes_read(notes, *fd);
		if (parsed == NOTES_OK && notes->has_root)
			return (ssize_t)object;
		if (object == 0) /* the program itself, as a rule */
			result = error_of(parsed);
		others_add(others, &o->objects[object]);
		close(*fd);
	}
	*fd = -1;
	return result;
}
