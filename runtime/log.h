/* SPDX-License-Identifier: MIT */
/* One line to the system's log. Any thread. */
#ifndef ACTOR_LOG_H
#define ACTOR_LOG_H

#include "actor.h"

void actor__log(struct actor_system *system, enum actor_log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
