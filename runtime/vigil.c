/* SPDX-License-Identifier: MIT */
/* The block of a wait for an actor's end. */
#include "vigil.h"

void actor__vigil_init(struct actor__vigil *vigil, actor_ref watcher, actor_ref subject,
	uint32_t number, uint32_t holders)
{
	vigil->watcher = watcher;
	vigil->subject = subject;
	vigil->number = number;
	vigil->tie.role = ACTOR__AS_SUBJECT;
	atomic_init(&vigil->holders, holders);
}

void actor__vigil_drop(struct actor__vigil *vigil)
{
	/* acq_rel: the last holder frees what the other one has finished with. */
	if (atomic_fetch_sub_explicit(&vigil->holders, 1, memory_order_acq_rel) == 1)
		actor__heap_free(vigil);
}

void actor__vigil_tie(struct actor__vigil *vigil, struct actor__tie **list)
{
	actor__tie_add(list, &vigil->tie);
	vigil->list = list;
}

void actor__vigil_untie(struct actor__vigil *vigil)
{
	actor__tie_remove(vigil->list, &vigil->tie);
	vigil->list = NULL;
}
