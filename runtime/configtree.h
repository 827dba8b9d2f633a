/* SPDX-License-Identifier: MIT */
/* Parses a configuration by libconfig, if that was there when the runtime was built. */
#ifndef ACTOR_CONFIGTREE_H
#define ACTOR_CONFIGTREE_H

#include "configdata.h"
#include "configtext.h"

/* Fills *config from a text that actor__configtext_check() has let through. 0, ACTOR_ECONFIG,
 * -ENOMEM; what was taken so far stays. */
int actor__configtree_take(
	struct actor__config *config, const char *text, struct actor__config_error *error);

#endif
