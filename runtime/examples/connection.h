/* SPDX-License-Identifier: MIT */
/* One connection of the HTTP server, and what it knows of the server. It goes
 *
 *   READING -> HANDLING -> ANSWERING -> READING ...       as long as both sides keep it
 *                              `-> LINGERING -> CLOSING   reads on for a moment, so that the
 *                                                         answer is not lost to a reset
 *
 * and has one deadline, which the server's sweep enforces. */
#ifndef SHOP_CONNECTION_H
#define SHOP_CONNECTION_H

#include "http.h"

#include <http_parser.h>
#include <stdbool.h>

enum connection_state {
	READING,
	HANDLING,
	ANSWERING,
	LINGERING,
	CLOSING,
};

struct connection {
	uv_tcp_t tcp;
	uv_write_t write;
	uv_shutdown_t shutdown;
	struct http_server *server;
	unsigned int slot;
	enum connection_state state;
	uint64_t deadline_ms;
	uint64_t ticket; /* while HANDLING */
	http_parser parser;
	bool begun; /* the first byte of a request is there */
	bool complete;
	bool keep_alive;
	int refusal; /* HTTP status that a callback of the parser asks for */
	size_t path_bytes;
	size_t body_bytes;
	size_t in_bytes; /* read, not yet parsed */
	char path[HTTP_PATH_BYTES + 1];
	char body[HTTP_BODY_BYTES + 1];
	char in[4096];
	char out[512];
};

struct http_server {
	uv_tcp_t listener;
	uv_timer_t sweep;
	struct http_options options;
	int port;
	bool stopping;
	bool closing;
	unsigned int handles; /* listener, sweep, connections: the last one frees the server */
	uint64_t serial;
	struct connection **slots; /* options.connections */
};

/* Waits for the next request, of which a part may be here already. */
void connection_next(struct connection *c);

/* Writes the answer, and goes on to the next request or closes. */
void connection_answer(struct connection *c, int status, const char *text);

/* The deadline has passed. */
void connection_expire(struct connection *c);

/* Frees the connection later. More calls do nothing. */
void connection_close(struct connection *c);

/* One handle of the server less. */
void http_server_release(struct http_server *server);

#endif
