/* SPDX-License-Identifier: MIT */
/* The process's classes, message types and dispatcher names, by number. Any thread. */
#ifndef ACTOR_REGISTRY_H
#define ACTOR_REGISTRY_H

#include "abi.h"
#include "actor.h"

#define ACTOR__IDS 65536u

extern struct actor_type *actor__types[ACTOR__IDS]; /* entries never change once set */

/* Gives the type its number at its first use. 0, ACTOR_ETYPE, ACTOR_ELIMIT, -ENOMEM. */
int actor__type_register(struct actor_type *type);

/* The same for a class; classes of one name share a number. 0, ACTOR_ECLASS, ... */
int actor__class_register(struct actor_class *cls);

/* The number of a dispatcher with this name, kind and budget, or a negative error. */
int actor__dispatcher_register(const char *id, uint32_t kind, uint32_t budget);

/* Is this a name for a class, type, dispatcher, system or actor? */
int actor__name_valid(const char *name);

static inline struct actor_type *actor__type(uint32_t id)
{
	return actor__types[id];
}

/* What a type puts into the upper half of an envelope's head: its number, and the flag DESTROY in
 * the highest byte; 0 before its first use. Another thread may be the first to use it. */
static inline uint32_t actor__type_mark(const struct actor_type *type)
{
	return __atomic_load_n(&type->mark, __ATOMIC_ACQUIRE);
}

/* The number of a type that may be used for the first time; 0 or less: an error. */
static inline int actor__type_id(struct actor_type *type)
{
	int rc = actor__type_mark(type) ? 0 : actor__type_register(type);

	return rc ? rc : (int)(actor__type_mark(type) & (ACTOR__IDS - 1));
}

#endif
