/* SPDX-License-Identifier: MIT */
/* What binds a parent and a child on different loops, with the notices between them.
 *
 * Made when the child is spawned, one block. `up` brings the child to its loop (CREATE) and stays
 * with it, to bring the word of its end back (CHILD_GONE). `down` stays with the parent and brings
 * its orders (ORDERS): these are bits that both loops see, so that any number of them needs one
 * notice. `fail` goes from the child to the parent with a failure (FAULT) and comes back with what
 * was decided (DIRECTIVE). The block is freed when the parent knows of the end and neither `down`
 * nor `fail` is on its way any more; so whoever handles a notice finds its bond.
 *
 * A cell lists its bonds by ties: a parent one for each child on another loop, a child one if its
 * parent lives on another loop. A tie is touched by its cell's loop only. Whoever waits for the
 * cell's end is tied to it as well. */
#ifndef ACTOR_BOND_H
#define ACTOR_BOND_H

#include "budget.h"
#include "core.h"

#include <stddef.h>

enum actor__role {
	ACTOR__AS_PARENT = 1, /* this end of the bond is the parent's */
	ACTOR__AS_CHILD = 2,
	ACTOR__AS_SUBJECT = 3, /* of no bond: of somebody who waits for its end, see vigil.h */
};

struct actor__tie {
	struct actor__tie *next; /* of the cell */
	struct actor__tie *previous;
	enum actor__role role;
};

/* What a parent wants of its child. */
enum actor__orders {
	ACTOR__ORDER_TERMINATE = 1, /* for ever */
	ACTOR__ORDER_HOLD = 2,      /* as long as it is set */
	ACTOR__ORDER_RESTART = 4,   /* once each */
	ACTOR__ORDER_SENT = 8,      /* down is on its way */
};

struct actor__bond {
	/* the parent's loop */
	struct actor__tie parent;
	struct actor__notice down;
	_Atomic uint32_t orders;  /* enum actor__orders; the child's loop clears SENT and RESTART */
	_Atomic uint32_t holders; /* the parent, and down and fail while they are on their way */
	/* the child's loop, from the arrival of up until it is sent back */
	_Alignas(64) struct actor__tie child;
	struct actor__notice up;
	/* of the newest ORDER_RESTART: written before it, read after it */
	_Atomic int32_t cause;
	_Atomic uint32_t delay_ms;
	/* whoever has fail: the child's loop, until it is sent, the parent's, the child's again */
	_Alignas(64) struct actor__notice fail;
	int32_t fail_code;
	bool fail_starting;
	enum actor_directive directive;
	uint32_t directive_delay_ms;
	/* the parent's loop; set before up is sent */
	const struct actor_class *cls;    /* of the child */
	struct actor_strategy *strategy;  /* the child's own; NULL: none */
	struct actor__budget budget;      /* of its restarts */
};

_Static_assert(offsetof(struct actor__bond, child) == 64, "each loop has a line of its own");
_Static_assert(offsetof(struct actor__bond, fail) == 128, "each loop has a line of its own");

/* Held by the parent; NULL: no memory. */
struct actor__bond *actor__bond_new(void);

/* Gives up one hold; the last one frees the bond. NULL is fine. Any thread. */
void actor__bond_drop(struct actor__bond *bond);

void actor__tie_add(struct actor__tie **list, struct actor__tie *tie);
void actor__tie_remove(struct actor__tie **list, struct actor__tie *tie);

/* The bond to the parent, or NULL: it lives on the same loop, or there is none. */
struct actor__bond *actor__bond_to_parent(const struct actor__cell *cell);

/* Gives a child orders: sets some and clears some of enum actor__orders. The parent's loop. */
void actor__bond_order(
	struct actor_system *system, struct actor__bond *bond, uint32_t set, uint32_t clear);

/* The same to all children on other loops. */
void actor__bonds_order(const struct actor__cell *cell, uint32_t set, uint32_t clear);

/* The orders that a down brought; from now on it may be sent again. The child's loop. */
uint32_t actor__bond_orders(struct actor__bond *bond);

/* Of a cell whose parent lives on another loop: sends the word of its end. The bond is the
 * parent's alone afterwards. */
void actor__bond_gone(struct actor__cell *cell);

static inline struct actor__bond *actor__bond_of_down(struct actor__notice *down)
{
	return (struct actor__bond *)((char *)down - offsetof(struct actor__bond, down));
}

static inline struct actor__bond *actor__bond_of_fail(struct actor__notice *fail)
{
	return (struct actor__bond *)((char *)fail - offsetof(struct actor__bond, fail));
}

static inline struct actor__bond *actor__bond_of_parent(struct actor__tie *parent)
{
	return (struct actor__bond *)((char *)parent - offsetof(struct actor__bond, parent));
}

static inline struct actor__bond *actor__bond_of_up(struct actor__notice *up)
{
	return (struct actor__bond *)((char *)up - offsetof(struct actor__bond, up));
}

#endif
