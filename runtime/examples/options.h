/* SPDX-License-Identifier: MIT */
/* The shop's command line. */
#ifndef SHOP_OPTIONS_H
#define SHOP_OPTIONS_H

#include <actor.h>
#include <stdbool.h>
#include <stdint.h>

struct options {
	int64_t port; /* 0 = any free one */
	int64_t connections;
	int64_t idle_ms; /* how long a client may take to send a request */

	enum actor_dispatcher_kind dispatcher;
	int64_t budget;	    /* of the dispatcher; 0 = its default */
	int64_t throughput; /* messages per turn; 0 = the runtime's default */
	int64_t loops;	    /* beside the one that serves HTTP */

	int64_t pricing_us; /* work for one quote */
	int64_t pricing_throughput;
	enum actor_dispatcher_kind pricing_dispatcher; /* 0 = the same as all */
	bool pricing_loop;

	int64_t import_us; /* work for one row */
	int64_t import_rows;
	int64_t import_every_ms; /* 0 = only when asked to */
	int64_t importer_throughput;

	int64_t load; /* requests per second that the shop makes itself */
	int64_t duration_s;
	bool quiet;
};

/* Fills `options` from the command line. Says one sentence and exits with 1 if it is not usable. */
void options_parse(struct options *options, int argc, char **argv);

#endif
