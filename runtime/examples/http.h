/* SPDX-License-Identifier: MIT */
/* A small HTTP/1.1 server on 127.0.0.1, for one libuv loop; all calls on its thread.
 *
 * One request at a time is read from each connection; reading goes on when it was answered. Header
 * (8 KiB), path, body, number of connections and every wait are bounded. */
#ifndef SHOP_HTTP_H
#define SHOP_HTTP_H

#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#define HTTP_TEXT_BYTES 200 /* of an answer */

struct http_server;

struct http_request {
	uint64_t ticket; /* names the request to http_answer(); never used again */
	const char *method;
	const char *path;
	const char *body;
};

struct http_options {
	int port; /* 0 = any free one */
	unsigned int connections;
	uint64_t idle_ms; /* for a client to send a request */
	void (*on_request)(void *data, const struct http_request *request);
	void *data;
};

/* Listens. 0, or a libuv code. */
int http_server_open(struct http_server **out, uv_loop_t *loop, const struct http_options *options);

int http_server_port(const struct http_server *server);

/* Answers a request with `text` (JSON). A ticket that is answered, closed or 0 is ignored. */
void http_answer(struct http_server *server, uint64_t ticket, int status, const char *text);

/* Accepts nothing new; what is being handled may still be answered. */
void http_server_stop(struct http_server *server);

/* Closes everything; the memory goes when the loop has closed the handles. */
void http_server_close(struct http_server *server);

#endif
