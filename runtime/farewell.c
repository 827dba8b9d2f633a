/* SPDX-License-Identifier: MIT */
/* Waits for an actor's end: their way to the subject, and the word's way back. */
#include "farewell.h"

#include "alarm.h"
#include "dispatcher.h"
#include "envelope.h"
#include "notice.h"
#include "slots.h"
#include "tell.h"

#include <errno.h>

static void untold_again(struct actor__loop *loop, struct actor__deadline *deadline);

static void word_outside(struct actor__loop *loop, uint32_t number)
{
	struct actor__waiter *waiter =
		actor__waiter_complete(&loop->system->waiters, number, NULL, 0);

	if (waiter)
		waiter->answered(waiter, NULL);
}

static int word_send(struct actor__loop *loop, const struct actor__vigil *vigil)
{
	struct actor__envelope e = {0};

	e.to = vigil->watcher;
	e.sender = vigil->subject;
	e.ask = vigil->number;
	if (vigil->kind == ACTOR__VIGIL_ASK) {
		e.flags = ACTOR__REPLY; /* the status is 0, whatever has ended it */
	} else {
		e.flags = ACTOR__POISON;
		e.bytes = ACTOR__POISON_WORD;
		e.status = vigil->code;
	}
	return actor__send_kept(loop, &e);
}

static void word_tell(struct actor__loop *loop, struct actor__vigil *vigil)
{
	int rc = 0;

	if (vigil->kind == ACTOR__VIGIL_WAITER)
		word_outside(loop, vigil->number);
	else
		rc = word_send(loop, vigil);
	if (!rc) {
		actor__vigil_drop(vigil);
		return;
	}
	actor__vigil_tie(vigil, &loop->untold);
	if (!actor__deadline_armed(&loop->untold_due))
		actor__deadline_arm(
			loop, &loop->untold_due, actor__now_ms(loop) + 1, untold_again);
}

/* Perhaps there is memory now. */
static void untold_again(struct actor__loop *loop, struct actor__deadline *deadline)
{
	struct actor__tie *all = NULL;

	(void)deadline;
	while (loop->untold) {
		struct actor__vigil *vigil = actor__vigil_of_tie(loop->untold);

		actor__vigil_untie(vigil);
		actor__vigil_tie(vigil, &all);
	}
	while (all) {
		struct actor__vigil *vigil = actor__vigil_of_tie(all);

		actor__vigil_untie(vigil);
		word_tell(loop, vigil);
	}
}

/* On the subject's loop, or where it could have been. */
static void begin(struct actor__loop *loop, struct actor__vigil *vigil)
{
	struct actor__cell *cell = actor__slot_find(loop, vigil->subject);

	if (cell) {
		actor__vigil_tie(vigil, &cell->ties);
		return;
	}
	vigil->code = -ENOENT;
	word_tell(loop, vigil);
}

static void cancel(struct actor__vigil *vigil)
{
	if (vigil->list) {
		actor__vigil_untie(vigil);
		actor__vigil_drop(vigil);
	}
	actor__vigil_drop(vigil);
}

/* Another loop of the system than this one that a subject lives on, or NULL. */
static struct actor__loop *elsewhere(const struct actor__loop *loop, actor_ref subject)
{
	struct actor__loop *there = actor__loop_of(loop->system, subject);

	return there == loop ? NULL : there;
}

static void notice_send(
	struct actor__loop *to, struct actor__notice *notice, enum actor__command command)
{
	/* Closing looks at it after it has found no actor left (close.c). */
	atomic_fetch_add(&to->system->vigils, 1);
	actor__notice_send(to, notice, command, 0, NULL);
}

void actor__farewell_begin(struct actor__loop *loop, struct actor__vigil *vigil)
{
	struct actor__loop *there = elsewhere(loop, vigil->subject);

	if (there)
		notice_send(there, &vigil->begin, ACTOR__WATCH);
	else
		begin(loop, vigil);
}

void actor__farewell_begin_outside(struct actor__loop *to, struct actor__vigil *vigil)
{
	notice_send(to, &vigil->begin, ACTOR__WATCH);
}

void actor__farewell_hurry(struct actor__loop *to, struct actor__vigil *vigil)
{
	notice_send(to, &vigil->cancel, ACTOR__HURRY);
}

void actor__farewell_hurried(struct actor__loop *loop, struct actor__notice *notice)
{
	struct actor__vigil *vigil =
		(struct actor__vigil *)((char *)notice - offsetof(struct actor__vigil, cancel));
	struct actor__cell *cell = actor__slot_find(loop, vigil->subject);

	if (cell)
		actor__cell_signal(cell, ACTOR__SIGNAL_TERMINATE);
	actor__vigil_drop(vigil);
	atomic_fetch_sub(&loop->system->vigils, 1);
}

void actor__farewell_begun(struct actor__loop *loop, struct actor__notice *notice)
{
	begin(loop, (struct actor__vigil *)((char *)notice - offsetof(struct actor__vigil, begin)));
	atomic_fetch_sub(&loop->system->vigils, 1);
}

void actor__farewell_cancel(struct actor__loop *loop, struct actor__vigil *vigil)
{
	struct actor__loop *there = elsewhere(loop, vigil->subject);

	if (there)
		notice_send(there, &vigil->cancel, ACTOR__UNWATCH);
	else
		cancel(vigil);
}

void actor__farewell_cancelled(struct actor__loop *loop, struct actor__notice *notice)
{
	cancel((struct actor__vigil *)((char *)notice - offsetof(struct actor__vigil, cancel)));
	atomic_fetch_sub(&loop->system->vigils, 1);
}

void actor__farewell_tell(struct actor__cell *cell)
{
	struct actor__tie *next;

	for (struct actor__tie *tie = cell->ties; tie; tie = next) {
		struct actor__vigil *vigil = actor__vigil_of_tie(tie);

		next = tie->next;
		if (tie->role != ACTOR__AS_SUBJECT)
			continue;
		actor__vigil_untie(vigil);
		vigil->code = cell->failure;
		word_tell(cell->loop, vigil);
	}
}

void actor__farewell_unwatch(struct actor__loop *loop, struct actor__watch *watch)
{
	struct actor__envelope message = watch->message;
	bool queued = watch->state == ACTOR__WATCH_QUEUED;

	if (watch->state == ACTOR__WATCHING)
		actor__farewell_cancel(loop, &watch->vigil);
	else
		actor__vigil_drop(&watch->vigil);
	if (!queued)
		actor__envelope_release(&message);
}

void actor__farewell_unwatch_all(struct actor__cell *cell)
{
	struct actor__index watches;

	if (!cell->extra)
		return;
	watches = cell->extra->watches;
	cell->extra->watches = (struct actor__index){0};
	for (uint32_t i = 0; i < watches.room; i++)
		if (watches.places[i].value)
			actor__farewell_unwatch(cell->loop, watches.places[i].value);
	actor__index_fini(&watches);
}
