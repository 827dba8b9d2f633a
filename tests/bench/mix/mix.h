/* SPDX-License-Identifier: MIT */
/* What the parts of the mixed load share: a client that asks over HTTP, and what it saw. */
#ifndef MIX_H
#define MIX_H

#include <stdint.h>
#include <uv.h>

#define CLIENT_REQUESTS 10000 /* at most */

/* Filled by the client's thread, read when that has ended. */
struct client {
	int port;
	uint64_t pause_us; /* mean, between an answer and the next request */
	uint64_t duration_ms;
	uv_async_t *ended;    /* sent at the end */
	uint64_t count;	      /* answers */
	double *latencies_us; /* CLIENT_REQUESTS; sorted at the end, to be freed */
	int failed;	      /* -errno */
};

int client_start(struct client *client, uv_thread_t *thread);

/* Of what was seen; 0 if nothing was. */
double client_percentile(const struct client *client, double percent);

/* Ties the calling thread to a CPU, where there are as many. */
void mix_pin(int cpu);

#endif
