/* SPDX-License-Identifier: MIT */
/* What a configuration file says, checked. It is in the syntax of libconfig:
 *
 *   override = true;                             the file wins over the program
 *   actor      = { throughput = 16; };           messages per turn
 *   dispatcher = { default = "hybrid"; throughput = 16; hybrid_budget = 64; };
 *   class      = { NAME = { throughput = 4; dispatcher = "immediate"; }; };
 *   class      = ( { name = "any name"; dispatcher = { kind = "hybrid"; budget = 8; }; } );
 *   system     = { drain_ms = 2000; };
 *   log        = { level = "info"; };
 *   shutdown   = { phase_timeout_ms = 5000; };
 *
 * One table per group in configtree.c has the keys, what is allowed, and the sentence about it. */
#ifndef ACTOR_CONFIGDATA_H
#define ACTOR_CONFIGDATA_H

#include "actor.h"

#include <stdatomic.h>

#define ACTOR__UNSET ((int64_t)-1)

struct actor__config_class {
	int64_t throughput;
	int64_t dispatcher; /* enum actor_dispatcher_kind */
	int64_t budget;	    /* of the dispatcher */
	uint32_t line;
	_Atomic uint32_t used;	   /* an actor of this class was made */
	_Atomic uint32_t replaced; /* what the file replaced was logged */
	_Atomic uint32_t refused;  /* that its dispatcher cannot be used was logged */
	char name[ACTOR_NAME_BYTES + 1];
};

/* Each is ACTOR__UNSET if the file does not have it. */
struct actor__config {
	int64_t override; /* 0 or 1 */
	int64_t throughput;
	int64_t dispatcher; /* enum actor_dispatcher_kind */
	int64_t dispatcher_throughput;
	int64_t hybrid_budget;
	int64_t drain_ms;
	int64_t phase_timeout_ms;
	int64_t log_level; /* enum actor_log_level */
	uint32_t class_count;
	struct actor__config_class *classes; /* by name */
	char file[256];			     /* for sentences */
};

#endif
