/* SPDX-License-Identifier: MIT */
/* Pending asks of one loop: a table by number. */
#include "asks.h"

#include <string.h>

void actor__asks_fini(struct actor__asks *asks)
{
	actor__heap_free(asks->table);
	memset(asks, 0, sizeof(*asks));
}

/* Scatters numbers by the golden ratio: in a row they would be one long probe sequence, which each
 * look-up of a missing one and each removal walks to its end (Knuth, TAOCP vol. 3, 6.4). */
static uint32_t home_of(const struct actor__asks *asks, uint32_t number)
{
	return (uint32_t)((uint64_t)(number * 2654435769u) * asks->table_room >> 32);
}

static void table_put(struct actor__asks *asks, struct actor__ask *ask)
{
	uint32_t at = home_of(asks, ask->number);

	while (asks->table[at])
		at = (at + 1) & (asks->table_room - 1);
	asks->table[at] = ask;
}

static bool table_make_room(struct actor__asks *asks)
{
	uint32_t room = asks->table_room ? asks->table_room * 2 : 16;
	struct actor__ask **old = asks->table;
	uint32_t old_room = asks->table_room;
	struct actor__ask **table;

	if (asks->count * 2 < asks->table_room)
		return true;
	table = actor__heap_zero(room * sizeof(*table));
	if (!table)
		return false;
	asks->table = table;
	asks->table_room = room;
	for (uint32_t i = 0; i < old_room; i++)
		if (old[i])
			table_put(asks, old[i]);
	actor__heap_free(old);
	return true;
}

static void list_put(struct actor__ask **list, struct actor__ask *ask)
{
	ask->previous = NULL;
	ask->next = *list;
	if (*list)
		(*list)->previous = ask;
	*list = ask;
}

struct actor__ask *actor__asks_add(
	struct actor__asks *asks, struct actor__pool *pool, struct actor__ask **list)
{
	struct actor__ask *ask;

	if (!table_make_room(asks))
		return NULL;
	ask = actor__pool_take(pool, sizeof(*ask));
	if (!ask)
		return NULL;
	do
		ask->number = ++asks->last_number;
	while (!ask->number || actor__asks_find(asks, ask->number));
	ask->deadline.place = NULL;
	table_put(asks, ask);
	asks->count++;
	list_put(list, ask);
	return ask;
}

struct actor__ask *actor__asks_find(const struct actor__asks *asks, uint32_t number)
{
	uint32_t at;

	if (!asks->table_room)
		return NULL;
	for (at = home_of(asks, number); asks->table[at];
		at = (at + 1) & (asks->table_room - 1))
		if (asks->table[at]->number == number)
			return asks->table[at];
	return NULL;
}

/* Closes the gap, so that no probe sequence is cut (Knuth, TAOCP vol. 3, algorithm 6.4 R). */
static void table_remove(struct actor__asks *asks, const struct actor__ask *ask)
{
	uint32_t mask = asks->table_room - 1;
	uint32_t gap = home_of(asks, ask->number);
	uint32_t at;

	while (asks->table[gap] != ask)
		gap = (gap + 1) & mask;
	for (at = (gap + 1) & mask; asks->table[at]; at = (at + 1) & mask) {
		uint32_t home = home_of(asks, asks->table[at]->number);

		if (((at - home) & mask) >= ((at - gap) & mask)) {
			asks->table[gap] = asks->table[at];
			gap = at;
		}
	}
	asks->table[gap] = NULL;
}

void actor__asks_remove(struct actor__asks *asks, struct actor__pool *pool,
	struct actor__ask **list, struct actor__ask *ask)
{
	table_remove(asks, ask);
	actor__deadline_cancel(&ask->deadline);
	asks->count--;
	if (ask->previous)
		ask->previous->next = ask->next;
	else
		*list = ask->next;
	if (ask->next)
		ask->next->previous = ask->previous;
	actor__pool_give(pool, ask, sizeof(*ask));
}
