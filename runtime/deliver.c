/* SPDX-License-Identifier: MIT */
/* Delivery on the receiver's loop, and dead letters. */
#include "deliver.h"

#include "box.h"
#include "event.h"
#include "extra.h"
#include "hold.h"
#include "log.h"
#include "observe.h"
#include "path.h"
#include "registry.h"
#include "timers.h"
#include "watches.h"
#include "water.h"

#include <errno.h>

/* Tells the program. Not of letters that it makes itself while it is being told, and not of events
 * of letters: both would go on for ever. */
static void letter_tell(struct actor__loop *loop, struct actor__envelope *e)
{
	struct actor_system *system = loop->system;
	struct actor_message message;

	if (!system->on_dead_letter && !actor__event_any(system))
		return;
	if (loop->in_dead_letter || actor__type(e->type) == &actor_event_dead_letter)
		return;
	loop->in_dead_letter = true;
	actor__envelope_open(e, &message);
	if (system->on_dead_letter)
		system->on_dead_letter(system->on_dead_letter_data, e->to, &message);
	if (actor__event_any(system))
		actor__event_dead_letter(loop, e->to, &message);
	loop->in_dead_letter = false;
}

void actor__dead_letter(struct actor__loop *loop, struct actor__envelope *e)
{
	actor__dead_letter_of(0, loop, e);
}

void actor__dead_letter_of(uint32_t class_id, struct actor__loop *loop, struct actor__envelope *e)
{
	if (e->flags & ACTOR__POISON || !e->type)
		return; /* stopping what is gone; an ask's own time-out */
	if (actor__envelope_timed(e)) {
		actor__envelope_release(e); /* the timer ends with its actor */
		return;
	}
	actor__counter_add(&loop->dead_letters, 1);
	ACTOR__FIRE(dead_letter, e->to, e->sender, e->type, class_id);
	actor__observe_life(loop, ACTOR_ABI_LIFE_DEAD_LETTER, class_id, e->to, e->sender, e->type);
	letter_tell(loop, e);
	actor__envelope_release(e);
}

void actor__observe_enqueue(
	const struct actor__cell *cell, const struct actor__envelope *e, bool asked)
{
	ACTOR__FIRE(
		enqueue, cell->self, e->sender, e->type, cell->mailbox.count, asked, cell->cls->id);
	(void)cell;
	(void)e;
	(void)asked;
}

void actor__drop(struct actor__cell *cell, struct actor__envelope *e, enum actor_abi_drop reason)
{
	actor__counter_add(&cell->loop->dropped, 1);
	ACTOR__FIRE(drop, cell->self, e->sender, e->type, reason, cell->cls->id);
	actor__observe_life(
		cell->loop, ACTOR_ABI_LIFE_DROP, cell->cls->id, cell->self, e->sender, reason);
	if (actor__envelope_timed(e))
		actor__timers_dropped(cell, e);
	actor__envelope_release(e);
}

/* No memory for the mailbox. A stop needs none if nothing is queued before it, and an actor that
 * is stopping would not handle mail anyhow. One that has not arrived yet has no dispatcher. */
static int deliver_without(
	struct actor__loop *loop, struct actor__cell *cell, struct actor__envelope *e)
{
	if (actor__cell_life(cell) >= ACTOR__TERMINATING) {
		actor__dead_letter(loop, e);
		return 0;
	}
	if (!(e->flags & ACTOR__POISON) || e->bytes != ACTOR__POISON_STOP || cell->mailbox.count ||
		!cell->unit.dispatcher)
		return -ENOMEM;
	actor__cell_signal(cell, ACTOR__SIGNAL_TERMINATE);
	return 0;
}

/* The log once has what a custom mailbox did wrong first. */
static void complaint_log(struct actor__cell *cell)
{
	struct actor__custom *custom = &cell->extra->box->custom;
	char path[ACTOR__PATH_BYTES];

	actor__path_text(cell->loop->system, cell->self, path, sizeof(path));
	actor__log(cell->loop->system, ACTOR_LOG_ERROR, "the custom mailbox of %s (%s) %s", path,
		cell->cls->name, custom->complaint);
	custom->complaint = NULL;
}

void actor__deliver_dropped(struct actor__cell *cell)
{
	struct actor__mail_list *list = &cell->extra->box->list;
	struct actor_mail *mail;

	/* One by one: a payload's destroy may tell. */
	while ((mail = list->dropped)) {
		list->dropped = mail->behind;
		actor__drop(cell, &mail->envelope, (enum actor_abi_drop)mail->rank);
		actor__mail_free(&cell->loop->mails, &cell->loop->pool, mail);
	}
	if (ACTOR__UNLIKELY(cell->extra->box->custom.complaint != NULL))
		complaint_log(cell);
}

/* What becomes of mail that a box does not admit. */
static int refused(struct actor__cell *cell, struct actor__envelope *e, int rc)
{
	if (rc == ACTOR__BOX_DROP_NEW)
		actor__drop(cell, e, ACTOR_ABI_DROP_NEW);
	else if (e->flags & ACTOR__FOREIGN || actor__envelope_timed(e)) /* nobody can be told */
		actor__drop(cell, e, ACTOR_ABI_DROP_REJECT);
	else
		return rc;
	return 0;
}

