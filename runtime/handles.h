/* SPDX-License-Identifier: MIT */
/* The libuv handles of a loop. Only the idle handle keeps it alive, and only while units are
 * ready. Handles that somebody else closed (uv_walk) are replaced when they are needed again. */
#ifndef ACTOR_HANDLES_H
#define ACTOR_HANDLES_H

#include "core.h"

/* What the handles call; in this way nothing below the loop includes it. */
struct actor__handle_callbacks {
	void (*prepare)(struct actor__loop *loop);
	void (*check)(struct actor__loop *loop);
	void (*timer)(struct actor__loop *loop);
	void (*look)(struct actor__loop *loop);
	void (*closed)(struct actor__loop *loop); /* after actor__handles_close() */
};
extern struct actor__handle_callbacks actor__handle_callbacks;

/* Opens them on loop->uv. 0 or a libuv error. */
int actor__handles_open(struct actor__loop *loop);

/* Opens new ones if somebody closed them. 0 or an error. */
int actor__handles_revive(struct actor__loop *loop);

/* The same, cheaply, for every way in that is not inside a turn. */
static inline void actor__handles_ensure(struct actor__loop *loop)
{
	if (ACTOR__UNLIKELY(!loop->handles || loop->closed))
		return;
	if (ACTOR__UNLIKELY(uv_is_closing((const uv_handle_t *)&loop->handles->idle)))
		actor__handles_revive(loop);
}

/* Calls `look` once, after so many milliseconds; the loop stays alive until then. */
void actor__handles_look(struct actor__loop *loop, uint32_t after_ms);

/* Closes all; `closed` is called when the last one is, one pass later than a single uv_close()
 * would: what somebody's walk closed in this pass is done by then. */
void actor__handles_close(struct actor__loop *loop);

/* Frees them, after `closed`. */
void actor__handles_free(struct actor__loop *loop);

/* Makes the next poll return at once, and the loop stay alive, until actor__handles_rest(). */
void actor__handles_wake(struct actor__loop *loop);
void actor__handles_rest(struct actor__loop *loop);

static inline void actor__loop_wake(struct actor__loop *loop)
{
	if (ACTOR__UNLIKELY(!loop->awake))
		actor__handles_wake(loop);
}

/* Wakes the loop's poll from any thread. */
void actor__handles_signal(struct actor__loop *loop);

/* (Re)arms the timer for an absolute uv_now() time if that is earlier than what is armed. */
void actor__handles_timer(struct actor__loop *loop, uint64_t at_ms);

#endif
