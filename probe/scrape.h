/* SPDX-License-Identifier: MIT */
/* One look at everything that is exported, for whichever way it goes out. */
#ifndef PROBE_SCRAPE_H
#define PROBE_SCRAPE_H

#include "probe/fleet.h"
#include "probe/snapshot.h"

struct scrape {
	struct snapshot snapshot; /* borrows the two below */
	struct fleet_view view;
	struct snapshot_self self;
};

/* Looks. 0 or an error, then there is nothing to close. Any thread. */
int scrape_open(struct scrape *s, struct fleet *fleet, struct error *error);

/* A zeroed one is fine. */
void scrape_close(struct scrape *s);

#endif
