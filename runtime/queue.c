/* SPDX-License-Identifier: MIT */
/* Messages on their way out of a mailbox. */
#include "queue.h"

#include "box.h"
#include "extra.h"
#include "stash.h"

/* What was unstashed comes before the mailbox. */
static struct actor__envelope *unstashed(struct actor__cell *cell)
{
	struct actor__envelope *e =
		cell->extra ? actor__stash_next(cell->extra->stash, &cell->loop->pool) : NULL;

	if (e)
		cell->mailbox.count--;
	return e;
}

struct actor__envelope *actor__queue_pop(struct actor__cell *cell)
{
	struct actor__envelope *e = unstashed(cell);
	struct actor_mail *mail;

	if (e)
		return e;
	if (!actor__mailbox_boxed(&cell->mailbox))
		return actor__mailbox_pop(&cell->mailbox);
	mail = actor__box_pop(cell->extra->box);
	actor__box_counted(cell->extra->box, &cell->mailbox.count);
	actor__deliver_dropped(cell);
	return mail ? &mail->envelope : NULL;
}

const struct actor__envelope *actor__queue_ahead(struct actor__cell *cell)
{
	const struct actor__envelope *e = cell->extra ? actor__stash_ahead(cell->extra->stash) : NULL;
	struct actor_mail *mail;

	if (e || !actor__mailbox_boxed(&cell->mailbox))
		return e ? e : cell->mailbox.first;
	mail = actor__box_ahead(cell->extra->box);
	actor__box_counted(cell->extra->box, &cell->mailbox.count);
	actor__deliver_dropped(cell);
	return mail ? &mail->envelope : NULL;
}

struct actor__envelope *actor__queue_oldest(struct actor__cell *cell)
{
	struct actor__envelope *e = unstashed(cell);
	struct actor_mail *mail;

	if (e)
		return e;
	if (!actor__mailbox_boxed(&cell->mailbox))
		return cell->mailbox.count ? actor__mailbox_pop(&cell->mailbox) : NULL;
	actor__deliver_dropped(cell);
	mail = actor__box_oldest(cell->extra->box);
	actor__box_counted(cell->extra->box, &cell->mailbox.count);
	return mail ? &mail->envelope : NULL;
}

void actor__queue_mail_done(struct actor__cell *cell, struct actor__envelope *e)
{
	struct actor__loop *loop = cell->loop;

	if (actor__mailbox_boxed(&cell->mailbox) && !actor__stash_has(cell->extra->stash, e))
		actor__mail_free(&loop->mails, &loop->pool, (struct actor_mail *)e);
}
