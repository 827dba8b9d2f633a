/* SPDX-License-Identifier: MIT */
/* What a request to end an actor travels as. */
#ifndef ACTOR_STOP_H
#define ACTOR_STOP_H

#include "mailbox.h"

#include <string.h>

static inline void actor__poison_fill(
	struct actor__envelope *e, actor_ref ref, actor_ref sender, enum actor__poison poison)
{
	memset(e, 0, sizeof(*e));
	e->to = ref;
	e->sender = sender;
	e->flags = ACTOR__POISON;
	e->bytes = (uint8_t)poison;
}

#endif
