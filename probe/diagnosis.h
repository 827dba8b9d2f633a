/* SPDX-License-Identifier: MIT */
/* Puts the evidence of one observation together: from the stream, the root and the kernel. */
#ifndef PROBE_DIAGNOSIS_H
#define PROBE_DIAGNOSIS_H

#include "probe/aggregate.h"
#include "probe/error.h"
#include "probe/evidence.h"

struct diagnosis;

/* NULL without memory. The tap goes into the options of the session. */
struct diagnosis *diagnosis_new(void);
struct session_tap diagnosis_tap(struct diagnosis *d);

/* The observation begins: notes what its loops' threads have used so far, and asks the kernel to
 * tell what becomes of them. 0 or an error. */
int diagnosis_begin(struct diagnosis *d, struct session *s, pid_t pid, struct error *error);

/* Called now and then, so that of a target that ends something is known. */
void diagnosis_look(struct diagnosis *d);

/* Ends the session's observation and fills `e`, which must be zeroed. 0 or an error. */
int diagnosis_end(
	struct diagnosis *d, struct session *s, struct evidence *e, struct error *error);

/* NULL is fine. */
void diagnosis_free(struct diagnosis *d);

#endif
