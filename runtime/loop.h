/* SPDX-License-Identifier: MIT */
/* A loop of a system: its passes, its thread, its birth and end. */
#ifndef ACTOR_LOOP_H
#define ACTOR_LOOP_H

#include "core.h"

/* Makes a loop on `uv`, or on a uv_loop_t of its own if that is NULL. On a caller's loop nothing is
 * opened yet, since only running that loop could undo it: actor__loop_listen() comes last. */
int actor__loop_open(struct actor_system *system, uint32_t index, uv_loop_t *uv);
int actor__loop_listen(struct actor__loop *loop);

/* Starts the thread of an owned loop. */
int actor__loop_start(struct actor__loop *loop);

/* Asks all top-level actors of the loop to stop, now and later ones. The loop's thread. */
void actor__loop_stop_all(struct actor__loop *loop, enum actor__stopping why);

/* Closes dispatchers, inbox and handles; the loop's thread. */
void actor__loop_end(struct actor__loop *loop);

/* Frees what the loop sends by; what is still on its way is a dead letter. No loop of the system
 * runs any more, and none is freed yet. */
void actor__loop_channels_free(struct actor__loop *loop);

/* Frees the loop; its thread, if it had one, has ended. */
void actor__loop_free(struct actor__loop *loop);

/* What close.c adds to a pass: a look at how far closing is, orders, the end of the handles, and
 * the end of an owned loop's thread. */
struct actor__loop_hooks {
	void (*passed)(struct actor__loop *loop);
	void (*look)(struct actor__loop *loop);
	void (*order)(struct actor__loop *loop, uint16_t order);
	void (*closed)(struct actor__loop *loop);
	void (*thread_ended)(struct actor__loop *loop);
};
extern struct actor__loop_hooks actor__loop_hooks;

#endif
