/* SPDX-License-Identifier: MIT */
/* A failure on its way: from the cell that failed to its supervisor, and what is decided back.
 *
 * On one loop both are one call. Between loops the failure travels in the bond's `fail`, and comes
 * back with the directive; the cell is held meanwhile (AWAITS). An escalated failure is one of the
 * parent, and so on upwards, in a loop and not by recursion. */
#ifndef ACTOR_FAULT_H
#define ACTOR_FAULT_H

#include "core.h"

/* A cell has failed with cell->failure and a text: holds it, decides or asks who decides. */
void actor__fault_raise(struct actor__cell *cell, const char *text);

/* Notices that arrived: a failure at the parent's loop, a directive at the child's, a parent's
 * orders at the child's. */
void actor__fault_arrive(struct actor__loop *loop, struct actor__notice *fail);
void actor__fault_directive(struct actor__loop *loop, struct actor__notice *fail);
void actor__fault_orders(struct actor__loop *loop, struct actor__notice *down);

/* A failure at top level was escalated: nobody is left to decide. Set by close.c. */
typedef void (*actor__fault_unhandled_cb)(struct actor_system *system);
extern actor__fault_unhandled_cb actor__fault_unhandled;

#endif
