/* SPDX-License-Identifier: MIT */
/* The sinks that come with the runtime: lines to read, and lines of JSON. Any thread. */
#ifndef ACTOR_SINKS_H
#define ACTOR_SINKS_H

#include "actor.h"

/* Writes a record to the file descriptor `data`, by one write() of one line. 0 or -errno. */
int actor__sink_text(void *data, const struct actor_log_record *record);
int actor__sink_json(void *data, const struct actor_log_record *record);

#endif
