/* SPDX-License-Identifier: MIT */
/* Which mailboxes of the target are long now, and how long their oldest messages have waited. */
#ifndef PROBE_DEEPWATCH_H
#define PROBE_DEEPWATCH_H

#include "probe/aggregate.h"
#include "probe/calibration.h"
#include "probe/directory.h"

#define DEEPWATCH_LEAST 10000u /* messages; the root has no entries below */

/* Adds the deep mailboxes of the directory whose actors are still there to `a`. 0 or -ENOMEM. */
int deepwatch_fill(const struct directory *d, struct remote *remote,
	const struct calibration *calibration, struct aggregate *a);

#endif
