/* SPDX-License-Identifier: MIT */
/* Numbers and copied names for classes, types and dispatchers, in the root's tables. */
#include "registry.h"

#include "mailbox.h"
#include "root.h"
#include "supervision.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

/* Up to `mailbox`: the first version. */
#define CLASS_LEAST offsetof(struct actor_class, mailbox)

struct actor_type *actor__types[ACTOR__IDS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int actor__name_valid(const char *name)
{
	size_t bytes;

	if (!name || name[0] == '$' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return 0;
	for (bytes = 0; name[bytes]; bytes++) {
		unsigned char c = (unsigned char)name[bytes];

		if (c < 0x20 || c == 0x7f || c == '/' || c == '\\' || bytes == ACTOR_NAME_BYTES)
			return 0;
	}
	return bytes > 0;
}

/* Finds an entry of the same text, kind and budget; 0 if there is none. */
static uint32_t table_find(
	const struct actor_abi_table *table, const char *text, uint32_t kind, uint32_t budget)
{
	for (uint32_t i = 1; i < table->count; i++) {
		const struct actor_abi_name *entry = actor__table_at(table, i);

		if (entry->kind == kind && entry->budget == budget &&
			strcmp(entry->text, text) == 0)
			return i;
	}
	return 0;
}

/* Appends an entry, number 1 being the first; negative: error. The lock is held. */
static int table_add(struct actor_abi_table *table, const char *text, uint32_t kind, uint32_t budget)
{
	uint64_t *segments = (uint64_t *)(uintptr_t)table->segments;
	uint32_t index = table->count ? table->count : 1;
	uint32_t segment = index / table->segment_entries;
	struct actor_abi_name *entry;

	if (index >= ACTOR__IDS || segment >= table->segment_max)
		return ACTOR_ELIMIT;
	if (!segments[segment]) {
		void *memory = actor__heap_zero((size_t)table->segment_entries * table->entry_bytes);

		if (!memory)
			return -ENOMEM;
		segments[segment] = (uint64_t)(uintptr_t)memory;
	}
	entry = actor__table_at(table, index);
	entry->bytes = (uint32_t)strlen(text);
	entry->kind = kind;
	entry->budget = budget;
	memcpy(entry->text, text, entry->bytes + 1);
	__atomic_store_n(&table->count, index + 1, __ATOMIC_RELEASE);
	return (int)index;
}

int actor__type_register(struct actor_type *type)
{
	uint32_t mark;
	int id = 0;

	if (!type || type->size < sizeof(*type) || !actor__name_valid(type->name))
		return ACTOR_ETYPE;
	actor__root_init();
	pthread_mutex_lock(&lock);
	if (!type->mark) {
		id = table_add(&actor_root.types, type->name, 0, 0);
		if (id > 0) {
			actor__types[id] = type;
			mark = (uint32_t)id | (type->destroy ? (uint32_t)ACTOR__DESTROY << 24 : 0);
			__atomic_store_n(&type->mark, mark, __ATOMIC_RELEASE);
		}
	}
	pthread_mutex_unlock(&lock);
	return id < 0 ? id : 0;
}

/* The lock is held. */
static int name_find_or_add(
	struct actor_abi_table *table, const char *text, uint32_t kind, uint32_t budget)
{
	int id = (int)table_find(table, text, kind, budget);

	return id ? id : table_add(table, text, kind, budget);
}

static int strategy_valid(const struct actor_class *cls)
{
	const struct actor_strategy *strategy = actor__strategy_of(NULL, cls);

	return !strategy || actor__strategy_check(strategy) == 0;
}

int actor__class_register(struct actor_class *cls)
{
	int id = 0;

	if (cls && __atomic_load_n(&cls->id, __ATOMIC_ACQUIRE))
		return 0;
	if (!cls || cls->size < CLASS_LEAST ||
		!actor__name_valid(cls->name) || !cls->on_message || !strategy_valid(cls))
		return ACTOR_ECLASS;
	actor__root_init();
	pthread_mutex_lock(&lock);
	if (!cls->id) {
		id = name_find_or_add(&actor_root.classes, cls->name, 0, 0);
		if (id > 0)
			__atomic_store_n(&cls->id, (uint32_t)id, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
	return id < 0 ? id : 0;
}

int actor__dispatcher_register(const char *id, uint32_t kind, uint32_t budget)
{
	int number;

	actor__root_init();
	pthread_mutex_lock(&lock);
	number = name_find_or_add(&actor_root.dispatchers, id, kind, budget);
	pthread_mutex_unlock(&lock);
	return number;
}
