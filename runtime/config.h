/* SPDX-License-Identifier: MIT */
/* A configuration file, read into a structure. */
#ifndef ACTOR_CONFIG_H
#define ACTOR_CONFIG_H

#include "configdata.h"
#include "configtext.h"

/* Reads error->file. 0, ACTOR_ECONFIG with a sentence in *error, -ENOMEM. */
int actor__config_read(struct actor__config **out, struct actor__config_error *error);

/* The same from a text that actor__configtext_check() has let through. */
int actor__config_parse(
	struct actor__config **out, const char *text, struct actor__config_error *error);

void actor__config_free(struct actor__config *config);

/* What the file says about a class, or NULL. Any thread. */
struct actor__config_class *actor__config_class(struct actor__config *config, const char *name);

#endif
