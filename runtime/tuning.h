/* SPDX-License-Identifier: MIT */
/* Who decides: the program, the operator's file, or the default. Each setting has its own level: an
 * actor's (a spawn option, or class.NAME of the file) goes before the system's (an option of the
 * system, or a key of the file). At one level the program wins, unless the file says override. */
#ifndef ACTOR_TUNING_H
#define ACTOR_TUNING_H

#include "core.h"

/* Reads the file that the options or ACTOR_CONFIG name, and puts what it decides into the options
 * and the system. `room` keeps a dispatcher for the options. 0, ACTOR_ECONFIG (logged), -ENOMEM. */
int actor__tuning_open(struct actor_system *system, struct actor_system_options *options,
	struct actor_dispatcher_spec *room);

/* The same for the spawn options of an actor. Any thread. Call it only if there is a file. */
void actor__tuning_spawn(struct actor_system *system, const struct actor_class *cls,
	struct actor_spawn_options *options);

/* Says which classes of the file no actor had. The system has no actors any more. */
void actor__tuning_close(struct actor_system *system);

#endif
