/* SPDX-License-Identifier: MIT */
/* An open-addressed hash table of pointers to values. */
#include "probe/table.h"

#include <stdlib.h>

#define SIZE_FIRST 64

void table_init(struct table *t, size_t most, size_t value_bytes)
{
	*t = (struct table){.most = most, .value_bytes = value_bytes};
}

void table_fini(struct table *t)
{
	for (size_t i = 0; i < t->size; i++)
		free(t->slots[i].value);
	free(t->slots);
	free(t->overflow);
	*t = (struct table){0};
}

static struct table_slot *slot_of(
	struct table_slot *slots, size_t size, uint64_t actor, uint64_t ids)
{
	uint64_t hash = (ids * 0x9e3779b97f4a7c15u ^ actor) * 0xff51afd7ed558ccdu;
	size_t at = (size_t)(hash >> 32) & (size - 1);

	while (slots[at].value && (slots[at].ids != ids || slots[at].actor != actor))
		at = (at + 1) & (size - 1);
	return &slots[at];
}

static bool grow(struct table *t)
{
	size_t size = t->size ? 2 * t->size : SIZE_FIRST;
	struct table_slot *slots = calloc(size, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < t->size; i++)
		if (t->slots[i].value)
			*slot_of(slots, size, t->slots[i].actor, t->slots[i].ids) = t->slots[i];
	free(t->slots);
	t->slots = slots;
	t->size = size;
	return true;
}

static void *overflow(struct table *t, bool *overflowed)
{
	if (!t->overflow)
		t->overflow = calloc(1, t->value_bytes);
	*overflowed = t->overflow != NULL;
	return t->overflow;
}

void *table_search(struct table *t, uint64_t actor, uint64_t ids, bool *overflowed)
{
	struct table_slot *slot = t->size ? slot_of(t->slots, t->size, actor, ids) : NULL;

	if (!slot || !slot->value) {
		if (t->count >= t->most)
			return overflow(t, overflowed);
		if (2 * (t->count + 1) > t->size && !grow(t))
			return overflow(t, overflowed);
		slot = slot_of(t->slots, t->size, actor, ids);
		slot->value = calloc(1, t->value_bytes);
		if (!slot->value)
			return overflow(t, overflowed);
		slot->actor = actor;
		slot->ids = ids;
		t->count++;
	}
	*table_recent(t, actor, ids) = *slot;
	return slot->value;
}

void table_walk(const struct table *t,
	void (*visit)(void *context, const struct series_key *key, const void *value),
	void *context)
{
	static const struct series_key rest = {0, MAPS_OVERFLOW, MAPS_OVERFLOW};

	for (size_t i = 0; i < t->size; i++) {
		const struct series_key key = {t->slots[i].actor, (uint32_t)t->slots[i].ids,
			(uint32_t)(t->slots[i].ids >> 32)};

		if (t->slots[i].value)
			visit(context, &key, t->slots[i].value);
	}
	if (t->overflow)
		visit(context, &rest, t->overflow);
}
