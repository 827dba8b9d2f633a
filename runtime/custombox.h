/* SPDX-License-Identifier: MIT */
/* A mailbox of the program's own, and what the runtime keeps beside it.
 *
 * The program's mailbox orders messages; the runtime owns them. All mail is in the box's list too,
 * so that none is lost with a mailbox that loses it, and one that hands out what it does not have is
 * found out. Two lanes never reach it. `first`: answers to the actor's own questions, and
 * notifications that it refused. `later`: a stop, and all that was told after it, which follows when
 * the stop was taken. The loop's thread, but opening. */
#ifndef ACTOR_CUSTOMBOX_H
#define ACTOR_CUSTOMBOX_H

#include "mail.h"

struct actor__lane {
	struct actor_mail *first; /* by `behind` */
	struct actor_mail *last;
};

struct actor__custom {
	const struct actor_mailbox_ops *ops;
	void *self;
	struct actor__mail_list *list; /* of its box */
	struct actor__lane first;
	struct actor__lane later;
	uint32_t inside;       /* mail that is the mailbox's */
	bool resting;          /* gave nothing though it has mail: asked again after the next one */
	bool complained;
	const char *complaint; /* to be logged: what it did wrong first */
};

/* 0, or the mailbox's own error. Any thread. */
int actor__custom_open(struct actor__custom *custom, struct actor__mail_list *list,
	const struct actor_mailbox_ops *ops, void *data);
void actor__custom_close(struct actor__custom *custom);

/* Takes new mail. ACTOR_EFULL: it was refused, and is the caller's. */
int actor__custom_put(struct actor__custom *custom, struct actor_mail *mail);

/* What is next, no longer in the list; NULL: nothing now. What is lost is among the dropped. */
struct actor_mail *actor__custom_pop(struct actor__custom *custom);

#endif