int actor__deliver_boxed(struct actor__cell *cell, struct actor__envelope *e)
{
	struct actor__loop *loop = cell->loop;
	struct actor__box *box = cell->extra->box;
	struct actor_mail *mail = actor__mail_new(&loop->mails, &loop->pool, e);
	bool asked;
	int rc;

	if (!mail)
		return deliver_without(loop, cell, e);
	rc = actor__box_put(box, mail);
	actor__box_counted(box, &cell->mailbox.count);
	if (rc) {
		actor__mail_free(&loop->mails, &loop->pool, mail);
		rc = refused(cell, e, rc);
	} else {
		if (actor__water_high(&cell->mailbox))
			actor__water_risen(cell, actor__box_oldest_stamp(box));
		asked = actor__cell_ask(cell);
		if (ACTOR__LISTENED(enqueue) && !(e->flags & ACTOR__POISON))
			actor__observe_enqueue(cell, e, asked);
	}
	actor__deliver_dropped(cell);
	return rc;
}

bool actor__deliver_grow(struct actor__cell *cell)
{
	struct actor__mailbox *box = &cell->mailbox;

	if (!actor__mailbox_grow(box, &cell->loop->pool))
		return false;
	if (ACTOR__UNLIKELY(actor__water_high(box)))
		actor__water_risen(cell, box->first->stamp);
	return true;
}

/* A kill of one that is suspended by hand; a failure that is being settled settles it later. */
static bool killed_at_once(struct actor__cell *cell)
{
	if (cell->holds != ACTOR__HELD_BY_HAND || actor__cell_life(cell) != ACTOR__RUNNING ||
		!(cell->flags & ACTOR__READY) || cell->state & ACTOR__PENDING)
		return false;
	cell->failure = ACTOR_EKILLED;
	cell->flags |= ACTOR__KILLED;
	actor__cell_signal(cell, ACTOR__SIGNAL_FAILURE);
	return true;
}

/* Word of the end of an actor that this one watches. */
static int word_deliver(struct actor__cell *cell, const struct actor__envelope *e)
{
	struct actor__envelope message;
	int rc;

	if (!actor__watches_end(cell, e, &message))
		return 0;
	rc = actor__deliver(cell->loop, &message);
	if (rc)
		actor__watches_unqueue(cell, &message);
	return rc;
}

/* Suspends or resumes it by hand, unless it ends. */
static void hand_obey(struct actor__cell *cell, bool suspend)
{
	if (actor__cell_life(cell) >= ACTOR__TERMINATING)
		return;
	if (suspend)
		actor__hold(cell, ACTOR__HELD_BY_HAND);
	else
		actor__release(cell, ACTOR__HELD_BY_HAND);
}

#define QUEUES 1

/* What is asked of an actor before its messages: 0 or an error. QUEUES: it waits for its place
 * among them, which one that is suspended by hand might never come to. */
static int deliver_at_once(struct actor__cell *cell, const struct actor__envelope *e)
{
	switch ((enum actor__poison)e->bytes) {
	case ACTOR__POISON_STOP:
		if (!(cell->holds & ACTOR__HELD_BY_HAND))
			return QUEUES;
		actor__cell_signal(cell, ACTOR__SIGNAL_TERMINATE);
		break;
	case ACTOR__POISON_KILL:
		return killed_at_once(cell) ? 0 : QUEUES;
	case ACTOR__POISON_TERMINATE:
		actor__cell_signal(cell, ACTOR__SIGNAL_TERMINATE);
		break;
	case ACTOR__POISON_WORD:
		return word_deliver(cell, e);
	case ACTOR__POISON_SUSPEND:
	case ACTOR__POISON_RESUME:
		hand_obey(cell, e->bytes == ACTOR__POISON_SUSPEND);
		break;
	}
	return 0;
}

int actor__deliver(struct actor__loop *loop, struct actor__envelope *e)
{
	struct actor__cell *cell = actor__slot_find(loop, e->to);
	struct actor__envelope *place;
	bool asked;

	if (!cell) {
		actor__dead_letter(loop, e);
		return 0;
	}
	if (ACTOR__UNLIKELY(e->flags & ACTOR__POISON)) {
		int rc = deliver_at_once(cell, e);

		if (rc != QUEUES)
			return rc;
	}
	if (ACTOR__UNLIKELY(actor__chunk_ends(cell->mailbox.end))) {
		if (actor__mailbox_boxed(&cell->mailbox))
			return actor__deliver_boxed(cell, e);
		if (!actor__deliver_grow(cell))
			return deliver_without(loop, cell, e);
	}
	place = cell->mailbox.end++;
	cell->mailbox.count++;
	*place = *e;
	asked = actor__cell_ask(cell);
	if (ACTOR__LISTENED(enqueue) && !(e->flags & ACTOR__POISON))
		actor__observe_enqueue(cell, place, asked);
	return 0;
}
