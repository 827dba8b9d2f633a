/* SPDX-License-Identifier: MIT */
/* Sending of notices. */
#include "notice.h"

#include "channel.h"

void actor__notice_send(struct actor__loop *loop, struct actor__notice *notice,
	enum actor__command command, actor_ref to, void *pointer)
{
	notice->to = to;
	notice->pointer = pointer;
	notice->command = (uint16_t)command;
	actor__inbox_push(&loop->notices, &notice->link); /* which is never closed */
	actor__loop_rouse(loop); /* the push was a full fence */
}

void actor__order_send(struct actor__loop *loop, enum actor__command command)
{
	actor__notice_send(loop, &loop->order, command, 0, NULL);
}
