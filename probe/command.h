/* SPDX-License-Identifier: MIT */
/* The commands of actorprobe, one per file. */
#ifndef PROBE_COMMAND_H
#define PROBE_COMMAND_H

#include "probe/arguments.h"

/* Each runs its command to the end and returns the exit code; what went wrong is in `error`. */
int command_live(const struct arguments *a, struct error *error);
int command_hist(const struct arguments *a, struct error *error);
int command_export(const struct arguments *a, struct error *error);
int command_list(const struct arguments *a, struct error *error);
int command_record(const struct arguments *a, struct error *error);
int command_report(const struct arguments *a, struct error *error);
int command_diagnose(const struct arguments *a, struct error *error);
int command_doctor(const struct arguments *a, struct error *error);

#endif
