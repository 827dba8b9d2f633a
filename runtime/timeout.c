/* SPDX-License-Identifier: MIT */
/* From the last message that was handled to the message of the time-out. */
#include "timeout.h"

struct actor__envelope *actor__timeout_take(struct actor__timeout *timeout)
{
	if (!actor__timeout_due(timeout))
		return NULL;
	timeout->due = false;
	return &timeout->envelope;
}

void actor__timeout_reset(struct actor__timeout *timeout)
{
	timeout->due = false; /* a clock by hand may have been moved inside the handler */
	timeout->handled_ms = actor__fresh_ms(timeout->cell->loop);
}

void actor__timeout_free(struct actor__timeout *timeout)
{
	if (!timeout)
		return;
	actor__deadline_cancel(&timeout->deadline);
	actor__heap_free(timeout);
}
