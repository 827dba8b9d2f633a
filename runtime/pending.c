/* SPDX-License-Identifier: MIT */
/* The table of pending handlers, and their way through it. */
#include "pending.h"

#include "dispatcher.h"
#include "extra.h"
#include "job.h"

#include <errno.h>

void actor__pendings_init(struct actor__pendings *pendings)
{
	pthread_mutex_init(&pendings->lock, NULL);
}

void actor__pendings_fini(struct actor__pendings *pendings)
{
	actor__index_fini(&pendings->by_number);
	pthread_mutex_destroy(&pendings->lock);
}

int actor__pending_register(struct actor__cell *cell)
{
	struct actor__pendings *pendings = &cell->loop->pendings;
	struct actor__extra *extra = actor__extra_of(cell);
	struct actor__pending *p = extra ? extra->pending : NULL;
	bool ok;

	if (!p)
		p = extra ? actor__heap_zero(sizeof(*p)) : NULL;
	if (!p)
		return -ENOMEM;
	p->cell = cell;
	p->number = ++pendings->last_number;
	pthread_mutex_lock(&pendings->lock);
	ok = actor__index_add(&pendings->by_number, p->number, p);
	pthread_mutex_unlock(&pendings->lock);
	if (ok && !extra->pending) {
		extra->pending = p;
		atomic_fetch_add_explicit(&pendings->count, 1, memory_order_relaxed);
	} else if (!ok && !extra->pending) {
		actor__heap_free(p);
	}
	return ok ? 0 : -ENOMEM;
}

/* True: it was there, and now is not. */
static bool take_out(struct actor__pendings *pendings, const struct actor__pending *p)
{
	bool found;

	pthread_mutex_lock(&pendings->lock);
	found = actor__index_find(&pendings->by_number, p->number) == p;
	if (found)
		actor__index_remove(&pendings->by_number, p->number);
	pthread_mutex_unlock(&pendings->lock);
	return found;
}

bool actor__pending_revoke(struct actor__cell *cell, int failure)
{
	struct actor__pending *p = cell->extra->pending;

	if (p->job || !take_out(&cell->loop->pendings, p)) {
		p->failure = failure;
		return false;
	}
	if (!p->envelope)
		actor__pending_free(cell);
	return true;
}

void actor__pending_go_on(struct actor__cell *cell)
{
	struct actor__pending *p = cell->extra->pending;

	cell->signals |= ACTOR__SIGNAL_LOOK;
	if (p->here)
		cell->signals |= ACTOR__SIGNAL_COMPLETED;
	else
		cell->state |= ACTOR__PENDING;
	p->here = false;
}

void actor__pending_hold(struct actor__cell *cell, struct actor__envelope *envelope, uint32_t depth,
	uint64_t began_ticks, bool taken)
{
	struct actor__pending *p = cell->extra->pending;

	p->envelope = envelope;
	p->depth = depth;
	p->began_ticks = began_ticks;
	p->taken = taken;
	cell->mailbox.count++; /* so that its place is not given back */
	actor__pending_go_on(cell);
}

struct actor__pending *actor__pending_take(
	struct actor__pendings *pendings, const struct actor_token *token)
{
	struct actor__pending *p;

	pthread_mutex_lock(&pendings->lock);
	p = actor__index_find(&pendings->by_number, token->number);
	if (p && p->cell->self == token->actor)
		actor__index_remove(&pendings->by_number, token->number);
	else
		p = NULL;
	pthread_mutex_unlock(&pendings->lock);
	return p;
}

void actor__pending_arrive(struct actor__pending *p)
{
	p->cell->state &= (uint8_t)~ACTOR__PENDING;
	p->cell->signals |= ACTOR__SIGNAL_COMPLETED;
	p->job = NULL;
	actor__cell_ask(p->cell);
}

/* All that are not completed; those without a job are out. */
static struct actor__pending *take_all(struct actor__pendings *pendings)
{
	struct actor__pending *all = NULL;

	pthread_mutex_lock(&pendings->lock);
	for (uint32_t i = 0; i < pendings->by_number.room; i++) {
		struct actor__pending *p = pendings->by_number.places[i].value;

		if (!p)
			continue;
		p->next = all;
		all = p;
	}
	for (struct actor__pending *p = all; p; p = p->next)
		if (!p->job)
			actor__index_remove(&pendings->by_number, p->number);
	pthread_mutex_unlock(&pendings->lock);
	return all;
}

void actor__pendings_abandon(struct actor__pendings *pendings)
{
	struct actor__pending *p = take_all(pendings);

	while (p) {
		struct actor__pending *next = p->next;

		p->cell->signals |= ACTOR__SIGNAL_TERMINATE;
		if (p->job) {
			p->closing = true;
			actor__job_cancel(p->job);
		} else {
			p->abandoned = true;
			actor__pending_arrive(p);
		}
		p = next;
	}
}

void actor__pending_free(struct actor__cell *cell)
{
	struct actor__pendings *pendings = &cell->loop->pendings;

	actor__heap_free(cell->extra->pending);
	cell->extra->pending = NULL;
	/* Release: whoever finds that none is left finds what they have done (close.c). */
	atomic_fetch_sub_explicit(&pendings->count, 1, memory_order_release);
}
