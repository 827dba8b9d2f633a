/* SPDX-License-Identifier: MIT */
/* A small HTTP server that offers the pages of a table. */
#include "probe/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONNECTIONS_MAX	  64u
#define IDLE_SECONDS	  15u
#define REQUEST_BYTES_MAX 16384u
#define PLAIN_TEXT	  "text/plain; charset=utf-8"

struct server {
	int fd; /* until the daemon owns it */
	struct MHD_Daemon *daemon;
	const struct server_route *routes;
	size_t route_count;
	void *context;
	char address[INET6_ADDRSTRLEN + 16];
};

static void spell_address(const struct sockaddr_storage *socket, char *text, size_t size)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)socket;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)socket;
	char host[INET6_ADDRSTRLEN] = "?";

	if (socket->ss_family == AF_INET6) {
		inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof(host));
		snprintf(text, size, "[%s]:%u", host, ntohs(v6->sin6_port));
	} else {
		inet_ntop(AF_INET, &v4->sin_addr, host, sizeof(host));
		snprintf(text, size, "%s:%u", host, ntohs(v4->sin_port));
	}
}

static int refuse(int code, const char *address, struct error *error)
{
	switch (code) {
	case EADDRINUSE:
		return error_set(error, EXIT_USAGE,
			"address %s is in use; choose another one with --listen ADDR:PORT",
			address);
	case EADDRNOTAVAIL:
	case EAFNOSUPPORT:
		return error_set(error, EXIT_USAGE,
			"no interface of this host has the address %s; choose one that `ip "
			"address` "
			"prints",
			address);
	case EACCES:
		return error_set(error, EXIT_PERMISSION,
			"port of %s needs CAP_NET_BIND_SERVICE; choose one above 1023", address);
	default:
		return error_set(error, EXIT_USAGE,
			"cannot listen on %s (%s); choose another address with --listen", address,
			strerror(code));
	}
}

/* Binds, listens and learns the port; -1 with errno set. */
static int listen_on(struct server *s, const struct number_address *address)
{
	struct sockaddr_storage bound = {0};
	socklen_t bytes = sizeof(bound);
	int yes = 1;

	s->fd = socket(address->socket.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->fd < 0)
		return -1;
	setsockopt(s->fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (address->socket.ss_family == AF_INET6)
		setsockopt(s->fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof(yes));
	if (bind(s->fd, (const struct sockaddr *)&address->socket, address->bytes) ||
		listen(s->fd, (int)CONNECTIONS_MAX) ||
		getsockname(s->fd, (struct sockaddr *)&bound, &bytes))
		return -1;
	spell_address(&bound, s->address, sizeof(s->address));
	return 0;
}

int server_open(struct server **out, const struct number_address *address, struct error *error)
{
	struct server *s = calloc(1, sizeof(*s));
	int code;

	*out = NULL;
	if (!s)
		return error_set(error, EXIT_USAGE, "out of memory; free some");
	spell_address(&address->socket, s->address, sizeof(s->address));
	if (listen_on(s, address)) {
		code = refuse(errno, s->address, error);
		server_close(s);
		return code;
	}
	*out = s;
	return 0;
}

const char *server_address(const struct server *s)
{
	return s->address;
}

/* ---- answers ---- */

static enum MHD_Result respond(
	struct MHD_Connection *connection, unsigned int status, const struct server_answer *answer)
{
	const struct text *body = &answer->body;
	struct MHD_Response *response = MHD_create_response_from_buffer(
		body->used, body->bytes ? body->bytes : (char *)"", MHD_RESPMEM_MUST_COPY);
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer->content_type);
	if (answer->content_encoding)
		MHD_add_response_header(
			response, MHD_HTTP_HEADER_CONTENT_ENCODING, answer->content_encoding);
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result respond_text(
	struct MHD_Connection *connection, unsigned int status, const char *text)
{
	const struct server_answer answer = {
		.body = {.bytes = (char *)text, .used = strlen(text)}, .content_type = PLAIN_TEXT};

	return respond(connection, status, &answer);
}

static enum MHD_Result respond_page(
	struct server *s, struct MHD_Connection *connection, server_page *page)
{
	const struct server_request request = {
		.accept = MHD_lookup_connection_value(
			connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT),
		.accept_encoding = MHD_lookup_connection_value(
			connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT_ENCODING),
	};
	struct server_answer answer = {.content_type = PLAIN_TEXT};
	struct error error = {0};
	enum MHD_Result result;

	if (page(s->context, &request, &answer, &error) || answer.body.failed) {
		strncat(error.text, answer.body.failed ? "out of memory\n" : "\n",
			sizeof(error.text) - strlen(error.text) - 1);
		result = respond_text(connection, MHD_HTTP_SERVICE_UNAVAILABLE, error.text);
	} else {
		result = respond(connection, MHD_HTTP_OK, &answer);
	}
	text_fini(&answer.body);
	return result;
}

/* All paths there are: the page of "/", and what a wrong path is told. */
static enum MHD_Result respond_paths(const struct server *s, struct MHD_Connection *connection,
	unsigned int status, const char *before)
{
	struct server_answer answer = {.content_type = PLAIN_TEXT};
	enum MHD_Result result;

	text_add(&answer.body, "%s", before);
	for (size_t i = 0; i < s->route_count; i++)
		text_add(&answer.body, "%s%s", i ? ", " : "", s->routes[i].path);
	text_add(&answer.body, "\n");
	result = respond(connection, status, &answer);
	text_fini(&answer.body);
	return result;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
	const char *method, const char *version, const char *upload, size_t *upload_bytes,
	void **state)
{
	struct server *s = context;
	static int seen;

	/* First call: only the header is here; a body, if any, is read and ignored. */
	if (!*state) {
		*state = &seen;
		return MHD_YES;
	}
	if (*upload_bytes) {
		*upload_bytes = 0;
		return MHD_YES;
	}
	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
		return respond_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
			"only GET and HEAD are answered\n");
	for (size_t i = 0; i < s->route_count; i++)
		if (strcmp(url, s->routes[i].path) == 0)
			return respond_page(s, connection, s->routes[i].page);
	if (strcmp(url, "/") == 0)
		return respond_paths(s, connection, MHD_HTTP_OK, "actorprobe: see ");
	return respond_paths(s, connection, MHD_HTTP_NOT_FOUND, "not found; there are ");
}

/* Requests that are not HTTP get an answer from the library; nobody needs to read about them. */
static void be_silent(void *context, const char *format, va_list arguments)
{
}

int server_start(struct server *s, const struct server_route *routes, size_t count, void *context,
	struct error *error)
{
	s->routes = routes;
	s->route_count = count;
	s->context = context;
	s->daemon = MHD_start_daemon(MHD_USE_AUTO_INTERNAL_THREAD | MHD_USE_ERROR_LOG, 0, NULL,
		NULL, on_request, s, MHD_OPTION_EXTERNAL_LOGGER, be_silent, NULL,
		MHD_OPTION_LISTEN_SOCKET, s->fd, MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX,
		MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)REQUEST_BYTES_MAX, MHD_OPTION_END);
	if (!s->daemon)
		return error_set(error, EXIT_KERNEL,
			"the HTTP server does not start (%s); raise the limit with ulimit -n",
			strerror(errno));
	s->fd = -1;
	return 0;
}

void server_close(struct server *s)
{
	if (!s)
		return;
	if (s->daemon)
		MHD_stop_daemon(s->daemon);
	if (s->fd >= 0)
		close(s->fd);
	free(s);
}
