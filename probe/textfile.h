/* SPDX-License-Identifier: MIT */
/* A file of metrics in a directory that node_exporter's textfile collector reads. */
#ifndef PROBE_TEXTFILE_H
#define PROBE_TEXTFILE_H

#include "probe/error.h"
#include "probe/text.h"

#define TEXTFILE_NAME "actorprobe.prom"

struct textfile;

/* The directory must be there. 0 or an error. */
int textfile_open(struct textfile **out, const char *directory, struct error *error);

/* Replaces the file in one step: a reader sees the old one or the new one, whole. 0 or an error,
 * then the old one stays. */
int textfile_write(struct textfile *f, const struct text *page, struct error *error);

/* Removes the file: what nobody measures any more shall not look alive. NULL is fine. */
void textfile_close(struct textfile *f);

#endif
