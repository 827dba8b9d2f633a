/* SPDX-License-Identifier: MIT */
/* The pairing heap below a loop's deadlines. */
#include "deadlines.h"

static bool comes_before(const struct actor__deadline *a, const struct actor__deadline *b)
{
	return a->at_ms != b->at_ms ? a->at_ms < b->at_ms : a->order < b->order;
}

/* Makes the later of two trees the first child of the earlier one, whose own links are stale. */
static struct actor__deadline *merge(struct actor__deadline *a, struct actor__deadline *b)
{
	struct actor__deadline *earlier = comes_before(a, b) ? a : b;
	struct actor__deadline *later = earlier == a ? b : a;

	later->next = earlier->child;
	if (later->next)
		later->next->place = &later->next;
	later->place = &earlier->child;
	earlier->child = later;
	return earlier;
}

/* Makes one tree of siblings: in pairs, then the pairs from the last one back. */
static struct actor__deadline *merge_all(struct actor__deadline *first)
{
	struct actor__deadline *pairs = NULL;
	struct actor__deadline *all = NULL;

	while (first) {
		struct actor__deadline *tree = first;
		struct actor__deadline *other = tree->next;

		first = other ? other->next : NULL;
		if (other)
			tree = merge(tree, other);
		tree->next = pairs;
		pairs = tree;
	}
	while (pairs) {
		struct actor__deadline *tree = pairs;

		pairs = tree->next;
		all = all ? merge(all, tree) : tree;
	}
	return all;
}

void actor__deadlines_put(struct actor__deadlines *deadlines, struct actor__deadline *deadline)
{
	deadline->order = deadlines->order++;
	deadline->child = NULL;
	deadlines->first = deadlines->first ? merge(deadlines->first, deadline) : deadline;
	deadlines->first->next = NULL;
	deadlines->first->place = &deadlines->first;
}

/* What was below it takes its place: later than whatever is above. */
void actor__deadline_cancel(struct actor__deadline *deadline)
{
	struct actor__deadline *below;

	if (!deadline->place)
		return;
	below = deadline->child ? merge_all(deadline->child) : NULL;
	if (below) {
		below->next = deadline->next;
		if (below->next)
			below->next->place = &below->next;
		below->place = deadline->place;
		*below->place = below;
	} else {
		*deadline->place = deadline->next;
		if (deadline->next)
			deadline->next->place = deadline->place;
	}
	deadline->place = NULL;
}
