/* SPDX-License-Identifier: MIT */
/* Subscriptions, by kind for those who publish and by actor for those who leave. */
#include "subscriptions.h"

#include "memory.h"

#include <errno.h>
#include <string.h>

void actor__subscriptions_init(struct actor__subscriptions *all)
{
	memset(all, 0, sizeof(*all));
	pthread_mutex_init(&all->lock, NULL);
}

/* Without the lock: `release` is the program's. */
static void free_all(struct actor__subscription *first)
{
	while (first) {
		struct actor__subscription *s = first;

		first = s->next;
		if (s->release)
			s->release(s->data);
		actor__heap_free(s);
	}
}

/* A list has it no more. The lock is held, as in all that follows up to the next such note. */
static void unuse(struct actor__subscription *s, struct actor__subscription **dead)
{
	if (--s->uses)
		return;
	s->next = *dead;
	*dead = s;
}

static void put(struct actor__audience *a, struct actor__subscription *s)
{
	s->place = a->count;
	a->at[a->count++] = s;
}

/* Takes out of the newest list what was removed while somebody held it. */
static void audience_sweep(struct actor__audience *a, struct actor__subscription **dead)
{
	uint32_t count = a->count;

	if (a->uses > 1 || !a->removed)
		return;
	a->count = 0;
	a->removed = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (atomic_load_explicit(&a->at[i]->removed, memory_order_relaxed))
			unuse(a->at[i], dead);
		else
			put(a, a->at[i]);
	}
}

static void audience_unuse(struct actor__audience *a, struct actor__subscription **dead)
{
	if (--a->uses) {
		if (a->kind->audience == a)
			audience_sweep(a, dead);
		return;
	}
	for (uint32_t i = 0; i < a->count; i++)
		unuse(a->at[i], dead);
	actor__heap_free(a);
}

/* Makes room for one more: a larger list in place of the old one, which may be held. */
static int audience_grow(struct actor__kind *kind, struct actor__subscription **dead)
{
	struct actor__audience *old = kind->audience;
	struct actor__audience *grown;
	uint32_t room;

	if (old && old->count < old->room)
		return 0;
	room = old ? old->room * 2 : 4;
	grown = actor__heap_zero(sizeof(*grown) + room * sizeof(struct actor__subscription *));
	if (!grown)
		return -ENOMEM;
	grown->uses = 1;
	grown->room = room;
	grown->kind = kind;
	for (uint32_t i = 0; old && i < old->count; i++) {
		if (atomic_load_explicit(&old->at[i]->removed, memory_order_relaxed))
			continue;
		old->at[i]->uses++;
		put(grown, old->at[i]);
	}
	kind->audience = grown;
	if (old)
		audience_unuse(old, dead);
	return 0;
}

static struct actor__kind *kind_of(struct actor__subscriptions *all, uint32_t number)
{
	struct actor__kind *kind = actor__index_find(&all->by_kind, number);

	if (kind)
		return kind;
	kind = actor__heap_zero(sizeof(*kind));
	if (!kind || !actor__index_add(&all->by_kind, number, kind)) {
		actor__heap_free(kind);
		return NULL;
	}
	kind->number = number;
	kind->next = all->kinds;
	all->kinds = kind;
	return kind;
}

/* Links it to the others of its actor. */
static int chain(struct actor__subscriptions *all, struct actor__subscription *s)
{
	struct actor__subscription *first = actor__index_find(&all->by_ref, s->ref);

	if (!first)
		return actor__index_add(&all->by_ref, s->ref, s) ? 0 : -ENOMEM;
	s->next = first->next;
	first->next = s;
	return 0;
}

static bool has_plain(const struct actor__subscriptions *all, actor_ref ref, uint32_t kind)
{
	const struct actor__subscription *s = actor__index_find(&all->by_ref, ref);

	while (s && (s->kind != kind || s->predicate))
		s = s->next;
	return s != NULL;
}

static int add(struct actor__subscriptions *all, struct actor__subscription *s,
	struct actor__subscription **dead)
{
	struct actor__kind *kind = kind_of(all, s->kind);
	int rc;

