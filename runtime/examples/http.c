/* SPDX-License-Identifier: MIT */
/* A small HTTP server: listening, the table of connections, the sweep over their deadlines. */
#include "http.h"

#include "connection.h"

#include <stdlib.h>

#define HEADER_BYTES 8192
#define BACKLOG	     128
#define SWEEP_MS     50

struct http_server {
	uv_tcp_t listener;
	uv_timer_t sweep;
	struct http_options options;
	struct connections all;
	int port;
	bool closing;
	unsigned int handles; /* listener, sweep, connections: the last one frees the server */
	uint64_t serial;
	struct connection **slots; /* options.connections */
};

_Static_assert(HTTP_TEXT_BYTES == CONNECTION_TEXT_BYTES, "an answer fits into a connection");

static void server_release(struct http_server *server)
{
	if (--server->handles)
		return;
	free(server->slots);
	free(server);
}

static void on_server_closed(uv_handle_t *handle)
{
	server_release(handle->data);
}

static void on_connection_closed(struct connection *c)
{
	struct http_server *server = c->all->data;

	if (server->slots[c->slot] == c)
		server->slots[c->slot] = NULL;
	server_release(server);
}

static void on_request(struct connection *c)
{
	struct http_server *server = c->all->data;
	struct http_request request = {
		.ticket = ++server->serial << 16 | c->slot,
		.method = http_method_str((enum http_method)c->parser.method),
		.path = c->path,
		.body = c->body,
	};

	c->ticket = request.ticket;
	server->options.on_request(server->options.data, &request);
}

void http_answer(struct http_server *server, uint64_t ticket, int status, const char *text)
{
	struct connection *c = server->slots[(ticket & UINT16_MAX) % server->options.connections];

	if (ticket && c && c->state == HANDLING && c->ticket == ticket)
		connection_answer(c, status, text);
}

static void on_connection(uv_stream_t *listener, int status)
{
	static char text[] = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n"
			     "Connection: close\r\n\r\n";
	const uv_buf_t full = uv_buf_init(text, sizeof(text) - 1);
	struct http_server *server = listener->data;
	struct connection *c = status < 0 ? NULL : calloc(1, sizeof(*c));

	if (!c)
		return;
	c->all = &server->all;
	connection_init(c, listener->loop);
	server->handles++;
	while (c->slot < server->options.connections && server->slots[c->slot])
		c->slot++;
	if (c->slot == server->options.connections) {
		c->slot = 0; /* another one's: only its owner clears it */
		if (uv_accept(listener, (uv_stream_t *)&c->tcp) == 0)
			uv_try_write((uv_stream_t *)&c->tcp, &full, 1);
		connection_close(c);
		return;
	}
	server->slots[c->slot] = c;
	if (uv_accept(listener, (uv_stream_t *)&c->tcp))
		connection_close(c);
	else
		connection_next(c);
}

static void on_sweep(uv_timer_t *sweep)
{
	struct http_server *server = sweep->data;
	uint64_t now = uv_now(sweep->loop);

	for (unsigned int i = 0; i < server->options.connections; i++)
		if (server->slots[i] && server->slots[i]->deadline_ms <= now)
			connection_expire(server->slots[i]);
}

static int server_listen(struct http_server *server)
{
	struct sockaddr_in address;
	int length = sizeof(address);
	int rc = uv_ip4_addr("127.0.0.1", server->options.port, &address);

	if (!rc)
		rc = uv_tcp_bind(&server->listener, (struct sockaddr *)&address, 0);
	if (!rc)
		rc = uv_listen((uv_stream_t *)&server->listener, BACKLOG, on_connection);
	if (!rc)
		rc = uv_tcp_getsockname(&server->listener, (struct sockaddr *)&address, &length);
	server->port = ntohs(address.sin_port);
	return rc;
}

int http_server_open(struct http_server **out, uv_loop_t *loop, const struct http_options *options)
{
	struct http_server *server = calloc(1, sizeof(*server));
	int rc;

	if (server)
		server->slots = calloc(options->connections, sizeof(server->slots[0]));
	if (!server || !server->slots) {
		free(server);
		return UV_ENOMEM;
	}
	server->options = *options;
	server->all = (struct connections){.idle_ms = options->idle_ms,
		.on_request = on_request,
		.on_closed = on_connection_closed,
		.data = server};
	server->handles = 2;
	http_parser_set_max_header_size(HEADER_BYTES);
	uv_tcp_init(loop, &server->listener);
	uv_timer_init(loop, &server->sweep);
	server->listener.data = server;
	server->sweep.data = server;
	rc = server_listen(server);
	if (rc) {
		http_server_close(server);
		return rc;
	}
	uv_timer_start(&server->sweep, on_sweep, SWEEP_MS, SWEEP_MS);
	*out = server;
	return 0;
}

int http_server_port(const struct http_server *server)
{
	return server->port;
}

void http_server_stop(struct http_server *server)
{
	if (server->all.stopping)
		return;
	server->all.stopping = true;
	uv_close((uv_handle_t *)&server->listener, on_server_closed);
	for (unsigned int i = 0; i < server->options.connections; i++)
		if (server->slots[i] && server->slots[i]->state == READING)
			connection_close(server->slots[i]);
}

void http_server_close(struct http_server *server)
{
	if (server->closing)
		return;
	server->closing = true;
	http_server_stop(server);
	uv_close((uv_handle_t *)&server->sweep, on_server_closed);
	for (unsigned int i = 0; i < server->options.connections; i++)
		if (server->slots[i])
			connection_close(server->slots[i]);
}
