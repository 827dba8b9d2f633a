/* SPDX-License-Identifier: MIT */
/* A small HTTP server that offers one page of metrics. */
#ifndef PROBE_SERVER_H
#define PROBE_SERVER_H

#include "probe/error.h"
#include "probe/number.h"
#include "probe/text.h"

struct server;

/* Fills the page of /metrics, on the server's own thread, one call at a time. Returns 0, or an
 * error code with a sentence, which is then answered with status 503. */
typedef int server_page(void *context, struct text *page, struct error *error);

/* Listens; nothing is answered before server_start(). 0 or an error: address in use, not ours. */
int server_open(struct server **out, const struct number_address *address, struct error *error);

/* Begins to answer. 0 or an error. */
int server_start(struct server *s, server_page *page, void *context, const char *content_type,
	struct error *error);

/* "127.0.0.1:9464" or "[::1]:9464", the address it really listens on. */
const char *server_address(const struct server *s);

/* Ends its thread and frees it. NULL is fine. */
void server_close(struct server *s);

#endif
