/* SPDX-License-Identifier: MIT */
/* Signals that end or change a run, as events of a descriptor. */
#ifndef PROBE_SIGNALS_H
#define PROBE_SIGNALS_H

#include "probe/error.h"

enum signals_event {
	SIGNALS_STOP = 1,   /* SIGINT, SIGTERM or SIGHUP */
	SIGNALS_RESIZE = 2, /* SIGWINCH */
};

/* Blocks them for this thread and all it starts; `fd` becomes readable. 0 or an error. */
int signals_open(int *fd, struct error *error);

/* What has come: bits of enum signals_event. */
unsigned int signals_read(int fd);

#endif
