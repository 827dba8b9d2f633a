/* SPDX-License-Identifier: MIT */
/* Pushes the metrics to a receiver of OTLP over HTTP, again and again, on a thread of its own.
 *
 * Values are cumulative, so that the newest state holds all that older ones did: while the receiver
 * is away nothing is kept but one request's memory, and the first one that arrives again has every
 * count. A receiver that is busy or away is asked again soon, then more and more seldom.
 */
#ifndef PROBE_PUSH_H
#define PROBE_PUSH_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/error.h"
#include "probe/text.h"

struct push;

/* Appends a whole request to `body`. 0 or an error. */
typedef int push_render(void *context, struct text *body, struct error *error);

/* Whether it is an address to push to: http or https, a host. */
bool push_is_url(const char *url);

/* Begins. `url` without a path gets /v1/metrics. 0 or an error; that nobody answers is none. */
int push_open(struct push **out, const char *url, uint64_t every_ns, push_render *render,
	void *context, struct error *error);

/* Pushes a last time, for at most two seconds, and ends. NULL is fine. */
void push_close(struct push *p);

/* How long to wait before attempt number `failures` + 1: doubles from a second to a minute, and
 * never less than the receiver asked for, up to five minutes. `chance` is any number: it spreads
 * those who failed together over a fifth of the time. */
uint64_t push_backoff_ns(unsigned int failures, uint64_t asked_seconds, uint32_t chance);

#endif
