/* SPDX-License-Identifier: MIT */
/* Numbers for pending asks, and the lists of those who wait. */
#include "asks.h"

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
	struct actor__ask *ask = actor__pool_take(pool, sizeof(*ask));

	if (!ask)
		return NULL;
	do
		ask->number = ++asks->last_number;
	while (!ask->number || actor__asks_find(asks, ask->number));
	if (!actor__index_add(&asks->by_number, ask->number, ask)) {
		actor__pool_give(pool, ask, sizeof(*ask));
		return NULL;
	}
	ask->deadline.place = NULL;
	list_put(list, ask);
	return ask;
}

void actor__asks_remove(struct actor__asks *asks, struct actor__pool *pool,
	struct actor__ask **list, struct actor__ask *ask)
{
	actor__index_remove(&asks->by_number, ask->number);
	actor__deadline_cancel(&ask->deadline);
	if (ask->previous)
		ask->previous->next = ask->next;
	else
		*list = ask->next;
	if (ask->next)
		ask->next->previous = ask->previous;
	actor__pool_give(pool, ask, sizeof(*ask));
}
