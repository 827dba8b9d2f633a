/* SPDX-License-Identifier: MIT */
/* Contexts of log lines: made by copying, since a message may be on its way with the old one. */
#include "log_context.h"

#include "memory.h"
#include "registry.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

const char *actor__log_context_find(const struct actor__log_context *context, const char *key)
{
	for (uint32_t i = 0; context && i < context->count; i++)
		if (strcmp(context->fields[i].key, key) == 0)
			return context->fields[i].value;
	return NULL;
}

static char *text_put(char *at, const char *text, const char **where)
{
	size_t bytes = strlen(text) + 1;

	memcpy(at, text, bytes);
	*where = at;
	return at + bytes;
}

/* The fields as they will be; returns their number. */
static uint32_t fields_merge(const struct actor__log_context *old, const char *key,
	const char *value, struct actor_log_field *fields)
{
	uint32_t count = 0;
	bool found = false;

	for (uint32_t i = 0; old && i < old->count; i++) {
		if (strcmp(old->fields[i].key, key) != 0) {
			fields[count++] = old->fields[i];
			continue;
		}
		found = true;
		if (value)
			fields[count++] = (struct actor_log_field){key, value};
	}
	if (!found && value)
		fields[count++] = (struct actor_log_field){key, value};
	return count;
}

int actor__log_context_with(const struct actor__log_context *old, const char *key,
	const char *value, struct actor__log_context **made)
{
	struct actor_log_field fields[ACTOR_LOG_CONTEXT_FIELDS + 1];
	struct actor__log_context *context;
	size_t bytes = 0;
	uint32_t count;
	char *at;

	if (!actor__name_valid(key))
		return ACTOR_ENAME;
	*made = NULL;
	count = fields_merge(old, key, value, fields);
	for (uint32_t i = 0; i < count; i++)
		bytes += strlen(fields[i].key) + strlen(fields[i].value) + 2;
	if (count > ACTOR_LOG_CONTEXT_FIELDS || bytes > ACTOR_LOG_CONTEXT_BYTES)
		return -ENOBUFS;
	if (!count)
		return 0;
	context = actor__heap_alloc(sizeof(*context) + count * sizeof(*fields) + bytes);
	if (!context)
		return -ENOMEM;
	atomic_init(&context->uses, 1);
	context->count = count;
	at = (char *)&context->fields[count];
	for (uint32_t i = 0; i < count; i++) {
		at = text_put(at, fields[i].key, &context->fields[i].key);
		at = text_put(at, fields[i].value, &context->fields[i].value);
	}
	*made = context;
	return 0;
}

void actor__log_context_unuse(struct actor__log_context *context)
{
	/* Acquire: the block is freed after all others have read it. */
	if (context && atomic_fetch_sub_explicit(&context->uses, 1, memory_order_acq_rel) == 1)
		actor__heap_free(context);
}
