/* SPDX-License-Identifier: MIT */
/* The receiving half of mail from other loops and threads. The loop's thread. */
#ifndef ACTOR_RECEIVE_H
#define ACTOR_RECEIVE_H

#include "core.h"

/* Notices that are the loop's own business. */
typedef void (*actor__order_cb)(struct actor__loop *loop, uint16_t order);
extern actor__order_cb actor__receive_order;

/* Takes all mail and notices that had arrived when it was called. Returns how much it was. */
uint32_t actor__receive(struct actor__loop *loop);

/* Is there mail, or a notice? */
bool actor__receive_waiting(struct actor__loop *loop);

/* Tries again with stops that found no room in a mailbox; when some may have been made. */
void actor__receive_held(struct actor__loop *loop);

/* Takes all mail and closes the inbox for good; what finds no actor is a dead letter. */
void actor__receive_close(struct actor__loop *loop);

#endif
