/* SPDX-License-Identifier: MIT */
/* Timers by key and by number, and the life of their messages. */
#include "timers.h"

#include "envelope.h"
#include "extra.h"

struct actor__timer *actor__timers_find(const struct actor__cell *cell, uint64_t key)
{
	return cell->extra ? actor__index_find(&cell->extra->timers, key) : NULL;
}

static struct actor__timer *by_number(const struct actor__cell *cell, uint32_t number)
{
	struct actor__timer *timer = actor__index_find(&cell->loop->timers, number);

	return timer && timer->cell == cell ? timer : NULL;
}

static uint32_t number_new(struct actor__loop *loop)
{
	do
		loop->timer_number++;
	while (!loop->timer_number || actor__index_find(&loop->timers, loop->timer_number));
	return loop->timer_number;
}

static struct actor__timer *timer_new(struct actor__cell *cell, uint64_t key)
{
	struct actor__loop *loop = cell->loop;
	struct actor__extra *extra = actor__extra_of(cell);
	struct actor__timer *timer =
		extra ? actor__pool_take(&loop->pool, sizeof(*timer)) : NULL;
	uint32_t number = number_new(loop);

	if (!timer)
		return NULL;
	if (!actor__index_add(&loop->timers, number, timer))
		goto failed;
	if (!actor__index_add(&extra->timers, key, timer)) {
		actor__index_remove(&loop->timers, number);
		goto failed;
	}
	timer->deadline.place = NULL;
	timer->cell = cell;
	timer->key = key;
	timer->number = number;
	return timer;
failed:
	actor__pool_give(&loop->pool, timer, sizeof(*timer));
	return NULL;
}

static void message_release(struct actor__timer *timer)
{
	if (timer->envelope.type)
		actor__envelope_release(&timer->envelope);
	timer->envelope.type = 0;
}

struct actor__timer *actor__timers_take(struct actor__cell *cell, uint64_t key)
{
	struct actor__timer *timer = actor__timers_find(cell, key);
	struct actor__index *index = &cell->loop->timers;

	if (timer) {
		actor__deadline_cancel(&timer->deadline);
		actor__index_remove(index, timer->number);
		timer->number = number_new(cell->loop);
		actor__index_add(index, timer->number, timer); /* into the room it had */
		message_release(timer);
	} else {
		timer = timer_new(cell, key);
	}
	if (timer) {
		timer->envelope.type = 0;
		timer->missed = 0;
		timer->queued = 0;
	}
	return timer;
}

static void timer_free(struct actor__timer *timer)
{
	struct actor__loop *loop = timer->cell->loop;

	actor__deadline_cancel(&timer->deadline);
	actor__index_remove(&loop->timers, timer->number);
	message_release(timer);
	actor__pool_give(&loop->pool, timer, sizeof(*timer));
}

void actor__timers_remove(struct actor__timer *timer)
{
	struct actor__index *index = &timer->cell->extra->timers;
	struct actor__loop *loop = timer->cell->loop;

	actor__index_remove(index, timer->key);
	timer_free(timer);
	actor__index_rest(index);
	actor__index_rest(&loop->timers);
}

void actor__timers_clear(struct actor__cell *cell)
{
	struct actor__index timers = cell->extra->timers;

	/* Taken off first: a payload's destroy may ask about timers. */
	cell->extra->timers = (struct actor__index){0};
	for (uint32_t i = 0; i < timers.room; i++)
		if (timers.places[i].value)
			timer_free(timers.places[i].value);
	actor__index_fini(&timers);
	actor__index_rest(&cell->loop->timers);
}

bool actor__timers_accept(struct actor__cell *cell, struct actor__envelope *e, uint64_t *missed)
{
	struct actor__timer *timer = by_number(cell, e->ask);

	e->ask = 0;
	e->flags &= (uint8_t)~ACTOR__TIMER;
	if (!timer)
		return false;
	*missed = timer->missed;
	timer->missed = 0;
	timer->queued = 0;
	if (timer->kind == ACTOR__TIMER_ONCE)
		actor__timers_remove(timer);
	return true;
}

/* The callback is the one that it was armed with. */
static void again(struct actor__timer *timer)
{
	struct actor__loop *loop = timer->cell->loop;

	if (timer->kind == ACTOR__TIMER_DELAY)
		actor__deadline_arm(loop, &timer->deadline,
			actor__time_in(loop, timer->interval_ms), timer->deadline.cb);
}

void actor__timers_handled(struct actor__cell *cell, uint32_t number)
{
	struct actor__timer *timer = by_number(cell, number);

	if (timer)
		again(timer);
}

void actor__timers_dropped(struct actor__cell *cell, const struct actor__envelope *e)
{
	struct actor__timer *timer = by_number(cell, e->ask);

	if (!timer)
		return;
	timer->queued = 0;
	timer->missed++;
	if (timer->kind == ACTOR__TIMER_ONCE)
		actor__timers_remove(timer);
	else
		again(timer);
}
