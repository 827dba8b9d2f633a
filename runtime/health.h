/* SPDX-License-Identifier: MIT */
/* Health checks: is the process alive, and may it be given work? Any thread. */
#ifndef ACTOR_HEALTH_H
#define ACTOR_HEALTH_H

#include "core.h"

void actor__health_init(struct actor__health *health);
void actor__health_fini(struct actor__health *health);

#endif
