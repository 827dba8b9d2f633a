/* SPDX-License-Identifier: MIT */
/* One HTTP connection: reading, parsing, answering, closing. */
#include "connection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HANDLING_MS  10000
#define ANSWERING_MS 5000
#define LINGERING_MS 500

static uint64_t after_ms(const struct connection *c, uint64_t ms)
{
	return uv_now(c->tcp.loop) + ms;
}

/* ---- closing ---- */

static void on_closed(uv_handle_t *handle)
{
	struct connection *c = handle->data;

	c->all->on_closed(c);
	free(c);
}

void connection_close(struct connection *c)
{
	if (c->state == CLOSING)
		return;
	c->state = CLOSING;
	uv_close((uv_handle_t *)&c->tcp, on_closed);
}

/* ---- answering ---- */

static void connection_read(struct connection *c);

static void on_shut(uv_shutdown_t *shutdown, int status)
{
	struct connection *c = shutdown->data;

	if (status < 0)
		connection_close(c);
}

static void connection_linger(struct connection *c)
{
	c->state = LINGERING;
	c->deadline_ms = after_ms(c, LINGERING_MS);
	c->in_bytes = 0;
	c->shutdown.data = c;
	if (uv_shutdown(&c->shutdown, (uv_stream_t *)&c->tcp, on_shut))
		connection_close(c);
	else
		connection_read(c);
}

static void on_written(uv_write_t *write, int status)
{
	struct connection *c = write->data;

	if (c->state == CLOSING)
		return;
	if (status < 0)
		connection_close(c);
	else if (c->keep_alive && !c->all->stopping)
		connection_next(c);
	else
		connection_linger(c);
}

void connection_answer(struct connection *c, int status, const char *text)
{
	bool bodiless = c->complete && c->parser.method == HTTP_HEAD;
	size_t length = strnlen(text, CONNECTION_TEXT_BYTES);
	int bytes;
	uv_buf_t buffer;

	if (c->all->stopping)
		c->keep_alive = false;
	bytes = snprintf(c->out, sizeof(c->out),
		"HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
		"Connection: %s\r\n%s\r\n%.*s",
		status, http_status_str((enum http_status)status), length,
		c->keep_alive ? "keep-alive" : "close",
		status == HTTP_STATUS_METHOD_NOT_ALLOWED ? "Allow: GET, POST\r\n" : "",
		bodiless ? 0 : (int)length, text);
	buffer = uv_buf_init(c->out, (unsigned int)bytes);
	c->ticket = 0;
	c->state = ANSWERING;
	c->deadline_ms = after_ms(c, ANSWERING_MS);
	c->write.data = c;
	uv_read_stop((uv_stream_t *)&c->tcp);
	if (uv_write(&c->write, (uv_stream_t *)&c->tcp, &buffer, 1, on_written))
		connection_close(c);
}

/* Answers something that is no good request, and closes. */
static void connection_refuse(struct connection *c, int status)
{
	char text[CONNECTION_TEXT_BYTES + 1];

	snprintf(text, sizeof(text), "{\"error\":\"%s\"}\n",
		http_status_str((enum http_status)status));
	c->keep_alive = false;
	connection_answer(c, status, text);
}

/* ---- parsing ---- */

static int on_begin(http_parser *parser)
{
	struct connection *c = parser->data;

	c->begun = true;
	c->path_bytes = 0;
	c->body_bytes = 0;
	c->deadline_ms = after_ms(c, c->all->idle_ms);
	return 0;
}

static int append(char *to, size_t *bytes, size_t room, const char *from, size_t length)
{
	if (length > room - *bytes)
		return -1;
	memcpy(to + *bytes, from, length);
	*bytes += length;
	to[*bytes] = '\0';
	return 0;
}

static int on_url(http_parser *parser, const char *at, size_t length)
{
	struct connection *c = parser->data;

	if (append(c->path, &c->path_bytes, CONNECTION_PATH_BYTES, at, length) == 0)
		return 0;
	c->refusal = HTTP_STATUS_URI_TOO_LONG;
	return -1;
}

