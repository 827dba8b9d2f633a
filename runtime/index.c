/* SPDX-License-Identifier: MIT */
/* Look-up, growth and removal without marks. */
#include "index.h"

#include "memory.h"

#define ROOM_LEAST 16u
#define ROOM_KEPT  1024u /* an empty table of this size stays: 16 KiB */

void actor__index_fini(struct actor__index *index)
{
	actor__heap_free(index->places);
	*index = (struct actor__index){0};
}

static uint32_t home_of(const struct actor__index *index, uint64_t key)
{
	return (uint32_t)((key * 0x9e3779b97f4a7c15u >> 32) * index->room >> 32);
}

static void put(struct actor__index *index, uint64_t key, void *value)
{
	uint32_t at = home_of(index, key);

	while (index->places[at].value)
		at = (at + 1) & (index->room - 1);
	index->places[at].key = key;
	index->places[at].value = value;
}

static bool grow(struct actor__index *index)
{
	struct actor__index old = *index;
	uint32_t room = old.room ? old.room * 2 : ROOM_LEAST;
	struct actor__index_place *places =
		room ? actor__heap_zero((size_t)room * sizeof(*places)) : NULL;

	if (!places)
		return false;
	index->places = places;
	index->room = room;
	for (uint32_t i = 0; i < old.room; i++)
		if (old.places[i].value)
			put(index, old.places[i].key, old.places[i].value);
	actor__heap_free(old.places);
	return true;
}

bool actor__index_add(struct actor__index *index, uint64_t key, void *value)
{
	if (index->count >= index->room / 2 && !grow(index))
		return false;
	put(index, key, value);
	index->count++;
	return true;
}

void *actor__index_find(const struct actor__index *index, uint64_t key)
{
	uint32_t at;

	if (!index->count)
		return NULL;
	for (at = home_of(index, key); index->places[at].value; at = (at + 1) & (index->room - 1))
		if (index->places[at].key == key)
			return index->places[at].value;
	return NULL;
}

/* Closes the gap, so that no probe sequence is cut (Knuth, TAOCP vol. 3, algorithm 6.4 R). */
void actor__index_remove(struct actor__index *index, uint64_t key)
{
	uint32_t mask = index->room - 1;
	uint32_t gap = home_of(index, key);
	uint32_t at;

	while (index->places[gap].key != key || !index->places[gap].value)
		gap = (gap + 1) & mask;
	for (at = (gap + 1) & mask; index->places[at].value; at = (at + 1) & mask) {
		uint32_t home = home_of(index, index->places[at].key);

		if (((at - home) & mask) >= ((at - gap) & mask)) {
			index->places[gap] = index->places[at];
			gap = at;
		}
	}
	index->places[gap].value = NULL;
	index->count--;
}

void actor__index_rest(struct actor__index *index)
{
	if (!index->count && index->room > ROOM_KEPT)
		actor__index_fini(index);
}
