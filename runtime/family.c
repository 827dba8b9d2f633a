/* SPDX-License-Identifier: MIT */
/* Who belongs to whom. */
#include "family.h"

struct actor__cell *actor__family_parent(const struct actor__cell *cell)
{
	if (!cell->parent || actor__ref_loop(cell->parent) != cell->loop->id)
		return NULL;
	return actor__slot_find(cell->loop, cell->parent);
}

static void link_into(struct actor__cell **list, struct actor__cell *cell)
{
	cell->previous_sibling = NULL;
	cell->next_sibling = *list;
	if (*list)
		(*list)->previous_sibling = cell;
	*list = cell;
}

static void unlink_from(struct actor__cell **list, struct actor__cell *cell)
{
	if (cell->previous_sibling)
		cell->previous_sibling->next_sibling = cell->next_sibling;
	else
		*list = cell->next_sibling;
	if (cell->next_sibling)
		cell->next_sibling->previous_sibling = cell->previous_sibling;
}

void actor__family_adopt(
	struct actor__loop *loop, struct actor__cell *parent, struct actor__cell *cell)
{
	link_into(parent ? &parent->first_child : &loop->top, cell);
	if (parent)
		parent->children++;
}

void actor__family_adopt_remote(struct actor__cell *parent, struct actor__bond *bond)
{
	actor__tie_add(&parent->ties, &bond->parent);
	parent->children++;
}

static void child_counted_out(struct actor__cell *parent)
{
	if (--parent->children)
		return;
	if (actor__cell_life(parent) == ACTOR__TERMINATING)
		actor__cell_signal(parent, ACTOR__SIGNAL_FINISH);
	else if (parent->flags & ACTOR__PARKED)
		actor__cell_signal(parent, ACTOR__SIGNAL_REBUILD);
}

void actor__family_leave(struct actor__cell *cell)
{
	struct actor__loop *loop = cell->loop;
	struct actor__cell *parent = actor__family_parent(cell);

	unlink_from(parent ? &parent->first_child : &loop->top, cell);
	if (parent)
		child_counted_out(parent);
	else if (cell->parent)
		actor__bond_gone(cell);
}

void actor__family_child_gone(struct actor__loop *loop, struct actor__notice *up)
{
	struct actor__bond *bond = actor__bond_of_up(up);
	struct actor__cell *parent = actor__slot_find(loop, up->to); /* it waits for this */

	actor__tie_remove(&parent->ties, &bond->parent);
	actor__bond_drop(bond);
	child_counted_out(parent);
}

void actor__family_terminate(struct actor__cell *cell)
{
	for (struct actor__cell *child = cell->first_child; child; child = child->next_sibling)
		actor__cell_signal(child, ACTOR__SIGNAL_TERMINATE);
	actor__bonds_order(cell, ACTOR__ORDER_TERMINATE, 0);
}

struct actor__cell *actor__family_next(
	const struct actor__cell *top, struct actor__cell *cell, bool deeper)
{
	if (deeper && cell->first_child)
		return cell->first_child;
	while (cell != top && !cell->next_sibling)
		cell = actor__slot_find(cell->loop, cell->parent);
	return cell == top ? NULL : cell->next_sibling;
}
