/* SPDX-License-Identifier: MIT */
/* Opening of systems whose loops have no threads. */
#ifndef ACTOR_SYSTEM_H
#define ACTOR_SYSTEM_H

#include "core.h"

/* actor_system_open() with a driver, which outlives the system; NULL: the usual one. */
int actor__system_open(struct actor_system **out, const struct actor_system_options *given,
	struct actor__driver *driver);

#endif
