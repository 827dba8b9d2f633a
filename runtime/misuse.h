/* SPDX-License-Identifier: MIT */
/* Calls that cannot be meant: an error code for the program, and a sentence in the log. */
#ifndef ACTOR_MISUSE_H
#define ACTOR_MISUSE_H

#include "core.h"
#include "poison.h"

/* Functions on the message path look at their context in debug builds only. */
#if defined(ACTOR_DEBUG) || defined(ACTOR__ASAN) || defined(ACTOR__TSAN)
#define ACTOR__ASSERT_TURN(ctx) actor__misuse_assert(ctx, __func__)
#else
#define ACTOR__ASSERT_TURN(ctx) ((void)(ctx))
#endif

/* Logs "FUNCTION: what", and returns the code. Any thread. */
int actor__misuse(
	struct actor_system *system, int code, const char *function, const char *what);

/* 0 while a handler of this context's actor has its message in hand; else -EINVAL or ACTOR_ETHREAD,
 * logged. Before on_start has run and in on_stop there is none. */
int actor__misuse_message(const struct actor_ctx *ctx, const char *function);

/* Ends the process with a sentence unless this context's actor has its turn, here. */
void actor__misuse_assert(const struct actor_ctx *ctx, const char *function);

/* 0 inside a turn of this context's actor, also in on_start and on_stop. */
int actor__misuse_turn(const struct actor_ctx *ctx, const char *function);

#endif
