/* SPDX-License-Identifier: MIT */
/* A treap whose nodes are the oldest mail of each rank. */
#include "ranks.h"

int actor__ranks_compare(const struct actor_mail *a, const struct actor_mail *b)
{
	if (a->epoch != b->epoch)
		return a->epoch < b->epoch ? -1 : 1;
	return (a->rank > b->rank) - (a->rank < b->rank);
}

/* The link to the node of this rank, or to where it would be. */
static struct actor_mail **link_of(struct actor__ranks *ranks, const struct actor_mail *mail)
{
	struct actor_mail **link = &ranks->root;

	while (*link) {
		int order = actor__ranks_compare(mail, *link);

		if (!order)
			break;
		link = order < 0 ? &(*link)->left : &(*link)->right;
	}
	return link;
}

/* The weights of equal trees must not be equal: xorshift (Marsaglia, 2003). */
static uint32_t weight(struct actor__ranks *ranks)
{
	uint32_t x = ranks->random ? ranks->random : 2463534242u;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	ranks->random = x;
	return x >> 8;
}

/* What comes before `mail` goes to *left, what comes behind it to *right. */
static void split(struct actor_mail *tree, const struct actor_mail *mail, struct actor_mail **left,
	struct actor_mail **right)
{
	while (tree) {
		if (actor__ranks_compare(tree, mail) < 0) {
			*left = tree;
			left = &tree->right;
			tree = tree->right;
		} else {
			*right = tree;
			right = &tree->left;
			tree = tree->left;
		}
	}
	*left = NULL;
	*right = NULL;
}

static void join(struct actor_mail **link, struct actor_mail *left, struct actor_mail *right)
{
	while (left && right) {
		if (left->weight >= right->weight) {
			*link = left;
			link = &left->right;
			left = left->right;
		} else {
			*link = right;
			link = &right->left;
			right = right->left;
		}
	}
	*link = left ? left : right;
}

void actor__ranks_put(struct actor__ranks *ranks, struct actor_mail *mail)
{
	struct actor_mail **link = link_of(ranks, mail);
	struct actor_mail *equal = *link;

	if (equal) { /* behind the newest of the ring, which is before the oldest */
		mail->next = equal;
		mail->previous = equal->previous;
		equal->previous->next = mail;
		equal->previous = mail;
		return;
	}
	mail->next = mail->previous = mail;
	mail->weight = weight(ranks) & 0xffffff;
	link = &ranks->root;
	while (*link && (*link)->weight >= mail->weight)
		link = actor__ranks_compare(mail, *link) < 0 ? &(*link)->left : &(*link)->right;
	split(*link, mail, &mail->left, &mail->right);
	*link = mail;
}

void actor__ranks_remove(struct actor__ranks *ranks, struct actor_mail *mail)
{
	struct actor_mail **link = link_of(ranks, mail);
	struct actor_mail *next = mail->next;

	if (*link == mail && next == mail) {
		join(link, mail->left, mail->right);
		return;
	}
	if (*link == mail) { /* the next one of its rank takes its place in the tree */
		next->left = mail->left;
		next->right = mail->right;
		next->weight = mail->weight;
		*link = next;
	}
	mail->previous->next = next;
	next->previous = mail->previous;
}

struct actor_mail *actor__ranks_first(const struct actor__ranks *ranks)
{
	struct actor_mail *mail = ranks->root;

	while (mail && mail->left)
		mail = mail->left;
	return mail;
}

/* The node of the rank before this one's; `mail` NULL: the last of all. */
static struct actor_mail *before(const struct actor__ranks *ranks, const struct actor_mail *mail)
{
	struct actor_mail *at = ranks->root;
	struct actor_mail *found = NULL;

	while (at) {
		if (!mail || actor__ranks_compare(at, mail) < 0) {
			found = at;
			at = at->right;
		} else {
			at = at->left;
		}
	}
	return found;
}

struct actor_mail *actor__ranks_last_droppable(const struct actor__ranks *ranks)
{
	struct actor_mail *oldest = NULL;

	while ((oldest = before(ranks, oldest))) {
		struct actor_mail *mail = oldest->previous;

		while (actor__envelope_kept(&mail->envelope) && mail != oldest)
			mail = mail->previous;
		if (!actor__envelope_kept(&mail->envelope))
			return mail;
	}
	return NULL;
}
