/* SPDX-License-Identifier: MIT */
/* What binds a parent and a child on different loops, with the notices between them.
 *
 * Made when the child is spawned, one block. `up` brings the child to its loop (CREATE) and stays
 * with it, to bring the word of its end back (CHILD_GONE). `down` stays with the parent, to stop
 * the child (TERMINATE). The block is freed when the parent knows of the end and no `down` is on
 * its way any more, whichever is later; so whoever handles a notice finds its bond.
 *
 * A cell lists its bonds by ties: a parent one for each child on another loop, a child one if its
 * parent lives on another loop. A tie is touched by its cell's loop only. */
#ifndef ACTOR_BOND_H
#define ACTOR_BOND_H

#include "core.h"

#include <stddef.h>

enum actor__role {
	ACTOR__AS_PARENT = 1, /* this end of the bond is the parent's */
	ACTOR__AS_CHILD = 2,
};

struct actor__tie {
	struct actor__tie *next; /* of the cell */
	struct actor__tie *previous;
	enum actor__role role;
};

struct actor__bond {
	/* the parent's loop */
	struct actor__tie parent;
	struct actor__notice down;
	bool told;                /* down was sent */
	_Atomic uint32_t holders; /* the parent, and down while it is on its way */
	/* the child's loop, from the arrival of up until it is sent back */
	_Alignas(64) struct actor__tie child;
	struct actor__notice up;
};

_Static_assert(sizeof(struct actor__bond) == 128, "a bond fills a line for each loop");

/* Held by the parent; NULL: no memory. */
struct actor__bond *actor__bond_new(void);

/* Gives up one hold; the last one frees the bond. NULL is fine. Any thread. */
void actor__bond_drop(struct actor__bond *bond);

void actor__tie_add(struct actor__tie **list, struct actor__tie *tie);
void actor__tie_remove(struct actor__tie **list, struct actor__tie *tie);

/* The bond to the parent, or NULL: it lives on the same loop, or there is none. */
struct actor__bond *actor__bond_to_parent(const struct actor__cell *cell);

/* Tells all children on other loops to stop; once each. */
void actor__bonds_terminate(const struct actor__cell *cell);

/* Of a cell whose parent lives on another loop: sends the word of its end. The bond is the
 * parent's alone afterwards. */
void actor__bond_gone(struct actor__cell *cell);

static inline struct actor__bond *actor__bond_of_down(struct actor__notice *down)
{
	return (struct actor__bond *)((char *)down - offsetof(struct actor__bond, down));
}

static inline struct actor__bond *actor__bond_of_up(struct actor__notice *up)
{
	return (struct actor__bond *)((char *)up - offsetof(struct actor__bond, up));
}

#endif
