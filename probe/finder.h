/* SPDX-License-Identifier: MIT */
/* Members that nobody named: all processes of the host, or those of one program. */
#ifndef PROBE_FINDER_H
#define PROBE_FINDER_H

#include "probe/member.h"

/* Loads what observes them, gives up what is not needed for it, and looks for the first time. 0 or
 * an error. */
int finder_begin(struct fleet *f, struct error *error);

/* To be called each second. */
void finder_look(struct fleet *f);

/* To be called when exchange_fd() is readable. */
void finder_news(struct fleet *f);

#endif