static int on_headers(http_parser *parser)
{
	struct connection *c = parser->data;

	parser->upgrade = 0; /* an offer that is not taken */
	if (parser->http_major == 1)
		return 0;
	c->refusal = HTTP_STATUS_HTTP_VERSION_NOT_SUPPORTED;
	return -1;
}

static int on_body(http_parser *parser, const char *at, size_t length)
{
	struct connection *c = parser->data;

	if (append(c->body, &c->body_bytes, CONNECTION_BODY_BYTES, at, length) == 0)
		return 0;
	c->refusal = HTTP_STATUS_PAYLOAD_TOO_LARGE;
	return -1;
}

static int on_complete(http_parser *parser)
{
	struct connection *c = parser->data;

	c->complete = true;
	c->keep_alive = http_should_keep_alive(parser);
	http_parser_pause(parser, 1); /* one request at a time */
	return 0;
}

static const http_parser_settings settings = {
	.on_message_begin = on_begin,
	.on_url = on_url,
	.on_headers_complete = on_headers,
	.on_body = on_body,
	.on_message_complete = on_complete,
};

static void connection_handle(struct connection *c)
{
	c->path[c->path_bytes] = '\0';
	c->body[c->body_bytes] = '\0';
	uv_read_stop((uv_stream_t *)&c->tcp);
	if (c->all->stopping) {
		connection_refuse(c, HTTP_STATUS_SERVICE_UNAVAILABLE);
		return;
	}
	c->state = HANDLING;
	c->deadline_ms = after_ms(c, HANDLING_MS);
	c->all->on_request(c);
}

static void connection_parse(struct connection *c)
{
	size_t used = http_parser_execute(&c->parser, &settings, c->in, c->in_bytes);

	if (c->complete) {
		c->in_bytes -= used;
		memmove(c->in, c->in + used, c->in_bytes);
		http_parser_pause(&c->parser, 0);
		connection_handle(c);
		return;
	}
	c->in_bytes = 0;
	if (c->parser.http_errno == HPE_HEADER_OVERFLOW)
		c->refusal = HTTP_STATUS_REQUEST_HEADER_FIELDS_TOO_LARGE;
	else if (c->parser.http_errno && !c->refusal)
		c->refusal = HTTP_STATUS_BAD_REQUEST;
	if (c->refusal)
		connection_refuse(c, c->refusal);
}

/* ---- reading ---- */

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
	struct connection *c = handle->data;

	*buffer = uv_buf_init(c->in + c->in_bytes, (unsigned int)(sizeof(c->in) - c->in_bytes));
}

static void on_read(uv_stream_t *stream, ssize_t bytes, const uv_buf_t *buffer)
{
	struct connection *c = stream->data;

	if (bytes < 0) {
		connection_close(c);
	} else if (c->state == READING && bytes) {
		c->in_bytes += (size_t)bytes;
		connection_parse(c);
	}
}

static void connection_read(struct connection *c)
{
	if (uv_read_start((uv_stream_t *)&c->tcp, on_room, on_read))
		connection_close(c);
}

void connection_next(struct connection *c)
{
	c->state = READING;
	c->begun = false;
	c->complete = false;
	c->keep_alive = false;
	c->deadline_ms = after_ms(c, c->all->idle_ms);
	if (c->in_bytes)
		connection_parse(c);
	if (c->state == READING)
		connection_read(c);
}

void connection_init(struct connection *c, uv_loop_t *loop)
{
	uv_tcp_init(loop, &c->tcp);
	c->tcp.data = c;
	http_parser_init(&c->parser, HTTP_REQUEST);
	c->parser.data = c;
}

void connection_expire(struct connection *c)
{
	if (c->state == READING && c->begun)
		connection_refuse(c, HTTP_STATUS_REQUEST_TIMEOUT);
	else if (c->state == HANDLING)
		connection_refuse(c, HTTP_STATUS_GATEWAY_TIMEOUT);
	else
		connection_close(c);
}
