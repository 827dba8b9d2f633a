/* SPDX-License-Identifier: MIT */
/* The word of an actor's end, on its way to whoever waits for it.
 *
 * It travels like mail from the subject to the watcher, so it comes behind all that the subject has
 * told it. Mail needs memory now and then: without it the word stays with the subject's loop, which
 * tries again. Notices of these waits are counted while they are on their way, since one that finds
 * its subject gone is answered, and a loop must not end before. */
#ifndef ACTOR_FAREWELL_H
#define ACTOR_FAREWELL_H

#include "watches.h"

/* A wait begins; the subject's side holds it until it has told. The watcher's loop. */
void actor__farewell_begin(struct actor__loop *loop, struct actor__vigil *vigil);

/* The same for a thread outside: the subject lives on that loop, which cannot end meanwhile. */
void actor__farewell_begin_outside(struct actor__loop *to, struct actor__vigil *vigil);

/* The thread waits no longer, and the subject is to end at once; its hold goes with this. */
void actor__farewell_hurry(struct actor__loop *to, struct actor__vigil *vigil);

/* It was given up: the watcher's hold goes with this. The watcher's loop. */
void actor__farewell_cancel(struct actor__loop *loop, struct actor__vigil *vigil);

/* The notices of these have come. */
void actor__farewell_begun(struct actor__loop *loop, struct actor__notice *begin);
void actor__farewell_hurried(struct actor__loop *loop, struct actor__notice *cancel);
void actor__farewell_cancelled(struct actor__loop *loop, struct actor__notice *cancel);

/* An actor has ended, its ref is dead: all who wait are told. */
void actor__farewell_tell(struct actor__cell *cell);

/* Ends a watch that is out of its table, with its message if that was not queued. */
void actor__farewell_unwatch(struct actor__loop *loop, struct actor__watch *watch);

/* An actor ends: it watches nobody any more. */
void actor__farewell_unwatch_all(struct actor__cell *cell);

#endif
