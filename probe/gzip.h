/* SPDX-License-Identifier: MIT */
/* Compresses a piece of text for HTTP. */
#ifndef PROBE_GZIP_H
#define PROBE_GZIP_H

#include "probe/text.h"

/* Appends `from` as one gzip member to `to`. 0, or -ENOMEM, also if `from` is incomplete. */
int gzip_add(struct text *to, const struct text *from);

#endif
