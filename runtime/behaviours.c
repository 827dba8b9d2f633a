/* SPDX-License-Identifier: MIT */
/* The stack grows by doubling and never shrinks while its actor lives. */
#include "behaviours.h"

#include "memory.h"

#include <errno.h>
#include <string.h>

int actor__behaviours_push(struct actor__behaviours *behaviours, actor_receive_cb receive)
{
	if (behaviours->count == behaviours->room) {
		uint32_t room = behaviours->room ? behaviours->room * 2 : 4;
		actor_receive_cb *grown = actor__heap_alloc(room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		if (behaviours->count)
			memcpy(grown, behaviours->below, behaviours->count * sizeof(*grown));
		actor__heap_free(behaviours->below);
		behaviours->below = grown;
		behaviours->room = room;
	}
	behaviours->below[behaviours->count++] = receive;
	return 0;
}

actor_receive_cb actor__behaviours_pop(struct actor__behaviours *behaviours)
{
	return behaviours->count ? behaviours->below[--behaviours->count] : NULL;
}

void actor__behaviours_clear(struct actor__behaviours *behaviours)
{
	actor__heap_free(behaviours->below);
	memset(behaviours, 0, sizeof(*behaviours));
}
