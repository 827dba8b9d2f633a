/* SPDX-License-Identifier: MIT */
/* Publishing: from an event to the mailboxes of those who have subscribed to it. */
#ifndef ACTOR_EVENTS_H
#define ACTOR_EVENTS_H

#include "core.h"

/* Lets the runtime's lower parts publish. Once per process, any thread. */
void actor__events_init(void);

#endif
