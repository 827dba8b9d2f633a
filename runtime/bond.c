/* SPDX-License-Identifier: MIT */
/* Bonds between a parent and a child on different loops. */
#include "bond.h"

#include "notice.h"

struct actor__bond *actor__bond_new(void)
{
	struct actor__bond *bond = actor__heap_zero(sizeof(*bond));

	if (!bond)
		return NULL;
	bond->parent.role = ACTOR__AS_PARENT;
	bond->child.role = ACTOR__AS_CHILD;
	atomic_init(&bond->holders, 1);
	return bond;
}

void actor__bond_drop(struct actor__bond *bond)
{
	/* acq_rel: the last holder frees what the other one has finished with. */
	if (!bond || atomic_fetch_sub_explicit(&bond->holders, 1, memory_order_acq_rel) != 1)
		return;
	actor__budget_fini(&bond->budget);
	actor__heap_free(bond->strategy);
	actor__heap_free(bond);
}

void actor__tie_add(struct actor__tie **list, struct actor__tie *tie)
{
	tie->previous = NULL;
	tie->next = *list;
	if (*list)
		(*list)->previous = tie;
	*list = tie;
}

void actor__tie_remove(struct actor__tie **list, struct actor__tie *tie)
{
	if (tie->previous)
		tie->previous->next = tie->next;
	else
		*list = tie->next;
	if (tie->next)
		tie->next->previous = tie->previous;
}

struct actor__bond *actor__bond_to_parent(const struct actor__cell *cell)
{
	for (struct actor__tie *tie = cell->ties; tie; tie = tie->next)
		if (tie->role == ACTOR__AS_CHILD)
			return (struct actor__bond *)((char *)tie -
						      offsetof(struct actor__bond, child));
	return NULL;
}

void actor__bond_order(
	struct actor_system *system, struct actor__bond *bond, uint32_t set, uint32_t clear)
{
	uint32_t old = atomic_load_explicit(&bond->orders, memory_order_relaxed);
	uint32_t now;

	do {
		now = (old & ~clear) | set;
		if (now == old && !(set & ACTOR__ORDER_RESTART))
			return; /* it knows, or is about to */
		now |= ACTOR__ORDER_SENT;
		/* acq_rel: partner of actor__bond_orders(), which gives `down` back. */
	} while (!atomic_compare_exchange_weak_explicit(
		&bond->orders, &old, now, memory_order_acq_rel, memory_order_relaxed));
	if (old & ACTOR__ORDER_SENT)
		return;
	atomic_fetch_add_explicit(&bond->holders, 1, memory_order_relaxed);
	actor__notice_send(actor__loop_of(system, bond->down.to), &bond->down, ACTOR__ORDERS,
		bond->down.to, NULL);
}

void actor__bonds_order(const struct actor__cell *cell, uint32_t set, uint32_t clear)
{
	for (struct actor__tie *tie = cell->ties; tie; tie = tie->next)
		if (tie->role == ACTOR__AS_PARENT)
			actor__bond_order(
				cell->loop->system, actor__bond_of_parent(tie), set, clear);
}

uint32_t actor__bond_orders(struct actor__bond *bond)
{
	/* acq_rel: what was read of `down` is read, what the orders are about can be seen. */
	return atomic_fetch_and_explicit(&bond->orders,
		~(uint32_t)(ACTOR__ORDER_SENT | ACTOR__ORDER_RESTART), memory_order_acq_rel);
}

void actor__bond_gone(struct actor__cell *cell)
{
	struct actor__bond *bond = actor__bond_to_parent(cell);

	actor__tie_remove(&cell->ties, &bond->child);
	actor__notice_send(actor__loop_of(cell->loop->system, cell->parent), &bond->up,
		ACTOR__CHILD_GONE, cell->parent, NULL);
}
