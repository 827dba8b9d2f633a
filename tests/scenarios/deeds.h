/* SPDX-License-Identifier: MIT */
/* What the handlers of a scenario do, and the threads that they need for it. */
#ifndef TESTS_DEEDS_H
#define TESTS_DEEDS_H

#include "tests/scenarios/scenario.h"

/* Starts the helper that answers reads, holds the mutex for those who hang in it, and `rivals`
 * threads that compete for this thread's CPU. */
void deeds_start(uint64_t end_ns, uint64_t rivals);

/* Does it; `end_ns` ends also what does not end by itself. */
void deed_do(enum scenario_deed deed, uint64_t work_ns, uint64_t end_ns);

#endif
