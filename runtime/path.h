/* SPDX-License-Identifier: MIT */
/* Paths of actors, from the tables; any thread. */
#ifndef ACTOR_PATH_H
#define ACTOR_PATH_H

#include "core.h"

#define ACTOR__PATH_BYTES 512

/* The path, or "#ref" where the actor is gone; always ends with a NUL. Returns the bytes. */
int actor__path_text(struct actor_system *system, actor_ref ref, char *buffer, size_t bytes);

#endif
