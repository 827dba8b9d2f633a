/* SPDX-License-Identifier: MIT */
/* A small HTTP server that offers the pages of a table. */
#ifndef PROBE_SERVER_H
#define PROBE_SERVER_H

#include "probe/error.h"
#include "probe/number.h"
#include "probe/text.h"

/* Nobody may hold the server: a connection is cut after its deadline or SERVER_IDLE_SECONDS of
 * silence, a request with a body is refused unread, and the pages that are being read are bounded. */
#define SERVER_DEADLINE_MS     30000u
#define SERVER_IDLE_SECONDS    15u
#define SERVER_CONNECTIONS_MAX 256u
#define SERVER_REQUEST_BYTES   16384u
#define SERVER_PAGES_BYTES     (64u << 20)

struct server;

/* What a page may want to know of its request; headers are NULL where they are not given. */
struct server_request {
	const char *accept;
	const char *accept_encoding;
};

/* What a page answers; the body is freed by the server. */
struct server_answer {
	struct text body;
	const char *content_type;     /* set to plain text before the page is asked */
	const char *content_encoding; /* NULL = as it is */
};

/* Makes the answer, on the server's own thread, one call at a time. Returns 0, or an error code
 * with a sentence, which is then answered with status 503. */
typedef int server_page(void *context, const struct server_request *request,
	struct server_answer *answer, struct error *error);

struct server_route {
	const char *path;
	server_page *page;
};

/* Listens; nothing is answered before server_start(). 0 or an error: address in use, not ours. */
int server_open(struct server **out, const struct number_address *address, struct error *error);

/* Begins to answer GET and HEAD of the routes, which must stay, and of "/" with their names. 0 or
 * an error. */
int server_start(struct server *s, const struct server_route *routes, size_t count, void *context,
	struct error *error);

/* Within how long each request must be answered and its answer read (default SERVER_DEADLINE_MS);
 * before server_start(). */
void server_set_deadline(struct server *s, unsigned int deadline_ms);

/* "127.0.0.1:9464", "[::1]:9464" or "unix:PATH", the address it really listens on. */
const char *server_address(const struct server *s);

/* "http://127.0.0.1:9464" or "unix:PATH:": what a page's path is written behind. */
const char *server_url(const struct server *s);

/* Ends its threads, removes its socket from the file system and frees it. NULL is fine. */
void server_close(struct server *s);

#endif
