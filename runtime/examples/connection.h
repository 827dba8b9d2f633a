/* SPDX-License-Identifier: MIT */
/* One connection of the HTTP server. It goes
 *
 *   READING -> HANDLING -> ANSWERING -> READING ...       as long as both sides keep it
 *                              `-> LINGERING -> CLOSING   reads on for a moment, so that the
 *                                                         answer is not lost to a reset
 *
 * and has one deadline, which the server's sweep enforces. */
#ifndef SHOP_CONNECTION_H
#define SHOP_CONNECTION_H

#include <http_parser.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#define CONNECTION_PATH_BYTES 255
#define CONNECTION_BODY_BYTES 64  /* of a request */
#define CONNECTION_TEXT_BYTES 200 /* of an answer */

enum connection_state {
	READING,
	HANDLING,
	ANSWERING,
	LINGERING,
	CLOSING,
};

struct connection;

/* What all connections of a server share. */
struct connections {
	uint64_t idle_ms; /* for a client to send a request */
	bool stopping;	  /* answers close the connection, requests are refused */
	/* A request is complete: answer it now or later, by connection_answer(). */
	void (*on_request)(struct connection *c);
	/* Last thing before the memory goes. */
	void (*on_closed)(struct connection *c);
	void *data;
};

struct connection {
	uv_tcp_t tcp;
	uv_write_t write;
	uv_shutdown_t shutdown;
	struct connections *all;
	unsigned int slot; /* the server's */
	enum connection_state state;
	uint64_t deadline_ms;
	uint64_t ticket; /* the server's; 0 unless HANDLING */
	http_parser parser;
	bool begun; /* the first byte of a request is there */
	bool complete;
	bool keep_alive;
	int refusal; /* HTTP status that a callback of the parser asks for */
	size_t path_bytes;
	size_t body_bytes;
	size_t in_bytes; /* read, not yet parsed */
	char path[CONNECTION_PATH_BYTES + 1];
	char body[CONNECTION_BODY_BYTES + 1];
	char in[4096];
	char out[512];
};

/* Begins. `c` is zeroed but for `all` and `slot`, and comes from malloc(). */
void connection_init(struct connection *c, uv_loop_t *loop);

/* Waits for the next request, of which a part may be here already. */
void connection_next(struct connection *c);

/* Writes the answer, and goes on to the next request or closes. */
void connection_answer(struct connection *c, int status, const char *text);

/* The deadline has passed. */
void connection_expire(struct connection *c);

/* Frees the connection later. More calls do nothing. */
void connection_close(struct connection *c);

#endif
