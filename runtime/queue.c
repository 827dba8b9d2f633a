/* SPDX-License-Identifier: MIT */
/* Messages on their way out of a mailbox. */
#include "queue.h"

#include "box.h"
#include "deep.h"
#include "extra.h"
#include "stash.h"
#include "timeout.h"

#define LOOK_EVERY 16 /* messages of a deep mailbox */

/* The box has changed: brings the count and the table of deep mailboxes up to date. */
static void fallen(struct actor__cell *cell, struct actor__box *box)
{
	actor__box_counted(box, &cell->mailbox.count);
	if (cell->mailbox.deep &&
		(cell->mailbox.count < ACTOR__DEEP || cell->mailbox.count % LOOK_EVERY == 0))
		cell->mailbox.deep = actor__deep_write(cell->mailbox.deep, cell->mailbox.count,
			actor__box_oldest_stamp(box));
}

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
	fallen(cell, cell->extra->box);
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
	fallen(cell, cell->extra->box);
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
	fallen(cell, cell->extra->box);
	return mail ? &mail->envelope : NULL;
}

void actor__queue_mail_done(struct actor__cell *cell, struct actor__envelope *e)
{
	struct actor__loop *loop = cell->loop;

	/* Some come from a place of their own. */
	if (actor__mailbox_boxed(&cell->mailbox) && !actor__stash_has(cell->extra->stash, e) &&
		!actor__timeout_has(cell->extra->timeout, e))
		actor__mail_free(&loop->mails, &loop->pool, (struct actor_mail *)e);
}
