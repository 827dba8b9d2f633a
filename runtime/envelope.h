/* SPDX-License-Identifier: MIT */
/* What an envelope carries: as a handler sees it, and its end. */
#ifndef ACTOR_ENVELOPE_H
#define ACTOR_ENVELOPE_H

#include "mailbox.h"

/* Destroys what an envelope's payload owns. Any thread that owns the envelope. */
void actor__envelope_release(struct actor__envelope *envelope);

/* The same when the payload is somebody else's: a handler's that took it, or still the sender's. */
void actor__envelope_leave(struct actor__envelope *envelope);

/* Gives it a context to carry. -ENOMEM: it is as before. */
int actor__envelope_attach(
	struct actor__envelope *envelope, struct actor__log_context *context);

/* The message as a handler sees it. */
void actor__envelope_open(struct actor__envelope *envelope, struct actor_message *message);

/* Gives an envelope that is a plain copy of another one a payload of its own. 0, -ENOMEM, or the
 * error of the type's copy; then it has none. */
int actor__envelope_clone(struct actor__envelope *envelope);

#endif
