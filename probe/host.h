/* SPDX-License-Identifier: MIT */
/* The processes of this host that carry libactor, found by looking through /proc again and again.
 *
 * A process is looked into when it is new or has executed another program, and a few times more, for
 * libraries are mapped after the start. The first one that runs a file gets the file its link; links
 * that nobody uses are closed after a while, by threads of their own, as that takes long.
 */
#ifndef PROBE_HOST_H
#define PROBE_HOST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "probe/exchange.h"

struct host;

/* All processes, or with `exe` those that run the file at this path, as it is at each look. Links
 * without a process stay for `linger_ns`. NULL without memory. */
struct host *host_open(struct exchange *x, const char *exe, uint64_t linger_ns);

/* Looks through /proc and calls `found` for each process that is wanted, carries libactor and has
 * not been accepted yet; `found` returns whether it accepts it. */
void host_scan(struct host *h, bool (*found)(void *context, pid_t pid), void *context);

enum host_want {
	HOST_WANTS,
	HOST_WANTS_NOT,
	HOST_CANNOT_TELL, /* it ends just now, or may not be looked into */
};

/* Is it a process that is looked for? */
enum host_want host_wants(const struct host *h, pid_t pid);

/* The process was accepted some other way. */
void host_accept(struct host *h, pid_t pid);

/* The process has ended, or runs another program: it is new. */
void host_forget(struct host *h, pid_t pid);

/* Closes all links. NULL is fine. */
void host_close(struct host *h);

#endif
