/* SPDX-License-Identifier: MIT */
/* The processes that an exporter observes, from its start to its end.
 *
 * One thread opens, waits and closes; any thread may look. What a process counted is told under the
 * label `process` if there are several, see crew.h, and stays for a time to live after its end.
 */
#ifndef PROBE_FLEET_H
#define PROBE_FLEET_H

#include "probe/arguments.h"
#include "probe/crew.h"
#include "probe/snapshot.h"

struct fleet;

/* One look: plain data that belongs to whoever looked. */
struct fleet_view {
	struct snapshot_part *parts; /* by name */
	struct aggregate *aggregates;
	size_t count;
};

/* Attaches to all that the arguments name, and turns signals into an end of fleet_wait(). 0 or an
 * error. */
int fleet_open(struct fleet **out, const struct arguments *a, struct error *error);

/* Observes until a signal or the end of the duration. */
void fleet_wait(struct fleet *f);

/* Reads everything. 0 or an error, then there is nothing to free. */
int fleet_look(struct fleet *f, struct fleet_view *view, struct error *error);

/* A zeroed one is fine. */
void fleet_view_fini(struct fleet_view *view);

/* Is everything that was asked for observed, or was it? */
bool fleet_ready(struct fleet *f);

/* "process 181", "3 processes": what is observed, for people. */
void fleet_describe(struct fleet *f, char *text, size_t bytes);

/* Detaches. NULL is fine. */
void fleet_close(struct fleet *f);

#endif
