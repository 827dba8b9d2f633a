/* SPDX-License-Identifier: MIT */
/* Filling and taking. */
#include "tokens.h"

void actor__tokens_init(
	struct actor__tokens *tokens, uint32_t messages, uint32_t per_ms, uint32_t burst)
{
	tokens->most = (uint64_t)burst * per_ms;
	tokens->level = tokens->most;
	tokens->at_ms = 0;
	tokens->messages = messages;
	tokens->per_ms = per_ms;
}

/* A clock that was ahead of `now` before, by a fresh look at it, changes nothing. */
static void fill(struct actor__tokens *tokens, uint64_t now_ms)
{
	uint64_t passed = now_ms > tokens->at_ms ? now_ms - tokens->at_ms : 0;

	if (passed > (tokens->most - tokens->level) / tokens->messages)
		tokens->level = tokens->most;
	else
		tokens->level += passed * tokens->messages;
	tokens->at_ms += passed;
}

bool actor__tokens_take(struct actor__tokens *tokens, uint64_t now_ms)
{
	fill(tokens, now_ms);
	if (tokens->level < tokens->per_ms)
		return false;
	tokens->level -= tokens->per_ms;
	return true;
}

uint64_t actor__tokens_wait_ms(const struct actor__tokens *tokens)
{
	uint64_t missing = tokens->per_ms > tokens->level ? tokens->per_ms - tokens->level : 1;

	return (missing + tokens->messages - 1) / tokens->messages;
}
