/* SPDX-License-Identifier: MIT */
/* A hash table from (parent, name) to ref. */
#include "names.h"

#include "memory.h"

#include <errno.h>
#include <string.h>

/* FNV-1a, 64 bits (Fowler, Noll, Vo; http://www.isthe.com/chongo/tech/comp/fnv/). */
static uint64_t hash_of(actor_ref parent, const char *text, size_t bytes)
{
	uint64_t hash = 0xcbf29ce484222325ull ^ parent;

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3ull;
	return hash ^ hash >> 29;
}

void actor__names_init(struct actor__names *names)
{
	memset(names, 0, sizeof(*names));
	pthread_mutex_init(&names->lock, NULL);
}

void actor__names_fini(struct actor__names *names)
{
	for (size_t i = 0; i < names->bucket_count; i++) {
		while (names->buckets[i]) {
			struct actor__name *name = names->buckets[i];

			names->buckets[i] = name->next;
			actor__heap_free(name);
		}
	}
	actor__heap_free(names->buckets);
	pthread_mutex_destroy(&names->lock);
}

static struct actor__name **place_of(struct actor__names *names, uint64_t hash)
{
	return &names->buckets[hash & (names->bucket_count - 1)];
}

static struct actor__name *find(struct actor__names *names, uint64_t hash, actor_ref parent,
	const char *text, size_t bytes)
{
	struct actor__name *name = names->bucket_count ? *place_of(names, hash) : NULL;

	while (name && !(name->hash == hash && name->parent == parent &&
			       strncmp(name->text, text, bytes) == 0 && !name->text[bytes]))
		name = name->next;
	return name;
}

/* Keeps at most one name per bucket on average; false: no memory. */
static int make_room(struct actor__names *names)
{
	size_t bucket_count = names->bucket_count ? names->bucket_count * 2 : 64;
	struct actor__name **old = names->buckets;
	size_t old_count = names->bucket_count;
	struct actor__name **buckets;

	if (names->count < names->bucket_count)
		return 1;
	buckets = actor__heap_zero(bucket_count * sizeof(*buckets));
	if (!buckets)
		return old != NULL;
	names->buckets = buckets;
	names->bucket_count = bucket_count;
	for (size_t i = 0; i < old_count; i++) {
		while (old[i]) {
			struct actor__name *name = old[i];
			struct actor__name **place = place_of(names, name->hash);

			old[i] = name->next;
			name->next = *place;
			*place = name;
		}
	}
	actor__heap_free(old);
	return 1;
}

int actor__names_add(struct actor__names *names, actor_ref parent, const char *text, actor_ref ref,
	struct actor__name **out)
{
	size_t bytes = strlen(text);
	struct actor__name *name = actor__heap_alloc(sizeof(*name) + bytes + 1);
	int rc = 0;

	if (!name)
		return -ENOMEM;
	name->parent = parent;
	name->ref = ref;
	name->hash = hash_of(parent, text, bytes);
	memcpy(name->text, text, bytes + 1);
	pthread_mutex_lock(&names->lock);
	if (find(names, name->hash, parent, text, bytes))
		rc = -EEXIST;
	else if (!make_room(names))
		rc = -ENOMEM;
	if (!rc) {
		name->next = *place_of(names, name->hash);
		*place_of(names, name->hash) = name;
		names->count++;
	}
	pthread_mutex_unlock(&names->lock);
	if (rc)
		actor__heap_free(name);
	else
		*out = name;
	return rc;
}

void actor__names_remove(struct actor__names *names, struct actor__name *name)
{
	struct actor__name **place;

	if (!name)
		return;
	pthread_mutex_lock(&names->lock);
	for (place = place_of(names, name->hash); *place != name; place = &(*place)->next)
		;
	*place = name->next;
	names->count--;
	pthread_mutex_unlock(&names->lock);
	actor__heap_free(name);
}

actor_ref actor__names_find(
	struct actor__names *names, actor_ref parent, const char *text, size_t bytes)
{
	struct actor__name *name;
	actor_ref ref;

	pthread_mutex_lock(&names->lock);
	name = find(names, hash_of(parent, text, bytes), parent, text, bytes);
	ref = name ? name->ref : 0;
	pthread_mutex_unlock(&names->lock);
	return ref;
}