	if (!s->predicate && has_plain(all, s->ref, s->kind))
		return -EALREADY;
	rc = kind ? audience_grow(kind, dead) : -ENOMEM;
	if (!rc)
		rc = chain(all, s);
	if (rc)
		return rc;
	s->uses = 1;
	put(kind->audience, s);
	if (!all->counts[s->kind % 64]++)
		atomic_fetch_or(&all->mask, 1ull << s->kind % 64);
	return 0;
}

/* Without the lock. */
int actor__subscriptions_add(struct actor__subscriptions *all, actor_ref ref, uint32_t kind,
	const struct actor_subscription *subscription)
{
	struct actor__subscription *s = actor__heap_zero(sizeof(*s));
	struct actor__subscription *dead = NULL;
	int rc;

	if (!s)
		return -ENOMEM;
	s->ref = ref;
	s->kind = kind;
	s->predicate = subscription->predicate;
	s->release = subscription->release;
	s->data = subscription->data;
	pthread_mutex_lock(&all->lock);
	rc = add(all, s, &dead);
	pthread_mutex_unlock(&all->lock);
	free_all(dead);
	if (rc)
		actor__heap_free(s);
	return rc;
}

/* Takes one out of its kind's newest list. */
static void leave(struct actor__subscriptions *all, struct actor__subscription *s,
	struct actor__subscription **dead)
{
	struct actor__kind *kind = actor__index_find(&all->by_kind, s->kind);
	struct actor__audience *a = kind->audience;
	uint32_t place = s->place;

	if (!--all->counts[s->kind % 64])
		atomic_fetch_and(&all->mask, ~(1ull << s->kind % 64));
	atomic_store_explicit(&s->removed, 1, memory_order_relaxed);
	if (a->uses > 1) {
		a->removed++;
		return;
	}
	a->at[place] = a->at[--a->count];
	a->at[place]->place = place;
	unuse(s, dead);
	if (!a->count) {
		kind->audience = NULL;
		audience_unuse(a, dead);
	}
}

/* Without the lock. */
int actor__subscriptions_remove(struct actor__subscriptions *all, actor_ref ref, uint32_t kind)
{
	struct actor__subscription *dead = NULL;
	struct actor__subscription *kept = NULL;
	struct actor__subscription *s, *next;
	int count = 0;

	pthread_mutex_lock(&all->lock);
	s = actor__index_find(&all->by_ref, ref);
	if (s)
		actor__index_remove(&all->by_ref, ref);
	for (; s; s = next) {
		next = s->next;
		if (!kind || s->kind == kind) {
			leave(all, s, &dead);
			count++;
		} else {
			s->next = kept;
			kept = s;
		}
	}
	if (kept)
		actor__index_add(&all->by_ref, ref, kept); /* one was removed: there is room */
	actor__index_rest(&all->by_ref);
	pthread_mutex_unlock(&all->lock);
	free_all(dead);
	return count;
}

struct actor__audience *actor__audience_take(
	struct actor__subscriptions *all, uint32_t kind, uint32_t *count)
{
	struct actor__audience *audience = NULL;
	struct actor__kind *found;

	pthread_mutex_lock(&all->lock);
	found = actor__index_find(&all->by_kind, kind);
	if (found && found->audience && found->audience->count) {
		audience = found->audience;
		audience->uses++;
		*count = audience->count;
	}
	pthread_mutex_unlock(&all->lock);
	return audience;
}

void actor__audience_give(struct actor__subscriptions *all, struct actor__audience *audience)
{
	struct actor__subscription *dead = NULL;

	pthread_mutex_lock(&all->lock);
	audience_unuse(audience, &dead);
	pthread_mutex_unlock(&all->lock);
	free_all(dead);
}

void actor__subscriptions_fini(struct actor__subscriptions *all)
{
	struct actor__subscription *dead = NULL;

	while (all->kinds) {
		struct actor__kind *kind = all->kinds;

		all->kinds = kind->next;
		if (kind->audience)
			audience_unuse(kind->audience, &dead);
		actor__heap_free(kind);
	}
	free_all(dead);
	actor__index_fini(&all->by_kind);
	actor__index_fini(&all->by_ref);
	pthread_mutex_destroy(&all->lock);
}
