/* SPDX-License-Identifier: MIT */
/* Calls that cannot be meant: an error code for the program, and a sentence in the log. */
#ifndef ACTOR_MISUSE_H
#define ACTOR_MISUSE_H

#include "core.h"

/* Logs "FUNCTION: what", and returns the code. Any thread. */
int actor__misuse(
	struct actor_system *system, int code, const char *function, const char *what);

/* 0 while a handler of this context's actor has its message in hand; else -EINVAL or ACTOR_ETHREAD,
 * logged. Before on_start has run and in on_stop there is none. */
int actor__misuse_message(const struct actor_ctx *ctx, const char *function);

/* 0 inside a turn of this context's actor, also in on_start and on_stop. */
int actor__misuse_turn(const struct actor_ctx *ctx, const char *function);

#endif
