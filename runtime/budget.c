/* SPDX-License-Identifier: MIT */
/* A ring of the times of recent restarts. */
#include "budget.h"

#include "memory.h"

#include <string.h>

static uint64_t *time_at(const struct actor__budget *b, uint32_t index)
{
	return &b->times[(b->first + index) & (b->room - 1)];
}

uint32_t actor__budget_count(struct actor__budget *b, uint64_t window_ms, uint64_t now_ms)
{
	if (!b->times || window_ms == ACTOR__FOR_EVER)
		return b->count;
	while (b->count && now_ms - *time_at(b, 0) >= window_ms) {
		b->first++;
		b->count--;
	}
	return b->count;
}

static bool make_room(struct actor__budget *b)
{
	uint32_t room = b->room ? b->room * 2 : 4;
	uint64_t *times;

	if (b->count < b->room)
		return true;
	times = actor__heap_alloc(room * sizeof(*times));
	if (!times)
		return false;
	for (uint32_t i = 0; i < b->count; i++)
		times[i] = *time_at(b, i);
	actor__heap_free(b->times);
	b->times = times;
	b->room = room;
	b->first = 0;
	return true;
}

bool actor__budget_take(struct actor__budget *b, uint32_t most, uint64_t window_ms, uint64_t now_ms)
{
	if (most != ACTOR__ANY && actor__budget_count(b, window_ms, now_ms) >= most)
		return false;
	if (most == ACTOR__ANY || window_ms == ACTOR__FOR_EVER) {
		if (b->count < UINT32_MAX)
			b->count++; /* a number is enough */
		return true;
	}
	if (make_room(b))
		*time_at(b, b->count++) = now_ms;
	return true;
}

uint32_t actor__budget_streak(struct actor__budget *b, uint64_t gap_ms, uint64_t now_ms)
{
	if (now_ms >= b->last_ms && now_ms - b->last_ms >= gap_ms)
		b->streak = 0;
	return b->streak < UINT32_MAX ? b->streak++ : b->streak;
}

void actor__budget_fini(struct actor__budget *b)
{
	actor__heap_free(b->times);
	memset(b, 0, sizeof(*b));
}
