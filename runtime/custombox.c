/* SPDX-License-Identifier: MIT */
/* Goes between the runtime and a mailbox of the program's own. */
#include "custombox.h"

#include "abi.h"

#include <errno.h>

int actor__custom_open(struct actor__custom *custom, struct actor__mail_list *list,
	const struct actor_mailbox_ops *ops, void *data)
{
	int rc = ops->open ? ops->open(&custom->self, data) : 0;

	if (!ops->open)
		custom->self = data;
	custom->list = list;
	if (rc >= 0)
		custom->ops = ops;
	return rc < 0 ? rc : 0;
}

void actor__custom_close(struct actor__custom *custom)
{
	if (custom->ops && custom->ops->close)
		custom->ops->close(custom->self);
	custom->ops = NULL;
}

static void complain(struct actor__custom *custom, const char *text)
{
	if (!custom->complained)
		custom->complaint = text;
	custom->complained = true;
}

static void lane_append(struct actor__lane *lane, struct actor_mail *mail)
{
	mail->behind = NULL;
	if (lane->first)
		lane->last->behind = mail;
	else
		lane->first = mail;
	lane->last = mail;
}

static struct actor_mail *lane_take(struct actor__lane *lane)
{
	struct actor_mail *mail = lane->first;

	if (mail)
		lane->first = mail->behind;
	return mail;
}

/* Hands mail of the list to the mailbox; false: it does not want it. */
static bool push(struct actor__custom *custom, struct actor_mail *mail)
{
	mail->links[0] = mail->links[1] = NULL;
	mail->behind = NULL;
	if (custom->ops->push(custom->self, mail) < 0) {
		if (!actor__envelope_kept(&mail->envelope))
			return false;
		lane_append(&custom->first, mail);
		return true;
	}
	mail->state = ACTOR__MAIL_INSIDE;
	custom->inside++;
	return true;
}

int actor__custom_put(struct actor__custom *custom, struct actor_mail *mail)
{
	custom->resting = false;
	mail->custom = custom;
	actor__mail_append(custom->list, mail);
	if (custom->later.first || mail->envelope.flags & ACTOR__POISON) {
		lane_append(&custom->later, mail);
	} else if (actor__mail_answers(&mail->envelope)) {
		lane_append(&custom->first, mail);
	} else if (!push(custom, mail)) {
		actor__mail_unlink(custom->list, mail);
		return ACTOR_EFULL;
	}
	return 0;
}

/* After a stop was taken, which an actor may survive: what was told behind it, up to the next. */
static void later_follow(struct actor__custom *custom)
{
	while (custom->later.first && !(custom->later.first->envelope.flags & ACTOR__POISON)) {
		struct actor_mail *mail = lane_take(&custom->later);

		if (actor__mail_answers(&mail->envelope))
			lane_append(&custom->first, mail);
		else if (!push(custom, mail))
			actor__mail_give_up(custom->list, mail, ACTOR_ABI_DROP_REJECT);
	}
}

/* It says that it is empty: what it was given and has not handed out is gone. */
static void lost(struct actor__custom *custom)
{
	struct actor_mail *mail = custom->list->oldest;

	while (mail) {
		struct actor_mail *newer = mail->newer;

		if (mail->state == ACTOR__MAIL_INSIDE) {
			if (actor__envelope_kept(&mail->envelope)) {
				mail->state = ACTOR__MAIL_QUEUED;
				lane_append(&custom->first, mail);
			} else {
				actor__mail_give_up(custom->list, mail, ACTOR_ABI_DROP_LOST);
			}
		}
		mail = newer;
	}
	custom->inside = 0;
	complain(custom, "has lost messages");
}

/* From the mailbox itself; NULL: it gave nothing that it had. */
static struct actor_mail *pop_inside(struct actor__custom *custom)
{
	struct actor_mail *mail = custom->ops->pop(custom->self);

	if (mail && (mail->custom != custom || mail->state != ACTOR__MAIL_INSIDE)) {
		complain(custom, "has handed out a message that it did not have");
		custom->resting = true;
		return NULL;
	}
	if (mail) {
		custom->inside--;
		return mail;
	}
	if (!custom->ops->count(custom->self)) {
		lost(custom);
	} else {
		complain(custom, "has messages and hands out none");
		custom->resting = true;
	}
	return NULL;
}

struct actor_mail *actor__custom_pop(struct actor__custom *custom)
{
	struct actor_mail *mail = lane_take(&custom->first);

	if (!mail && custom->inside)
		mail = pop_inside(custom);
	if (!mail)
		mail = lane_take(&custom->first); /* which a loss may have filled */
	if (!mail && custom->later.first) {
		mail = lane_take(&custom->later);
		later_follow(custom);
	}
	if (mail)
		actor__mail_unlink(custom->list, mail);
	return mail;
}

int actor_mail_drop(struct actor_mail *mail)
{
	if (!mail || mail->state != ACTOR__MAIL_INSIDE)
		return -EINVAL;
	if (actor__envelope_kept(&mail->envelope))
		return -EPERM;
	mail->custom->inside--;
	actor__mail_give_up(mail->custom->list, mail, ACTOR_ABI_DROP_CUSTOM);
	return 0;
}
