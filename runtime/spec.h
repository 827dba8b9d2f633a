/* SPDX-License-Identifier: MIT */
/* The dispatcher specifications of a system: an id has one meaning. Any thread. */
#ifndef ACTOR_SPEC_H
#define ACTOR_SPEC_H

#include "core.h"

struct actor__spec_list {
	struct actor__spec_list *next;
	uint32_t number; /* in the root's table */
	struct actor_dispatcher_spec spec;
};

/* In place of the ops of a dispatcher that only a system with a driver may have; it runs what its
 * actors are told before whoever tells them goes on. Its kind is microtask. */
extern const struct actor_dispatcher_ops actor__synchronous;

/* Finds or adds a specification (NULL: the system's default). The entry lives as long as the
 * system. 0, ACTOR_EOPTIONS, ACTOR_EDISPATCHER, ACTOR_EBUDGET, ACTOR_ELIMIT, -ENOMEM. */
int actor__spec_use(struct actor_system *system, const struct actor_dispatcher_spec *spec,
	struct actor__spec_list **out);

void actor__specs_free(struct actor_system *system);

#endif
