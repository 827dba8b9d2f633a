/* SPDX-License-Identifier: MIT */
/* What a message carries for the lines of log that are written while it is handled: keys with
 * values, in one block that never changes and lives as long as a message or handler has it. Any
 * thread. */
#ifndef ACTOR_LOG_CONTEXT_H
#define ACTOR_LOG_CONTEXT_H

#include "actor.h"

#include <stdatomic.h>

struct actor__log_context {
	_Atomic uint32_t uses;
	uint32_t count;
	struct actor_log_field fields[]; /* behind them the text they point into */
};

/* A copy of `old` (NULL: empty) with `key` set to `value`, or without it (value NULL). *made is
 * NULL where nothing is left. 0, ACTOR_ENAME, -ENOBUFS, -ENOMEM. */
int actor__log_context_with(const struct actor__log_context *old, const char *key,
	const char *value, struct actor__log_context **made);

/* NULL: there is none. */
const char *actor__log_context_find(const struct actor__log_context *context, const char *key);

static inline struct actor__log_context *actor__log_context_use(struct actor__log_context *context)
{
	atomic_fetch_add_explicit(&context->uses, 1, memory_order_relaxed);
	return context;
}

/* The last one frees it; NULL is fine. */
void actor__log_context_unuse(struct actor__log_context *context);

#endif
