/* SPDX-License-Identifier: MIT */
/* A small HTTP server that offers the pages of a table. */
#include "probe/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "probe/visitors.h"

#define PLAIN_TEXT	  "text/plain; charset=utf-8"

struct server {
	int fd; /* until the daemon owns it */
	struct MHD_Daemon *daemon;
	const struct server_route *routes;
	size_t route_count;
	void *context;
	struct visitors *visitors;
	unsigned int deadline_ms;
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)]; /* "" = not of the file system */
	char address[160];
	char url[176];
};

static void spell_address(const struct sockaddr_storage *socket, char *text, size_t size)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)socket;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)socket;
	char host[INET6_ADDRSTRLEN] = "?";

	if (socket->ss_family == AF_UNIX) {
		snprintf(text, size, "unix:%s", ((const struct sockaddr_un *)socket)->sun_path);
	} else if (socket->ss_family == AF_INET6) {
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

/* Removes the socket of a server that is not there any more; nothing else. */
static void remove_stale(const struct number_address *address)
{
	const struct sockaddr_un *un = (const struct sockaddr_un *)&address->socket;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct stat st;

	if (fd >= 0 && lstat(un->sun_path, &st) == 0 && S_ISSOCK(st.st_mode) &&
		connect(fd, (const struct sockaddr *)un, address->bytes) < 0 &&
		errno == ECONNREFUSED)
		unlink(un->sun_path);
	if (fd >= 0)
		close(fd);
}

/* Binds, listens and learns the port; -1 with errno set. */
static int listen_on(struct server *s, const struct number_address *address)
{
	struct sockaddr_storage bound = {0};
	socklen_t bytes = sizeof(bound);
	int yes = 1;

	if (address->socket.ss_family == AF_UNIX)
		remove_stale(address);
	s->fd = socket(address->socket.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->fd < 0)
		return -1;
	setsockopt(s->fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (address->socket.ss_family == AF_INET6)
		setsockopt(s->fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof(yes));
	if (bind(s->fd, (const struct sockaddr *)&address->socket, address->bytes))
		return -1;
	if (address->socket.ss_family == AF_UNIX)
		strcpy(s->path, ((const struct sockaddr_un *)&address->socket)->sun_path);
	if (listen(s->fd, (int)SERVER_CONNECTIONS_MAX) ||
		getsockname(s->fd, (struct sockaddr *)&bound, &bytes))
		return -1;
	spell_address(&bound, s->address, sizeof(s->address));
	snprintf(s->url, sizeof(s->url), *s->path ? "%s:" : "http://%s", s->address);
	return 0;
}

int server_open(struct server **out, const struct number_address *address, struct error *error)
{
	struct server *s = calloc(1, sizeof(*s));
	int code;

	*out = NULL;
	if (!s)
		return error_set(error, EXIT_USAGE, "out of memory; free some");
	s->fd = -1;
	s->deadline_ms = SERVER_DEADLINE_MS;
	spell_address(&address->socket, s->address, sizeof(s->address));
	if (listen_on(s, address)) {
		code = refuse(errno, s->address, error);
		server_close(s);
		return code;
	}
	*out = s;
	return 0;
}

void server_set_deadline(struct server *s, unsigned int deadline_ms)
{
	s->deadline_ms = deadline_ms;
}

const char *server_address(const struct server *s)
{
	return s->address;
}

const char *server_url(const struct server *s)
{
	return s->url;
}

/* ---- answers ---- */

/* Sends the answer, whose body it takes over. */
static enum MHD_Result respond(
	struct MHD_Connection *connection, unsigned int status, struct server_answer *answer)
{
	struct text *body = &answer->body;
	struct MHD_Response *response = MHD_create_response_from_buffer(body->used,
		body->bytes ? body->bytes : (char *)"",
		body->bytes ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	*body = (struct text){0};
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
	struct server_answer answer = {.content_type = PLAIN_TEXT};
	enum MHD_Result result;

	text_add(&answer.body, "%s", text);
	result = respond(connection, status, &answer);
	text_fini(&answer.body);
	return result;
}

static struct visitor *visitor_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
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
	} else if (!visitors_serve(s->visitors, visitor_of(connection), answer.body.used)) {
		result = respond_text(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
			"too many pages are being read slowly; ask again later\n");
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

static bool is_get(const char *method)
{
	return strcmp(method, MHD_HTTP_METHOD_GET) == 0 ||
	       strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
}

static bool has_body(struct MHD_Connection *connection)
{
	const char *length = MHD_lookup_connection_value(
		connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);

	return (length && strcmp(length, "0")) ||
	       MHD_lookup_connection_value(
		       connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_TRANSFER_ENCODING);
}

static enum MHD_Result respond_to(
	struct server *s, struct MHD_Connection *connection, const char *url)
{
	for (size_t i = 0; i < s->route_count; i++)
		if (strcmp(url, s->routes[i].path) == 0)
			return respond_page(s, connection, s->routes[i].page);
	if (strcmp(url, "/") == 0)
		return respond_paths(s, connection, MHD_HTTP_OK, "actorprobe: see ");
	return respond_paths(s, connection, MHD_HTTP_NOT_FOUND, "not found; there are ");
}

/* What is refused is refused at the first call, when only the header is here: the library then ends
 * the connection, and a body is never read. */
static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
	const char *method, const char *version, const char *upload, size_t *upload_bytes,
	void **state)
{
	static int seen;

	if (*state)
		return respond_to(context, connection, url);
	*state = &seen;
	if (!is_get(method))
		return respond_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
			"only GET and HEAD are answered\n");
	if (has_body(connection))
		return respond_text(connection, MHD_HTTP_CONTENT_TOO_LARGE,
			"a request with a body is not read; send none\n");
	return MHD_YES;
}

static void on_connection(void *context, struct MHD_Connection *connection, void **visitor,
	enum MHD_ConnectionNotificationCode code)
{
	struct server *s = context;
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	if (code == MHD_CONNECTION_NOTIFY_STARTED && info)
		*visitor = visitors_enter(s->visitors, info->connect_fd);
	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		visitors_leave(s->visitors, *visitor);
		*visitor = NULL;
	}
}

static void on_completion(void *context, struct MHD_Connection *connection, void **state,
	enum MHD_RequestTerminationCode code)
{
	struct server *s = context;

	visitors_rest(s->visitors, visitor_of(connection));
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
	s->visitors = visitors_open(s->deadline_ms, SERVER_PAGES_BYTES);
	if (!s->visitors)
		return error_set(error, EXIT_KERNEL, "out of memory or threads; free some");
	s->daemon = MHD_start_daemon(MHD_USE_AUTO_INTERNAL_THREAD | MHD_USE_ERROR_LOG, 0, NULL,
		NULL, on_request, s, MHD_OPTION_EXTERNAL_LOGGER, be_silent, NULL,
		MHD_OPTION_LISTEN_SOCKET, s->fd, MHD_OPTION_CONNECTION_LIMIT, SERVER_CONNECTIONS_MAX,
		MHD_OPTION_CONNECTION_TIMEOUT, SERVER_IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)SERVER_REQUEST_BYTES, MHD_OPTION_NOTIFY_CONNECTION, on_connection, s,
		MHD_OPTION_NOTIFY_COMPLETED, on_completion, s, MHD_OPTION_END);
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
	visitors_close(s->visitors);
	if (*s->path)
		unlink(s->path);
	free(s);
}
