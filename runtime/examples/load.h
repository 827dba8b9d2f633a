/* SPDX-License-Identifier: MIT */
/* A load generator: HTTP requests at random times over loopback, from a thread of its own. */
#ifndef SHOP_LOAD_H
#define SHOP_LOAD_H

#include <stdint.h>

struct load;

struct load_result {
	uint64_t answered;
	uint64_t failed;  /* no answer, or another status than 200 */
	uint64_t skipped; /* not sent, because all connections were waiting */
};

/* Starts `rate` requests per second to 127.0.0.1:`port`, for products below `products`.
 * 0, or a libuv code. */
int load_open(struct load **out, int port, uint64_t rate, uint32_t products);

/* Ends the thread and frees the load. NULL is fine. */
void load_close(struct load *load, struct load_result *result);

#endif
