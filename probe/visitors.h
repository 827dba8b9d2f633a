/* SPDX-License-Identifier: MIT */
/* The open connections of a server, and an end for those that take too long.
 *
 * Whoever connects must have its whole answer within a deadline, and so again after each answer:
 * one that sends a byte now and then, or reads one, would hold its place and its page for ever.
 * A thread of its own looks once per part of the deadline.
 */
#ifndef PROBE_VISITORS_H
#define PROBE_VISITORS_H

#include <stdbool.h>
#include <stddef.h>

struct visitors;
struct visitor;

/* Starts the thread. `most_bytes`: of all pages that are being read. NULL without memory. */
struct visitors *visitors_open(unsigned int deadline_ms, size_t most_bytes);

/* A connection; NULL without memory, then it has no deadline. */
struct visitor *visitors_enter(struct visitors *v, int fd);

/* Notes that it is being sent a page of so many bytes. False: too much is being read already. */
bool visitors_serve(struct visitors *v, struct visitor *visitor, size_t bytes);

/* Its request is over: the deadline begins anew. */
void visitors_rest(struct visitors *v, struct visitor *visitor);

/* The connection will be closed. */
void visitors_leave(struct visitors *v, struct visitor *visitor);

/* After all have left. NULL is fine. */
void visitors_close(struct visitors *v);

#endif
