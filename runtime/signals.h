/* SPDX-License-Identifier: MIT */
/* SIGTERM and SIGINT begin a shutdown, if the program wants that. The first loop's thread. */
#ifndef ACTOR_SIGNALS_H
#define ACTOR_SIGNALS_H

#include "core.h"

/* Waits for both on the first loop, without keeping it alive. 0 or a negative error. */
int actor__signals_open(struct actor_system *system, const struct actor_system_options *options);

/* From now on they have their usual effect again. */
void actor__signals_stop(struct actor_system *system);

/* Frees the handles, which the first loop has closed. */
void actor__signals_free(struct actor_system *system);

#endif
